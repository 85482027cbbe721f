"""How captures are read depends on what they are:

- by one process: a small capture, a pipe, or one job only (`analyzer.run.one_pass`);
- by several processes that share the connections: large files on disk (`analyzer.run.sharded_pass`);
- by several processes that share the bytes: large objects in storage, where reading is what takes time
  (`analyzer.distributed.pool`).

Sources are read in the order of their first packets, as one capture: a connection may go on in the next rotated file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.ingest.run_tables import Run
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.sources import Source
from analyzer.run.one_pass import read_captures, run_of
from analyzer.run.sharded_pass import read_by_shards

if TYPE_CHECKING:
    from analyzer.base.options import Options

# A capture of at most so many bytes is small: it is read by one process, and all tables are made of it whatever was asked.
SMALL_CAPTURE_BYTES = 64_000_000
# A compressed file may hold about so many times its size.
PACKED_TIMES = 10
PACKED_ENDINGS = (".gz", ".zst", ".lz4", ".xz", ".bz2")


class Way(NamedTuple):
    """A way to read captures: raw tables of the columns and tables that `options` name grow in the folder given to `read`."""

    options: Options
    read: Callable[[Path], Run]


def choose(sources: Sequence[Source], options: Options, progress: Callable[[int], None] | None = None) -> Way:
    """The way to read these sources. `progress` is called with the number of bytes of each block that was read."""
    small = is_small(sources)
    stored = any(source.uri is not None for source in sources)
    # A pipe can be read once only, and a small capture is read before a second process has started.
    shared = options.jobs > 1 and not small and all(source.size_bytes is not None for source in sources)
    if options.tables and small:
        options = replace(options, tables=None)
    if stored or small:
        # Tasks hand on all columns, and a small capture has them all.
        options = replace(options, seldom=True)

    def read(folder: Path) -> Run:
        ordered = in_time_order(sources)
        if shared and stored:
            from analyzer.distributed import pool

            made = pool.plan_for(ordered, options)
            if len(made.tasks) > 1:
                return pool.read(made, folder, options, progress)
        elif shared:
            return read_by_shards(ordered, folder, options, progress)
        return run_of(read_captures(ordered, folder, options, progress=progress), [folder])

    return Way(options, read)


def is_small(sources: Sequence[Source]) -> bool:
    """Whether all sources together are a small capture. A pipe is not: it may bring anything."""
    sizes = [source.size_bytes for source in sources]
    factors = (PACKED_TIMES if source.name.endswith(PACKED_ENDINGS) else 1 for source in sources)
    return (
        None not in sizes
        and sum(size * factor for size, factor in zip(sizes, factors, strict=True) if size) <= SMALL_CAPTURE_BYTES
    )
