"""`kanalyze show`: one exchange, every byte explained."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from analyzer.cli.common import capture_options, exit_code, format_option, opened
from analyzer.cli.outcome import UNREADABLE, say
from analyzer.options import Options

if TYPE_CHECKING:
    from analyzer.dataset import Dataset
    from dissectors.kafka.explain import Explained

_ID = re.compile(r"[0-9a-f]{16}", re.IGNORECASE)
_PACKET = re.compile(r"#?(\d{1,15})")


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
    if not _ID.fullmatch(exchange) and not _PACKET.fullmatch(exchange):
        raise click.UsageError(f"{exchange!r} is neither an exchange (16 hex digits) nor a packet (1234 or '#1234')")
    from analyzer.bodies import each_message, kept_standard_input

    with kept_standard_input(inputs, options) as rewind, opened(inputs, options) as dataset:
        found = _matching(dataset, exchange)
        if not found:
            what = f"exchange {exchange}" if _ID.fullmatch(exchange) else f"message that begins in packet {exchange}"
            say(f"there is no {what}; `kanalyze exchanges` lists what there is")
            return UNREADABLE
        rewind()
        paths = {row["file"]: row["path"] for row in dataset.query("select file, path from captures")}
        take = partial(_print, paths) if form == "table" else _print_json
        each_message(dataset, inputs, options, take, found)
        return exit_code(dataset)


def _matching(dataset: Dataset, exchange: str) -> list[int]:
    """Ids of the exchanges that the word means; a packet may hold the beginning of several messages."""
    if _ID.fullmatch(exchange):
        condition = f"exchange = {int(exchange, 16)}"
    else:
        packet = int(exchange.removeprefix("#"))
        condition = f"request_packet = {packet} or response_packet = {packet}"
    return [row["exchange"] for row in dataset.query(f"select exchange from exchanges where {condition}")]


def _print_json(row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
    from analyzer.cli.bodies import exchange_line

    click.echo(exchange_line(row, request, response))


def _print(paths: dict[int, str], row: dict[str, Any], request: bytes | None, response: bytes | None) -> None:
    from analyzer.report.format import duration, endpoint, exchange_id, milliseconds, safe

    api = "unknown API" if row["api_name"] is None else f"{row['api_name']} v{row['api_version']}"
    click.echo(
        f"exchange {exchange_id(row['exchange'])}  {api}  correlation id {row['correlation_id']}  {row['status']}"
    )
    client = endpoint(row["client_address"], row["client_port"])
    broker = endpoint(row["broker_address"], row["broker_port"])
    click.echo(f"client {safe(row['client_id'])} at {client}, broker at {broker}")
    times = (("send", "send_ns"), ("latency", "latency_ns"), ("receive", "receive_ns"), ("total", "total_ns"))
    parts = [f"{name} {duration(row[column])}" for name, column in times if row[column] is not None]
    if row["throttle_time_ms"]:
        parts.append(f"throttled {milliseconds(row['throttle_time_ms'])}")
    if parts:
        click.echo(", ".join(parts))
    asked = _print_message(paths, row, "request", request)
    _print_message(paths, row, "response", response, asked)


def _print_message(
    paths: dict[int, str], row: dict[str, Any], side: str, frame: bytes | None, asked: Explained | None = None
) -> Explained | None:
    """Gives the message as it was understood; a response is understood with the request that it answers."""
    from analyzer.report.format import count, moment, safe

    click.echo()
    if row[f"{side}_time_ns"] is None:
        click.echo(f"no {side} was seen")
        return None
    place = f"packet {count(row[f'{side}_packet'])} of {safe(paths[row[f'{side}_file']])}"
    when = f"{moment(row[f'{side}_time_ns'], 9)} UTC"
    click.echo(f"{side}: {count(row[f'{side}_bytes'])} bytes, begins in {place}, {when}")
    if frame is None or row["api_key"] is None:
        click.echo(f"its bytes cannot be shown: {row[f'{side}_decoded']}")
        return None
    from analyzer.cli.tree import tree
    from analyzer.render import Renderer
    from dissectors.kafka.explain import explain

    found = explain(row["api_key"], row["api_version"], side, frame, asked)
    for line in tree(found, Renderer()):
        click.echo(line)
    return found
