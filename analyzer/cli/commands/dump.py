"""`kanalyze dump`: every exchange with both its bodies."""

from __future__ import annotations

import sys
from typing import Any

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, captures, exit_code, opened


@click.command(short_help="Write every exchange with both bodies as JSON lines.")
@captures
@click.option("--records", is_flag=True, help="Each record of each batch, too: key, value and headers in base64.")
@capture_options()
def command(inputs: tuple[str, ...], options: Options, records: bool) -> int:
    """Write every exchange with both bodies as JSON lines.

    They come in the order in which they ended. A line has the columns of the exchange (see docs/tables.md; keys as 16
    hex digits) and `request` and `response`: the bodies as `kanalyze decode` writes them, but with {"secret_bytes": n}
    in place of passwords and other secrets.
    """
    from analyzer.cli.bodies import exchange_line
    from analyzer.messages.bodies import each_message, kept_standard_input

    def take(row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
        sys.stdout.write(exchange_line(row, request, response, records) + "\n")

    with kept_standard_input(inputs, options) as rewind, opened(inputs, options) as dataset:
        rewind()
        each_message(dataset, inputs, options, take)
        return exit_code(dataset)
