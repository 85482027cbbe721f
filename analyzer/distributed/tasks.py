"""The two stages of a capture that is read in tasks: `read_task` for each task, by several processes, then `stitch`.

`read_task` reads its pieces and writes what it cannot resolve as fragments. These are shuffled by their column `flow` and
sorted by (flow, number); `stitch` runs the same pipeline over the fragments of some flows, a partition. The rows of all tasks
and of all partitions together are those of one run over the whole captures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.distributed.fragments import pieces
from analyzer.distributed.resolver import Resolver
from analyzer.distributed.stitch import Stitcher
from analyzer.ingest.summary import Summary
from analyzer.ingest.tls_facts import add_secrets, read_key_logs
from analyzer.inputs.engine import Engine
from analyzer.inputs.readings import Reading
from dissectors.layout import SPLIT_SHIFT

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.base.options import Options
    from analyzer.distributed.plan import Task

# Parts of partitions are numbered above those of tasks.
STITCHED = 1 << 62


class Outcome(NamedTuple):
    """What a task or a partition tells beside the tables in its folder.

    `refuted`: (task, flow) of what a task resolved and a partition found to be wrong. Such a task must be read again with
    these flows raw, and all fragments be stitched again; until then the rows of both are not valid.
    """

    readings: list[Reading]
    summary: Summary
    refuted: frozenset[tuple[int, int]] = frozenset()


def read_task(
    task: Task,
    folder: Path,
    options: Options,
    *,
    raw_flows: frozenset[int] = frozenset(),
    strays_apart: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Stage 1: reads the pieces of a task as one run over several inputs.

    Writes `fragments.parquet` and raw tables below `folder`. Of `raw_flows` everything leaves as fragments. With `strays_apart`
    rows whose exchange may have rows in other runs are not in raw tables, but in tables `stray_NAME`. Secrets that the
    capture brings are in the readings, and never in a file. Raises OSError when the folder's disk is full.
    """
    first = task.pieces[0].number << SPLIT_SHIFT
    resolver = Resolver(folder, options, first, raw_flows, task.size_bytes or 0, strays_apart)
    try:
        engine = Engine(resolver.feed, taps=options.taps, decode_as=options.decode_as)
        readings = engine.read_pieces(task.pieces, task.capture_points, progress)
        resolver.finish()
    finally:
        resolver.close()
    return Outcome(readings, resolver.summary())


def stitch(
    fragments: Iterable[pa.RecordBatch],
    folder: Path,
    options: Options,
    number: int,
    secrets: Iterable[tuple[int, bytes]] = (),
) -> Outcome:
    """Stage 2, partition `number`: finishes the connections of its flows, whose fragments come sorted by (flow, number).

    Writes raw tables below `folder`. `secrets` are those of the readings of all tasks (`Reading.secrets`); key logs that the
    options name are read here. Of the fragments one batch at a time is held.
    """
    keys = read_key_logs(options.tls_key_logs)
    for secret in secrets:
        add_secrets(keys, *secret)
    stitcher = Stitcher(folder, options, keys, STITCHED | number << SPLIT_SHIFT)
    try:
        for batch in pieces(fragments):
            stitcher.take(batch)
        stitcher.finish()
    finally:
        stitcher.close()
    return Outcome([], stitcher.summary(), frozenset(stitcher.refuted))
