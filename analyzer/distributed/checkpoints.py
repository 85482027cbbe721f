"""Points of rest of a connection, and the rows of fragments that stand for what lies between two of them."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.distributed import fragments
from analyzer.distributed.fragments import MARKER
from dissectors import layout

if TYPE_CHECKING:
    import pyarrow as pa

# Columns of a point of rest that a span does not change.
_KEPT = (
    layout.TALK_CLIENT_SIDE,
    layout.TALK_PROTOCOL,
    layout.TALK_ORPHANS,
    layout.TALK_TOKENS,
    layout.TALK_CHAINED,
    *range(layout.TALK_SKIPPED, layout.TALK_SKIPPED + 2 * layout.SKIP_REASONS),
    layout.TALK_CHECKPOINT_SPECIAL,
    layout.TALK_CHECKPOINT_LOSSES,
    layout.TALK_CHECKPOINT_LOSSES + 1,
)
_PROBLEMS = tuple(
    layout.TCP_CHECKPOINT_SIDES + layout.TCP_CHECKPOINT_SIDE_COLUMNS * side + layout.TCP_CHECKPOINT_PROBLEMS
    for side in range(2)
)


class Point(NamedTuple):
    """A point of rest: what the stages know there. `waits`: what is known of each request that waits for its reply, as a row
    of exchanges and, for facts, as the collector has it. `positions`: rows that each raw table had."""

    streams: list[int]
    frames: list[int]
    turns: list[int]
    tls: list[int]
    waits: list[tuple[list[Any], tuple[Any, ...] | None]]
    positions: tuple[int, ...] = ()
    number: int = 0

    @property
    def time_ns(self) -> int:
        return self.streams[0]


class Span(NamedTuple):
    """What lies between two points of rest of a part of a task. `ends`: SEGMENT_ column -> value, who talks with whom."""

    part: int
    ends: dict[int, int]
    one: Point
    two: Point


def goes_on(one: Point, two: Point) -> bool:
    """Whether nothing came between two points that a span must not hold."""
    return all(one.frames[column] == two.frames[column] for column in _KEPT) and all(
        one.streams[column] == two.streams[column] for column in _PROBLEMS
    )


def markers(spans: Iterable[Span], task: int) -> pa.Table:
    """The rows that stand for spans of a task; each is numbered like its last segment, which does not travel."""
    import pyarrow as pa

    rows = []
    for span in spans:
        row = dict.fromkeys(fragments.COLUMNS, 0)
        row |= {fragments.name_of(column): value for column, value in span.ends.items()}
        flow = span.one.frames[layout.TALK_FLOW]
        payload = json.dumps([task, span.part, span.one, span.two], default=_as_text, separators=(",", ":")).encode()
        rows.append({"flow": flow, "number": span.two.number, "kind": MARKER} | row | {"payload": payload})
    return pa.Table.from_pylist(rows, fragments.schema())


def _as_text(value: bytes) -> dict[str, str]:
    """Bytes as JSON can hold them."""
    return {"bytes": b64encode(value).decode()}


def _as_bytes(value: dict[str, str]) -> bytes:
    return b64decode(value["bytes"])


class Marker(NamedTuple):
    """A span as it travels: the number of its task and of its part there, and its two ends."""

    task: int
    part: int
    one: Point
    two: Point


def marker(payload: bytes) -> Marker:
    """What the payload of a row of kind MARKER says."""
    task, part, one, two = json.loads(payload, object_hook=_as_bytes)
    return Marker(task, part, Point(*one), Point(*two))
