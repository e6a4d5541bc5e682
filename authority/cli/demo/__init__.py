"""`authority demo`: the main job on the proposals of three firms, or one commit that is killed on its way, twice.

`command` runs it, `exchange` is what is asked of the authority for one proposal, `story` the acts that it ends with,
`report` what is shown of it all. `kill` is the other one, and `kill_acts` its acts. The firms stand beside them, in
`demo_tenants`.
"""

from authority.cli.demo.command import demo

__all__ = ["demo"]
