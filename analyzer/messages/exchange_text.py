"""One exchange as text for a person: who, when, how long, and both messages with the place of every value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from analyzer.base.text import exchange_id
from analyzer.messages.render import Renderer
from analyzer.messages.tree import tree
from analyzer.report.format import count, duration, endpoint, milliseconds, moment, safe
from dissectors.kafka.messages.explain import explain

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset
    from dissectors.kafka.messages.explain import Explained

_ID = re.compile(r"[0-9a-f]{16}", re.IGNORECASE)
_PACKET = re.compile(r"#?(\d{1,15})")
_TIMES = (("send", "send_ns"), ("latency", "latency_ns"), ("receive", "receive_ns"), ("total", "total_ns"))


def check_word(word: str) -> None:
    """Raises ValueError for a word that can mean no exchange: neither 16 hex digits nor the number of a packet."""
    if not _ID.fullmatch(word) and not _PACKET.fullmatch(word):
        raise ValueError(f"{word!r} is neither an exchange (16 hex digits) nor a packet (1234 or '#1234')")


def matching(dataset: Dataset, word: str) -> list[int]:
    """Ids of the exchanges that the word means: an id, or the number of a packet in which messages begin.

    Empty when there is none. Raises ValueError as `check_word` does.
    """
    check_word(word)
    if _ID.fullmatch(word):
        condition = f"exchange = {int(word, 16)}"
    else:
        packet = int(word.removeprefix("#"))
        condition = f"request_packet = {packet} or response_packet = {packet}"
    return [row["exchange"] for row in dataset.query(f"select exchange from exchanges where {condition}")]


def lines(
    paths: Mapping[int, str], row: Mapping[str, Any], request: bytes | None, response: bytes | None
) -> Iterator[str]:
    """The lines of one exchange: `row` of the table, the frames without their length fields, the inputs by number.

    Secrets are not shown.
    """
    api = "unknown API" if row["api_name"] is None else f"{row['api_name']} v{row['api_version']}"
    yield f"exchange {exchange_id(row['exchange'])}  {api}  correlation id {row['correlation_id']}  {row['status']}"
    client = endpoint(row["client_address"], row["client_port"])
    broker = endpoint(row["broker_address"], row["broker_port"])
    yield f"client {safe(row['client_id'])} at {client}, broker at {broker}"
    parts = [f"{name} {duration(row[column])}" for name, column in _TIMES if row[column] is not None]
    if row["throttle_time_ms"]:
        parts.append(f"throttled {milliseconds(row['throttle_time_ms'])}")
    if parts:
        yield ", ".join(parts)
    if row["broker_max_ns"] is not None:
        yield _broker_time(row)
    asked = _explained(row, "request", request)
    answer = _explained(row, "response", response, asked)
    renderer = Renderer()
    renderer.allow_echoes(asked, answer)
    yield from _message(paths, row, "request", asked, renderer)
    yield from _message(paths, row, "response", answer, renderer)


def _broker_time(row: Mapping[str, Any]) -> str:
    """In the broker: 2.1 ms; or between which bounds, and why."""
    if row["broker_ns"] is not None:
        return f"in the broker: {duration(row['broker_ns'])} ({row['broker_evidence']})"
    bounds = f"{duration(row['broker_min_ns'])} to {duration(row['broker_max_ns'])}"
    return f"in the broker: {bounds}, not known better ({row['broker_evidence']})"


def _explained(
    row: Mapping[str, Any], side: str, frame: bytes | None, asked: Explained | None = None
) -> Explained | None:
    """None: its bytes are not there. A response is understood with the request that it answers."""
    if frame is None or row["api_key"] is None:
        return None
    return explain(row["api_key"], row["api_version"], side, frame, asked)


def _message(
    paths: Mapping[int, str], row: Mapping[str, Any], side: str, found: Explained | None, renderer: Renderer
) -> Iterator[str]:
    yield ""
    if row[f"{side}_time_ns"] is None:
        yield f"no {side} was seen"
        return
    place = f"packet {count(row[f'{side}_packet'])} of {safe(paths[row[f'{side}_file']])}"
    when = f"{moment(row[f'{side}_time_ns'], 9)} UTC"
    yield f"{side}: {count(row[f'{side}_bytes'])} bytes, begins in {place}, {when}"
    if found is None:
        yield f"its bytes cannot be shown: {row[f'{side}_decoded']}"
        return
    yield from tree(found, renderer)
