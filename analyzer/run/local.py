"""Runs on this machine: captures -> tables in a temporary directory -> a Dataset that verbs ask.

Inputs are read in the order of their first packets, as one capture: rotated files go on in each other. What cannot be read is
told in `Dataset.warnings` and sets `Dataset.failed`; the rest is analysed all the same.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base import object_storage
from analyzer.base.link_names import link_name
from analyzer.base.tables import SQL_TYPES, TABLES
from analyzer.ingest.facts.tables import FACT_TABLES, no_rows
from analyzer.ingest.raw_tables import EXCHANGES, Field
from analyzer.ingest.run_tables import Run, by_file, small_tables
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.readings import WHOLE, Reading, Share
from analyzer.inputs.sources import STANDARD_INPUT, InputError, Source, expand
from analyzer.query import resolve
from analyzer.query.dataset import Dataset, is_dataset, parquet
from analyzer.query.dataset import open_dataset as open_exported
from dissectors import layout
from dissectors.problems import KINDS as PROBLEM_KINDS

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.distributed.plan import Plan
    from analyzer.ingest.pipeline import FrameHook, Pipeline, Summary
    from dissectors.tls.keys import KeyLog

# Raw tables: those that each run over the captures writes, and those of all runs together.
OF_SHARES = ("exchanges", "entries", "errors", "problems", "parts", "talks", "tls")
OF_THE_RUN = ("whole", "splits", "notes")
# Those that a task writes rows of, under a part of its own; `raw_joined` tells which connection that is a part of. A connection
# that the task has seen whole is not there: all raw tables have it under that part.
RESOLVED_IN_TASKS = ("exchanges", "entries", "errors")
JOINED = (
    "SELECT r.* REPLACE (coalesce(j.joined_to, r.part) AS part) FROM ({rows}) AS r "
    "LEFT JOIN raw_joined AS j ON j.part = r.part"
)
# Runs that share a capture number their parts apart.
PART_SHIFT = 40
# What has a row per connection, file or fact at most.
SMALL = (
    "captures",
    "raw_splits",
    "raw_whole",
    "raw_notes",
    "raw_joined",
    *resolve.FACTS,
    "parts",
    "evidence",
    "part_clusters",
    "part_brokers",
    "releases",
    "paths",
    "logins",
    "links",
    "connections",
    "topic_names",
)
# What has fewer rows than exchanges and entries have, and takes a window over them to tell.
STEPS = (
    "fetch_steps",
    "fetch_states",
    "mutes",
    "group_events",
    "assignments",
    "transaction_events",
    "topic_ids",
    "brokers",
    "offered_versions",
)
# Tables of so many rows fit the memory of the database with room to spare.
MOST_KEPT_EXCHANGES = 150_000
MOST_KEPT_ENTRIES = 500_000
MOST_OF_SIMPLE_PLANS = 0.05
# Captures of so many bytes are read in full, whatever was asked: the kinds of all waits are known then.
SMALL_CAPTURE_BYTES = 64_000_000
PACKED_ENDINGS = (".gz", ".zst", ".lz4", ".xz", ".bz2")


def open_dataset(
    inputs: Sequence[str],
    options: Options,
    progress: Callable[[int], None] | None = None,
    block_bytes: int | None = None,
) -> Dataset:
    """The tables of captures, or of one exported directory. Raises InputError when nothing at all could be read.

    `progress` hears of bytes as they are read.
    """
    if len(inputs) == 1 and is_dataset(inputs[0]):
        return open_exported(inputs[0], filters=options.filters, temp_directory=options.temp_dir)
    found = expand(inputs)
    warnings = [str(error) for error in found.errors]
    if not found.sources:
        raise InputError("\n".join(warnings))
    failed = bool(warnings)
    if found.passed_over:
        warnings.append(told_passed_over(found.passed_over))

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
                return _analyse_tasks(sources, folder, options, progress)
            if not object_storage.was_asked():
                return _analyse_shared(sources, folder, options, progress)
        return _run(analyse(sources, folder, options, progress=progress, block_bytes=block_bytes), [folder])

    return _dataset(run, options, warnings, failed)


def open_plan(plan: Plan, options: Options, progress: Callable[[int], None] | None = None) -> Dataset:
    """The tables of captures that processes read task by task: the rows of a run over all of it, unless a limit is hit."""
    from analyzer.distributed import pool

    return _dataset(lambda folder: pool.read(plan, folder, options, progress), options, [], False)


def _run(done: tuple[list[Reading], Pipeline], folders: list[Path]) -> Run:
    readings, pipeline = done
    return Run(readings, pipeline.summary(), pipeline.keys, folders)


def _analyse_tasks(
    sources: Sequence[Source], folder: Path, options: Options, progress: Callable[[int], None] | None
) -> Run:
    """By processes, task by task: every byte is read once, which counts where it comes over a network."""
    from analyzer.distributed import pool

    made = pool.plan_for(sources, options)
    if len(made.tasks) == 1:
        return _run(analyse(sources, folder, options, progress=progress), [folder])
    return pool.read(made, folder, options, progress)


def _analyse_shared(
    sources: Sequence[Source], folder: Path, options: Options, progress: Callable[[int], None] | None
) -> Run:
    """The same by several processes, each with connections of its own and its share of the memory limits."""
    # What each process would have to load for itself is loaded before there are two.
    import pyarrow.parquet  # noqa: F401

    from analyzer.base import workers

    share = replace(
        options,
        # As many more as a share may have (`Packets`): none meets the limit before the capture does.
        max_connections=-(-5 * options.max_connections // (4 * options.jobs)) + 8,
        max_reassembly_bytes=-(-options.max_reassembly_bytes // options.jobs),
    )
    folders = [folder / f"share{number}" for number in range(options.jobs)]

    def work(number: int, progress: Callable[[int], None] | None = None) -> Run:
        folders[number].mkdir()
        mine = Share(number, options.jobs, weighed=len(sources) == 1)
        done = analyse(sources, folders[number], share, progress=progress, share=mine)
        return _run(done, folders)

    def answer(number: int) -> tuple[Summary, list[str | None]]:
        done = work(number)
        return done.summary, [reading.failure for reading in done.readings]

    others = [workers.begin(partial(answer, number)) for number in range(1, options.jobs)]
    try:
        run = work(0, progress)
        # What asks the tables is loaded while the others may be reading still.
        import _duckdb  # noqa: F401

        while others:
            while others[0].receive():
                pass
            summary, failures = others.pop(0).answer()
            run = run._replace(summary=run.summary + summary)
            # What one process could not read to its end was not read by all.
            for reading, failure in zip(run.readings, failures, strict=True):
                reading.failure = reading.failure or failure
    finally:
        for worker in others:
            workers.end(worker)
    return run


def _dataset(run: Callable[[Path], Run], options: Options, warnings: list[str], failed: bool) -> Dataset:
    """Runs the stages in a temporary directory that lives as long as the dataset."""
    import pyarrow.parquet as pq

    folder = Path(tempfile.mkdtemp(prefix="kanalyze-", dir=options.temp_dir))
    try:
        done = run(folder)
        readings = by_file(done.readings)
        warnings += [line for reading in readings for line in warnings_of(reading)]
        warnings += limits_reached(done.summary)
        if all(reading.failure for reading in readings):
            raise InputError("\n".join(warnings))
        warnings += key_log_lines(done.keys)
        for name, table in small_tables(done.readings, done.summary).items():
            pq.write_table(table, folder / f"{name}.parquet")
        dataset = Dataset(
            _views(folder, done, options),
            kept=_kept(done.summary, options),
            # Where all is small, handing work to a second thread takes longer than the work.
            threads=1 if _is_few(done.summary) else None,
            simple_plans=_is_few(done.summary, MOST_OF_SIMPLE_PLANS),
            filters=options.filters,
            cleanup=lambda: shutil.rmtree(folder, ignore_errors=True),
            warnings=warnings,
            failed=failed or any(unreadable(reading) for reading in readings),
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


def analyse(
    sources: Sequence[Source],
    folder: Path,
    options: Options,
    *,
    hook: FrameHook | None = None,
    progress: Callable[[int], None] | None = None,
    block_bytes: int | None = None,
    keys: KeyLog | None = None,
    share: Share = WHOLE,
) -> tuple[list[Reading], Pipeline]:
    """One pass over the sources: raw tables grow in `folder`, the small facts are in what comes back.

    Of the connections only those of `share` are taken.

    `keys` are the secrets of TLS sessions when they are known already. A capture may bring secrets later than the packets
    that need them: then there is a second pass, unless a hook has seen the first one.
    """
    from analyzer.ingest.pipeline import Pipeline
    from analyzer.ingest.tls_facts import add_secrets, read_key_logs
    from analyzer.inputs.engine import BLOCK_BYTES, Engine

    keys = read_key_logs(options.tls_key_logs) if keys is None else keys
    pipeline = Pipeline(folder, options, hook, keys, first_part=share.number << PART_SHIFT)
    try:
        engine = Engine(pipeline.feed, block_bytes or BLOCK_BYTES, partial(add_secrets, keys), options.taps, share)
        readings = engine.read_all(sources, progress)
        pipeline.finish()
    finally:
        pipeline.close()
    if keys.came_late and not hook and all(source.name != STANDARD_INPUT for source in sources):
        return analyse(sources, folder, options, block_bytes=block_bytes, keys=keys.afresh(), share=share)
    return readings, pipeline


def _can_be_shared(sources: Sequence[Source]) -> bool:
    """A pipe can be read once only, and a small capture is read before a second process is there."""
    return all(source.size_bytes is not None for source in sources) and not _is_small(sources)


def _is_small(sources: Sequence[Source]) -> bool:
    """A packed file may hold about ten times its size; a pipe may hold anything."""
    sizes = [source.size_bytes for source in sources]
    packed = (10 if source.name.endswith(PACKED_ENDINGS) else 1 for source in sources)
    return (
        None not in sizes
        and sum(size * times for size, times in zip(sizes, packed, strict=True) if size) <= SMALL_CAPTURE_BYTES
    )


def told_passed_over(names: Sequence[str]) -> str:
    shown = ", ".join(Path(name).name for name in names[:3]) + (", ..." if len(names) > 3 else "")
    return f"{names[0].rpartition('/')[0] or '.'}: passed over what is no capture, {len(names)} of its files ({shown})"


def limits_reached(summary: Summary) -> Iterator[str]:
    """A run that hit a limit says so: its numbers are not those of the whole capture."""
    for number, kind in PROBLEM_KINDS.items():
        count = summary.limited[number]
        if kind.option and count:
            times = f" ({count:,} times)" if count > 1 else ""
            yield f"a limit was reached{times}, so something is missing from all that follows: {kind.sentence} Raise {kind.option}."
    if summary.problems_dropped:
        yield f"{summary.problems_dropped:,} problems more than the table `problems` lists: it takes some thousand at a time"


def key_log_lines(keys: KeyLog) -> Iterator[str]:
    """What a person should know about the secrets of TLS sessions, and never one of them."""
    if keys.broken_lines:
        yield f"TLS secrets: {keys.broken_lines:,} of their lines are no key log lines and were passed over"
    if keys.came_late:
        yield (
            "TLS secrets came later in the capture than the sessions that need them, and standard input cannot be read "
            "twice: save it to a file first"
        )


def unreadable(reading: Reading) -> bool:
    """A file that ends inside a packet is the usual end of a capture; one that is damaged earlier was not read."""
    return reading.failure is not None or any(note.kind == "damaged" for note in reading.notes)


def warnings_of(reading: Reading) -> Iterator[str]:
    if reading.failure:
        yield reading.failure
    for note in reading.notes:
        yield f"{reading.source.name}: {note.text}"
    unknown = reading.outcomes[layout.SEEN_UNKNOWN_LINK]
    if unknown:
        links = ", ".join(link_name(link) for link in reading.unread_links)
        yield (
            f"{reading.source.name}: {unknown:,} packets passed over: no reader for their link type ({links}); "
            "capture on Ethernet, cooked or raw IP instead"
        )


def _kept(summary: Summary, options: Options) -> tuple[str, ...]:
    """Views to be computed once, when a question first reads them: all of them where the capture is small, as far as nothing
    was left out."""
    if _is_few(summary):
        return (*SMALL, *STEPS, *(name for name in TABLES if options.seldom or name != "exchanges"))
    return (*SMALL, *STEPS, *(("errors",) if summary.rows["errors"] <= MOST_KEPT_ENTRIES else ()))


def _is_few(summary: Summary, part: float = 1) -> bool:
    """Are there so few rows, or this part of so few?"""
    return (
        summary.rows["exchanges"] <= part * MOST_KEPT_EXCHANGES and summary.rows["entries"] <= part * MOST_KEPT_ENTRIES
    )


def _views(folder: Path, run: Run, options: Options) -> dict[str, str]:
    whole_files = all(reading.file == reading.split for reading in run.readings)
    raw = {f"raw_{name}": parquet([folder / f"raw_{name}.parquet"]) for name in OF_THE_RUN}
    raw |= {f"raw_{name}": parquet(_files(name, run.folders)) for name in OF_SHARES}
    if not options.seldom:
        raw["raw_exchanges"] = f"SELECT *, {_not_read()} FROM ({raw['raw_exchanges']})"
    raw |= {f"raw_{name}": _fact_table(name, run.folders) for name in FACT_TABLES}
    if joined := _files("joined", run.folders):
        of_tasks = (
            *RESOLVED_IN_TASKS,
            *(name for name, columns in FACT_TABLES.items() if ("part", "int64") in columns),
        )
        raw |= {f"raw_{name}": JOINED.format(rows=raw[f"raw_{name}"]) for name in of_tasks}
        raw["raw_joined"] = parquet(joined)
    captures = {"captures": parquet([folder / "captures.parquet"])}
    summary = run.summary
    made = resolve.views(summary.api_keys, whole_files, options.with_entries, options.left_out, summary.odd)
    return raw | captures | made


def _not_read() -> str:
    """Columns of exchanges that were left out. Whoever reads one gets an error, and never a null that would mean something."""
    return ", ".join(
        f"CAST(error('{field.name}: not read for this report') AS {_sql_type(field)}) AS {field.name}"
        for field in EXCHANGES
        if field.seldom
    )


def _sql_type(field: Field) -> str:
    return "VARCHAR" if field.type == "text" else SQL_TYPES[str(field.type)]


def _fact_table(name: str, folders: Sequence[Path]) -> str:
    """Facts are written where there are some; equal ones once a run, so those of several runs are made one."""
    paths = _files(name, folders)
    if not paths:
        return no_rows(name)
    rows = parquet(paths)
    return rows if len(paths) == 1 else f"SELECT DISTINCT * FROM ({rows})"


def _files(name: str, folders: Sequence[Path]) -> list[Path]:
    """The files of one raw table."""
    return [path for folder in folders if (path := folder / f"raw_{name}.parquet").exists()]
