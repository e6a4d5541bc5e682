"""The Capability Authority: decides whether learned memory may be written, exactly once, and proves it afterwards."""
