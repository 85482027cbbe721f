"""`kanalyze show`: one exchange, every byte explained."""

from __future__ import annotations

from typing import Any

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, exit_code, format_option, opened
from analyzer.cli.outcome import UNREADABLE, say


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="CAPTURE...")
@click.argument("exchange", metavar="EXCHANGE")
@format_option("table", "json", "jsonl")
@capture_options()
def command(inputs: tuple[str, ...], exchange: str, options: Options, form: str) -> int:
    """Show a request and its reply as trees, with the place of every value.

    EXCHANGE is an id of 16 hex digits, as `kanalyze exchanges` lists them, or the number of a packet in which one of
    the messages begins, as Wireshark counts: 1234 or '#1234'. Offsets count from the byte after the message's length
    field. Passwords and other secrets are not shown.
    """
    from analyzer.messages.bodies import each_message, kept_standard_input
    from analyzer.messages.exchange_text import check_word, lines, matching

    try:
        check_word(exchange)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from problem
    with kept_standard_input(inputs, options) as rewind, opened(inputs, options) as dataset:
        found = matching(dataset, exchange)
        if not found:
            what = f"exchange {exchange}" if len(exchange) == 16 else f"message that begins in packet {exchange}"
            say(f"there is no {what}; `kanalyze exchanges` lists what there is")
            return UNREADABLE
        rewind()
        paths = {row["file"]: row["path"] for row in dataset.query("select file, path from captures")}

        def show(row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
            for line in lines(paths, row, request, response):
                click.echo(line)

        each_message(dataset, inputs, options, show if form == "table" else _print_json, found)
        return exit_code(dataset)


def _print_json(row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
    from analyzer.cli.bodies import ExchangeLines

    lines = ExchangeLines()
    click.echo(lines.line(row, request, response))
    if remark := lines.remark():
        say(remark)
