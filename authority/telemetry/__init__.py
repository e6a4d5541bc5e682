"""Sight: the names of spans, metrics and attributes in one list, and how the other rooms tell of what they do.

Nothing configured costs nothing: `spans` and `metrics` import no library, and do no more than look whether anybody
listens. What listens is made by `exporting`, which imports OpenTelemetry.
"""
