"""`authority grants …`: authorizations that are used more than once and handed on, ever narrower."""

import typer

from authority.cli.grants_delegate import delegate
from authority.cli.grants_verify import verify

app = typer.Typer(no_args_is_help=True, help="Hand grants on, and have them judged.")
app.command()(delegate)
app.command()(verify)
