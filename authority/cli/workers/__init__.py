"""`authority serve --workers N`: a parent that keeps N processes of the service behind one port.

`serving` is the parent's story, `crew` keeps the workers alive and replaces them, `process` is one of them as the
parent sees it, `worker` what runs inside it, `order` what it is told to do, `reservation` the port that is never lost.
"""
