"""`authority demo`: the main job on the proposals of three firms, or one commit that is killed on its way, twice.

`command` is the command and its story, `exchange` what is asked of the authority for one proposal, `report` what is
shown of it; `kill` is the other story, and `kill_acts` its acts. The firms stand beside them, in `demo_tenants`.
"""

from authority.cli.demo.command import demo

__all__ = ["demo"]
