"""`kanalyze dump`: every exchange with both its bodies."""

from __future__ import annotations

import sys
from typing import Any

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, captures, exit_code, opened
from analyzer.cli.outcome import say


@click.command(short_help="Write every exchange with both bodies as JSON lines.")
@captures
@click.option("--records", is_flag=True, help="Include each record of each batch: key, value and headers in base64.")
@capture_options()
def command(inputs: tuple[str, ...], options: Options, records: bool) -> int:
    """Write every exchange with both bodies as JSON lines.

    Exchanges are in the order in which they ended. A line has the columns of the exchange (see docs/tables.md; keys as 16
    hex digits) and `request` and `response`: the bodies as `kanalyze decode` writes them, but with {"secret_bytes": n}
    in place of passwords and other secrets. A body of more than 300,000 values or 32 MiB of text is truncated;
    request_left_out_bytes or response_left_out_bytes then says how much is missing. Values of records of
    __cluster_metadata and of Kafka Connect's settings count as secrets.
    """
    from analyzer.cli.bodies import ExchangeLines
    from analyzer.messages.bodies import each_message, kept_standard_input

    lines = ExchangeLines(records)

    def take(row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
        sys.stdout.write(lines.line(row, request, response))
        sys.stdout.write("\n")

    with (
        kept_standard_input(inputs, options) as rewind,
        opened(inputs, options, asks="everything", form="jsonl") as dataset,
    ):
        rewind()
        each_message(dataset, inputs, options, take)
        if remark := lines.remark():
            say(remark)
        return exit_code(dataset)
