"""`authority why`: why a record is there, and whether that is proved.

`command` asks for the export, `story` finds in it what happened and which part is proved, `page` shows that to people.
"""

from authority.cli.why.command import why

__all__ = ["why"]
