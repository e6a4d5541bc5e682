"""`authority grants …`: authorizations that are used more than once and handed on, ever narrower."""

import typer

from authority.cli.grants.delegate import delegate
from authority.cli.grants.look_after import revoke, show
from authority.cli.grants.make import exchange, issue
from authority.cli.grants.verify import verify

app = typer.Typer(no_args_is_help=True, help="Issue grants, hand them on, have them judged, show and revoke them.")
app.command()(issue)
app.command()(exchange)
app.command()(delegate)
app.command()(verify)
app.command()(show)
app.command()(revoke)
