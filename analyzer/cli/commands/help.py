"""`kanalyze help VERB`: the help of a verb."""

from __future__ import annotations

import click

from analyzer.cli.outcome import FINE


@click.command(short_help="The help of a command.")
@click.argument("verb", required=False)
@click.option("--all", "every", is_flag=True, help="Show every option.")
@click.pass_context
def command(context: click.Context, verb: str | None, every: bool) -> int:
    """Print what a command does, as its --help does; without VERB, all commands."""
    from analyzer.cli.verb_help import full_help

    above = context.find_root()
    every_verb = above.command
    assert isinstance(every_verb, click.Group)
    if verb is None:
        click.echo(every_verb.get_help(above))
        return FINE
    found = every_verb.get_command(above, verb)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(verb, every_verb.list_commands(above), n=1)
        raise click.UsageError(
            f"no command is called {verb!r}" + (f"; did you mean {near[0]!r}?" if near else ""), above
        )
    inner = click.Context(found, above, verb, **every_verb.context_settings)
    click.echo(full_help(found, inner) if every else found.get_help(inner))
    return FINE
