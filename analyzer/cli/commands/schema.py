"""`kanalyze schema`: the layout of messages."""

from __future__ import annotations

from difflib import get_close_matches

import click

from analyzer.cli.outcome import FINE


@click.command(short_help="Print the layout of an API's messages.")
@click.argument("name", required=False)
@click.argument("version", type=click.IntRange(min=0), required=False)
def command(name: str | None, version: int | None) -> int:
    """Print the layout of an API's messages, as Kafka's protocol guide writes it; NAME is the name or key of an API, or
    the name of a struct inside a bytes field. Without NAME: list them.

    Without VERSION the fields of all versions are listed, each with the versions in which it exists.
    """
    from analyzer.cli import schemas

    if name is None:
        lines = schemas.listing()
    else:
        known = schemas.names()
        key = known.get(name.lower())
        if key is None:
            near = get_close_matches(name.lower(), known, n=1)
            hint = f"; did you mean {schemas.title(known[near[0]])}?" if near else ""
            raise click.UsageError(f"no API {name!r}{hint} (`kanalyze schema` lists them)")
        if version is not None and not schemas.has_version(key, version):
            raise click.UsageError(f"{schemas.title(key)} has no version {version}")
        lines = schemas.layout(key, version)
    for line in lines:
        click.echo(line)
    return FINE
