"""A run on this machine: captures -> raw tables in a temporary directory -> a Dataset that verbs ask.

How the captures are read depends on what they are:

- by one process: a small capture, a pipe, or one job only;
- by several processes that share the connections (`_read_by_shards`): large files on disk. Each process reads all bytes
  and hands on the segments of its own connections;
- by several processes that share the bytes (`_read_by_tasks`): large objects in storage, where reading is what takes time.

Inputs are read in the order of their first packets, as one capture: a connection may go on in the next rotated file. An input
that cannot be read is named in `Dataset.warnings` and sets `Dataset.failed`; the others are analysed all the same.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base.storage.filesystems import has_clients
from analyzer.ingest.run_tables import Run, by_file, small_tables
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.expansion import expand
from analyzer.inputs.readings import ALL_CONNECTIONS, Reading, Shard
from analyzer.inputs.sources import STANDARD_INPUT, InputError, Source
from analyzer.query.dataset import Dataset
from analyzer.query.exported import is_dataset
from analyzer.query.exported import open_dataset as open_exported
from analyzer.run import raw_views
from analyzer.run.warnings import input_warnings, is_unreadable, limit_warnings, passed_over_warning, secret_warnings

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.distributed.plan import Plan
    from analyzer.ingest.pipeline import FrameHook, Pipeline
    from analyzer.ingest.summary import Summary
    from dissectors.tls.keys import KeyLog

# Processes that share a capture number their parts from multiples of 1 << PART_SHIFT on.
PART_SHIFT = 40
# With at most this fraction of the rows of a small capture, a search for a better plan takes longer than any plan.
FRACTION_OF_SIMPLE_PLANS = 0.05
# A capture of at most so many bytes is small: it is read by one process, and all tables are made of it whatever was asked.
SMALL_CAPTURE_BYTES = 64_000_000
# A compressed file may hold about so many times its size.
PACKED_TIMES = 10
PACKED_ENDINGS = (".gz", ".zst", ".lz4", ".xz", ".bz2")


def open_dataset(
    inputs: Sequence[str],
    options: Options,
    progress: Callable[[int], None] | None = None,
    block_bytes: int | None = None,
) -> Dataset:
    """The tables of captures, or of one exported directory. Raises InputError when nothing at all could be read.

    `progress` is called with the number of bytes of each block that was read.
    """
    if len(inputs) == 1 and is_dataset(inputs[0]):
        return open_exported(inputs[0], filters=options.filters, temp_directory=options.temp_dir)
    found = expand(inputs)
    warnings = [str(error) for error in found.errors]
    if not found.sources:
        raise InputError("\n".join(warnings))
    failed = bool(warnings)
    if found.passed_over:
        warnings.append(passed_over_warning(found.passed_over))

    if options.tables and _is_small(found.sources):
        options = replace(options, tables=None)
    stored = any(source.uri is not None for source in found.sources)
    if stored or options.tables is None:
        # Tasks hand on all columns, and a small capture has them all.
        options = replace(options, seldom=True)

    def run(folder: Path) -> Run:
        sources = in_time_order(found.sources)
        if options.jobs > 1 and _can_be_shared(sources):
            if stored:
                return _read_by_tasks(sources, folder, options, progress)
            if not has_clients():
                return _read_by_shards(sources, folder, options, progress)
        return _run(read_captures(sources, folder, options, progress=progress, block_bytes=block_bytes), [folder])

    return dataset_of(run, options, warnings, failed)


def open_plan(plan: Plan, options: Options, progress: Callable[[int], None] | None = None) -> Dataset:
    """The tables of captures that processes read task by task: the rows of a run over all of it, unless a limit is hit."""
    from analyzer.distributed import pool

    return dataset_of(lambda folder: pool.read(plan, folder, options, progress), options, [], False)


def _can_be_shared(sources: Sequence[Source]) -> bool:
    """A pipe can be read once only, and a small capture is read before a second process has started."""
    return all(source.size_bytes is not None for source in sources) and not _is_small(sources)


def _is_small(sources: Sequence[Source]) -> bool:
    """Whether all sources together are a small capture. A pipe is not: it may bring anything."""
    sizes = [source.size_bytes for source in sources]
    factors = (PACKED_TIMES if source.name.endswith(PACKED_ENDINGS) else 1 for source in sources)
    return (
        None not in sizes
        and sum(size * factor for size, factor in zip(sizes, factors, strict=True) if size) <= SMALL_CAPTURE_BYTES
    )


# ---- reading ----


def read_captures(
    sources: Sequence[Source],
    folder: Path,
    options: Options,
    *,
    hook: FrameHook | None = None,
    progress: Callable[[int], None] | None = None,
    block_bytes: int | None = None,
    keys: KeyLog | None = None,
    shard: Shard = ALL_CONNECTIONS,
) -> tuple[list[Reading], Pipeline]:
    """One pass over the sources by this process, which takes the connections of `shard`. Raw tables grow in `folder`.

    `hook` sees each batch of frames while their bytes are there. `keys` are the secrets of TLS sessions when they are known
    already. A capture may bring secrets later than the packets that need them: then there is a second pass, unless a hook has
    seen the first one.
    """
    from analyzer.ingest.pipeline import Pipeline
    from analyzer.ingest.tls_facts import add_secrets, read_key_logs
    from analyzer.inputs.engine import BLOCK_BYTES, Engine

    keys = read_key_logs(options.tls_key_logs) if keys is None else keys
    pipeline = Pipeline(folder, options, hook, keys, first_part=shard.number << PART_SHIFT)
    try:
        engine = Engine(pipeline.feed, block_bytes or BLOCK_BYTES, partial(add_secrets, keys), options.taps, shard)
        readings = engine.read_all(sources, progress)
        pipeline.finish()
    finally:
        pipeline.close()
    if keys.came_late and not hook and all(source.name != STANDARD_INPUT for source in sources):
        return read_captures(sources, folder, options, block_bytes=block_bytes, keys=keys.afresh(), shard=shard)
    return readings, pipeline


def _run(done: tuple[list[Reading], Pipeline], folders: list[Path]) -> Run:
    readings, pipeline = done
    return Run(readings, pipeline.summary(), pipeline.keys, folders)


def _read_by_tasks(
    sources: Sequence[Source], folder: Path, options: Options, progress: Callable[[int], None] | None
) -> Run:
    """By several processes, task by task: every byte is read once, which counts where it comes over a network."""
    from analyzer.distributed import pool

    made = pool.plan_for(sources, options)
    if len(made.tasks) == 1:
        return _run(read_captures(sources, folder, options, progress=progress), [folder])
    return pool.read(made, folder, options, progress)


def _read_by_shards(
    sources: Sequence[Source], folder: Path, options: Options, progress: Callable[[int], None] | None
) -> Run:
    """By several processes, each of which takes the connections of one shard, with its part of the memory limits."""
    # What each process would have to load for itself is loaded before there are two.
    import pyarrow.parquet  # noqa: F401

    from analyzer.base import workers

    limited = replace(
        options,
        # A shard may have a quarter more connections than the others (`Packets`): none meets the limit before the capture does.
        max_connections=-(-5 * options.max_connections // (4 * options.jobs)) + 8,
        max_reassembly_bytes=-(-options.max_reassembly_bytes // options.jobs),
    )
    folders = [folder / f"shard{number}" for number in range(options.jobs)]

    def work(number: int, progress: Callable[[int], None] | None = None) -> Run:
        folders[number].mkdir()
        shard = Shard(number, options.jobs, weighed=len(sources) == 1)
        done = read_captures(sources, folders[number], limited, progress=progress, shard=shard)
        return _run(done, folders)

    def answer(number: int) -> tuple[Summary, list[str | None]]:
        done = work(number)
        return done.summary, [reading.failure for reading in done.readings]

    others = [workers.begin(partial(answer, number)) for number in range(1, options.jobs)]
    try:
        run = work(0, progress)
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


# ---- the dataset ----


def dataset_of(run: Callable[[Path], Run], options: Options, warnings: list[str], failed: bool) -> Dataset:
    """Lets `run` read captures into a temporary directory, which lives as long as the dataset over its tables.

    `warnings` are those of what came before; `failed`: an input could not be read. Raises InputError when no input could.
    """
    import pyarrow.parquet as pq

    folder = Path(tempfile.mkdtemp(prefix="kanalyze-", dir=options.temp_dir))
    try:
        done = run(folder)
        readings = by_file(done.readings)
        warnings += [line for reading in readings for line in input_warnings(reading)]
        warnings += limit_warnings(done.summary)
        if all(reading.failure for reading in readings):
            raise InputError("\n".join(warnings))
        warnings += secret_warnings(done.keys)
        for name, table in small_tables(done.readings, done.summary).items():
            pq.write_table(table, folder / f"{name}.parquet")
        dataset = Dataset(
            raw_views.views(folder, done, options),
            kept=raw_views.computed_once(done.summary, options),
            # Where all is small, handing work to a second thread takes longer than the work.
            threads=1 if raw_views.is_small(done.summary) else None,
            simple_plans=raw_views.is_small(done.summary, FRACTION_OF_SIMPLE_PLANS),
            filters=options.filters,
            cleanup=lambda: shutil.rmtree(folder, ignore_errors=True),
            warnings=warnings,
            failed=failed or any(map(is_unreadable, readings)),
            temp_directory=options.temp_dir,
        )
        dataset.tls_keys = done.keys
        dataset.left_out = (
            options.left_out if options.with_entries else ("entries", "fetch_positions", *options.left_out)
        )
        return dataset
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
