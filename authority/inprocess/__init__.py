"""Adapters that keep everything in dicts of this process, held to the same contract suites as the real ones."""
