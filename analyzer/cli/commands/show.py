"""`kanalyze show`: one exchange, every byte explained."""

from __future__ import annotations

from typing import Any

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, exit_code, format_option, opened
from analyzer.cli.outcome import UNREADABLE, say


@click.command()
@click.argument("inputs", nargs=-1, metavar="CAPTURE...")
@click.argument("exchange", metavar="EXCHANGE", required=False)
@click.option(
    "--records", is_flag=True, help="Include each record of each batch; in JSON with key, value and headers in base64."
)
@click.option("--packet", metavar="[FILE:]NUMBER", help="The exchange of this packet, in place of EXCHANGE.")
@format_option("table", "json", "jsonl")
@capture_options()
def command(
    inputs: tuple[str, ...], exchange: str | None, options: Options, form: str, records: bool, packet: str | None
) -> int:
    """Show a request and its reply: times, values, places.

    EXCHANGE is an id of 16 hex digits, as `kanalyze exchanges` lists them, or the number of any packet of one of its
    messages, as Wireshark counts: 1234 or '#1234', with several captures FILE:1234. Offsets count from the byte after the
    message's length field. A topic id is followed by the name of the topic where the capture has it. "absent" are optional
    fields that were not sent. Passwords and other secrets are not shown.
    """
    from analyzer.messages.bodies import each_message, kept_standard_input
    from analyzer.messages.exchange_text import NEITHER, context, lines, matching, names_exchange
    from analyzer.messages.packet_search import is_packet

    if packet is not None:
        if not is_packet(packet):
            raise click.UsageError(f"--packet {packet}: give the number of a packet, or FILE:NUMBER")
        if exchange is None:
            raise click.UsageError("CAPTURE is missing: kanalyze show CAPTURE... --packet NUMBER")
        # Without EXCHANGE the last word is a capture.
        inputs, exchange = (*inputs, exchange), packet
    if exchange is None:
        raise click.UsageError("CAPTURE and EXCHANGE are missing: kanalyze show CAPTURE... EXCHANGE")
    if not inputs and names_exchange(exchange):
        raise click.UsageError(f"CAPTURE is missing: kanalyze show CAPTURE... {exchange}")
    if not inputs:
        listed = f"`kanalyze exchanges {exchange}` lists them"
        raise click.UsageError(f"EXCHANGE is missing: kanalyze show CAPTURE... EXCHANGE; {listed}")
    if not names_exchange(exchange):
        raise click.UsageError(NEITHER.format(word=exchange))
    with kept_standard_input(inputs, options) as rewind, opened(inputs, options, asks="show", form=form) as dataset:
        try:
            found = matching(dataset, inputs, options, exchange, rewind)
        except ValueError as problem:
            raise click.UsageError(str(problem)) from problem
        if not found:
            what = f"Kafka message in packet {exchange}" if is_packet(exchange) else f"exchange {exchange}"
            where = " that matches the filters" if dataset.filters else ""
            say(f"there is no {what}{where}; `kanalyze exchanges` lists all exchanges")
            return UNREADABLE
        rewind()
        about = context(dataset, found)

        def show(row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
            for line in lines(about, row, request, response, records):
                click.echo(line)

        def print_json(row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
            from analyzer.cli.bodies import ExchangeLines

            made = ExchangeLines(records)
            click.echo(made.line(row, request, response))
            if remark := made.remark():
                say(remark)

        each_message(dataset, inputs, options, show if form == "table" else print_json, found)
        return exit_code(dataset)
