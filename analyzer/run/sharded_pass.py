"""Captures read by several processes; each takes its own connections, one shard.

Each process reads all bytes and hands on the segments of its shard, so this is for files on disk, where reading is cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.ingest.run_tables import Run
from analyzer.inputs.input import Shard
from analyzer.inputs.sources import Source
from analyzer.run.one_pass import read_captures, run_of

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.ingest.summary import Summary


def read_by_shards(
    sources: Sequence[Source], folder: Path, options: Options, progress: Callable[[int], None] | None
) -> Run:
    """Reads the sources by `options.jobs` processes, each with its part of the memory limits.

    Raises what a process raised, and ChildProcessError when one died.
    """
    # What each process would have to load for itself is loaded before there are two.
    import pyarrow.parquet  # noqa: F401

    import analyzer.ingest.pipeline
    import analyzer.ingest.tls_facts
    import analyzer.inputs.engine  # noqa: F401
    from analyzer.base import memory, workers

    most = options.max_connections or memory.connections_at_a_time(bool(options.tls_key_logs))
    limited = replace(
        options,
        # A shard may have a quarter more connections than the others (`Packets`): none meets the limit before the capture does.
        max_connections=-(-5 * most // (4 * options.jobs)) + 8,
        max_reassembly_bytes=-(-options.max_reassembly_bytes // options.jobs),
    )
    folders = [folder / f"shard{number}" for number in range(options.jobs)]

    answer = partial(_answer, sources, folders, limited)
    apart = workers.has_threads()
    others = [workers.begin(partial(answer, number), apart=apart) for number in range(1, options.jobs)]
    try:
        run = _read(sources, folders, limited, 0, progress)
        # The database is loaded while the other processes may still be reading.
        import _duckdb  # noqa: F401

        while others:
            while others[0].receive():
                pass
            summary, failures = others.pop(0).answer()
            run = run._replace(summary=run.summary + summary)
            # An input that one process could not read to its end was not read completely.
            for reading, failure in zip(run.readings, failures, strict=True):
                reading.failure = reading.failure or failure
    finally:
        for worker in others:
            workers.end(worker)
    return run


def _read(
    sources: Sequence[Source],
    folders: list[Path],
    options: Options,
    number: int,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Reads one of as many shards as there are folders, into the folder of its number."""
    folders[number].mkdir()
    shard = Shard(number, len(folders), weighed=len(sources) == 1)
    done = read_captures(sources, folders[number], options, progress=progress, shard=shard)
    return run_of(done, folders)


def _answer(
    sources: Sequence[Source], folders: list[Path], options: Options, number: int
) -> tuple[Summary, list[str | None]]:
    """What another process hands on of its shard: the rest lies in the folder."""
    done = _read(sources, folders, options, number)
    return done.summary, [reading.failure for reading in done.readings]
