"""`authority provision`: makes what a set-up document says, once, and says what was there already.

`document` reads it, `problems` says what cannot be made of it, `looking` what of it is there and how to make the rest,
and `command` has it made and shows it.
"""

from authority.cli.provision.command import provision

__all__ = ["provision"]
