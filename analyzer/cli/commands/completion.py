"""`kanalyze completion SHELL`: what a shell needs to complete kanalyze's command lines."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from analyzer.cli.outcome import FINE

# What the shells' scripts set when they ask: see `main.run`.
VARIABLE = "_KANALYZE_COMPLETE"


@click.command(short_help="Completion for bash, zsh or fish.")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def command(context: click.Context, shell: str) -> int:
    """Print a script that completes commands, options and files in SHELL."""
    found = get_completion_class(shell)
    assert found is not None
    complete = found(context.find_root().command, {}, "kanalyze", VARIABLE)
    click.echo(complete.source_template % complete.source_vars())
    return FINE
