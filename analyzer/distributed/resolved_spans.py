"""Resolved spans: what lies between two checkpoints of a connection in one task, and the rows of fragments in its place."""

from __future__ import annotations

import json
from array import array
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from analyzer.distributed import fragments
from analyzer.distributed.fragments import MARKER
from analyzer.ingest.checkpoints import Checkpoint
from analyzer.ingest.raw_tables import Field
from dissectors import layout
from dissectors.matrix import new_matrix

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.ingest.raw_writer import RawTable

# Columns of a checkpoint of framing that are the same at both edges of a span.
_unchanged = itemgetter(
    layout.FRAMING_CLIENT_SIDE,
    layout.FRAMING_PROTOCOL,
    layout.FRAMING_ORPHANS,
    layout.FRAMING_TOKENS,
    layout.FRAMING_CHAINED,
    *range(layout.FRAMING_SKIPPED, layout.FRAMING_SKIPPED + 2 * layout.SKIP_REASONS),
    layout.FRAMING_CHECKPOINT_SPECIAL,
    layout.FRAMING_CHECKPOINT_LOSSES,
    layout.FRAMING_CHECKPOINT_LOSSES + 1,
)
# The same of reassembly: how many problems a side has had.
_problems = itemgetter(
    *(
        layout.TCP_CHECKPOINT_SIDES + layout.TCP_CHECKPOINT_SIDE_COLUMNS * side + layout.TCP_CHECKPOINT_PROBLEMS
        for side in range(2)
    )
)


# What precedes the name of a raw table whose rows are of exchanges with rows in several runs.
STRAY = "stray_"
# Raw tables that stay where they are: rows of exchanges, and of packets, which belong to one run alone.
RAW_OF_EXCHANGES = (
    "exchanges",
    "entries",
    "errors",
    "batches",
    "assigned",
    "transaction_steps",
    "broker_steps",
    "envelopes",
    "group_steps",
)
RAW_THAT_STAYS = (*RAW_OF_EXCHANGES, "queued")
# Raw table: exchanges whose request may be in one run and their reply in another one.
STRADDLING = (Field("exchange", 0, "int64"),)


class SpanEdge(NamedTuple):
    """A checkpoint at which a span begins or ends. `positions`: rows that each raw table had then; `number`: of the last
    segment before it."""

    checkpoint: Checkpoint
    positions: tuple[int, ...]
    number: int


class Span(NamedTuple):
    """A resolved span of a part of a task. `endpoints`: SEGMENT_ column -> value, addresses and ports."""

    part: int
    endpoints: dict[int, int]
    begin: SpanEdge
    end: SpanEdge


def can_follow(before: Checkpoint, after: Checkpoint) -> bool:
    """Whether a span may reach from one checkpoint to another: nothing came between them that a span must not hold."""
    same_framing: bool = _unchanged(before.framing) == _unchanged(after.framing)
    return same_framing and _problems(before.tcp) == _problems(after.tcp)


def marker_rows(spans: Iterable[Span], task: int) -> pa.Table:
    """The rows of fragments in the place of spans of a task. Each has the number of the last segment of its span, which does
    not travel."""
    import pyarrow as pa

    chosen = list(spans)
    sent = array("q", bytes(fragments.ROW_BYTES * len(chosen)))
    payloads = []
    for row, span in enumerate(chosen):
        for column, value in span.endpoints.items():
            sent[layout.SEGMENT_COLUMNS * row + column] = value
        values = [task, span.part, span.begin.checkpoint, span.end.checkpoint]
        payloads.append(json.dumps(values, default=_bytes_to_json, separators=(",", ":")).encode())
    columns = [
        pa.array([span.begin.checkpoint.framing[layout.FRAMING_FLOW] for span in chosen], pa.int64()),
        pa.array([span.end.number for span in chosen], pa.int64()),
        pa.array([MARKER] * len(chosen), pa.int8()),
        fragments.sent_columns(sent, len(chosen)),
        pa.array(payloads, pa.binary()),
    ]
    return pa.Table.from_arrays(columns, schema=fragments.schema())


def _bytes_to_json(value: bytes) -> dict[str, str]:
    return {"bytes": b64encode(value).decode()}


def _bytes_of_json(value: dict[str, str]) -> bytes:
    return b64decode(value["bytes"])


class Marker(NamedTuple):
    """A span as it travels: its task, its part there, and the checkpoints at its edges."""

    task: int
    part: int
    begin: Checkpoint
    end: Checkpoint


def marker(payload: bytes) -> Marker:
    """What the payload of a row of kind MARKER says."""
    task, part, begin, end = json.loads(payload, object_hook=_bytes_of_json)
    return Marker(task, part, Checkpoint(*begin), Checkpoint(*end))


def straddling(edges: Iterable[Checkpoint]) -> set[int]:
    """Exchanges whose request waited for its reply at a checkpoint. What a run wrote of one before the checkpoint and behind it
    is kept by different runs."""
    return {row[layout.ROW_EXCHANGE] for edge in edges for row, _ in edge.requests}


def append_straddling(table: RawTable, exchanges: Collection[int]) -> None:
    """Writes the rows of a raw table `STRADDLING`."""
    rows = new_matrix(len(STRADDLING), max(1, len(exchanges)))
    for row, exchange in enumerate(sorted(exchanges)):
        rows[0, row] = exchange
    table.append(rows, len(exchanges), [])
