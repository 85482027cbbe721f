"""What runs on executors: tasks are read, connections stitched, and rows resolved. Everything temporary is removed.

All give rows of `rows.SHAPE`: files of raw and final tables, fragments, rows that move, and one row with what a run tells
(`Done`, sealed). What is run again gives the same rows.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base import temp_folders
from analyzer.base.memory import keep_freed_memory, look_for_cycles_seldom
from analyzer.base.options import Options
from analyzer.distributed.tasks import STITCHED
from analyzer.query.export_tables import Written
from analyzer.run import moved_rows, raw_views, resolved_runs
from analyzer.run.facts_of_runs import CARRIED, SIGNS, SMALL
from analyzer.run.moved_rows import FETCHES, LATE, MOVES
from analyzer.run.run_sql import Part, Tables
from analyzer.spark.rows import (
    BATCH_ROWS,
    FINAL,
    FRAGMENTS,
    MOVED,
    OUTCOME,
    SOME_MOVE,
    STATES,
    SUMS,
    TOLD,
    WRITTEN,
    conform,
    files,
    keep,
    of_file,
    pieces_of,
    row,
    tuples,
)
from analyzer.spark.same_code import Code, check, code_here
from dissectors.layout import SPLIT_SHIFT

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.distributed.plan import Task
    from analyzer.distributed.tasks import Outcome
    from analyzer.query.partitions import Partitioned

# Files that the driver is told, and those that stay where they are until they are resolved.
FOR_DRIVER = frozenset((*(f"raw_{name}" for name in SMALL), *SIGNS))
STAYING = (*(f"raw_{name}" for name in resolved_runs.RAW), "raw_straddling", FETCHES.view)
# So many tasks are described together.
PACK_TASKS = 64
# The numbers of the runs that stitch.
STITCHED_RUNS = STITCHED >> SPLIT_SHIFT


@dataclass(frozen=True)
class Order:
    """What every worker is told: the options of the run, and the key logs themselves, as their files lie with the driver.

    `code` is what the driver runs, and so what workers must run.
    `seal` is the key under which runs tell their outcomes: these may bring the secrets of TLS sessions and lie on disks of
    executors, and what is unpickled must be what a worker wrote.
    """

    options: Options
    code: Code
    key_logs: tuple[bytes, ...] = field(default=(), repr=False)
    seal: bytes = field(default=b"", repr=False)


class Done(NamedTuple):
    """What a run tells: its outcome, of each table the rows that it gave and their bytes as they are packed, and the most
    memory that its process ever had."""

    outcome: Outcome
    rows: Counter[str]
    bytes: Counter[str]
    peak_bytes: int


def order(options: Options) -> Order:
    """Raises OSError when a key log cannot be read."""
    from cryptography.fernet import Fernet

    key_logs = tuple(path.read_bytes() for path in options.tls_key_logs)
    return Order(options, code_here(), key_logs, Fernet.generate_key())


def sealed(done: Done, given: Order) -> bytes:
    """What a run tells, as only who knows the order can read it."""
    from cryptography.fernet import Fernet

    return Fernet(given.seal).encrypt(pickle.dumps(done))


def opened(data: bytes, given: Order) -> Done:
    """The reverse. Raises cryptography.fernet.InvalidToken for what no worker of this order wrote."""
    from cryptography.fernet import Fernet

    done: Done = pickle.loads(Fernet(given.seal).decrypt(data))
    return done


def packed_tasks(tasks: Sequence[tuple[Task, frozenset[int]]]) -> list[bytes]:
    """Tasks, each with the flows that leave raw, as every worker is given them: of a hundred thousand, descriptions that are so
    alike take a tenth of their bytes when they are packed together, and a worker opens the pack with its own alone."""
    return [zlib.compress(pickle.dumps(tasks[at : at + PACK_TASKS])) for at in range(0, len(tasks), PACK_TASKS)]


def task_at(packs: Sequence[bytes], place: int) -> tuple[Task, frozenset[int]]:
    """The task at a place of what was packed."""
    found: tuple[Task, frozenset[int]] = pickle.loads(zlib.decompress(packs[place // PACK_TASKS]))[place % PACK_TASKS]
    return found


def read(batches: Iterable[pa.RecordBatch], packs: Sequence[bytes], given: Order) -> Iterator[pa.RecordBatch]:
    """Reads the tasks whose places in `packs` are the first column of the batches."""
    from analyzer.distributed.tasks import read_task

    for batch in batches:
        for place in batch.column(0).to_pylist():
            task, raw_flows = task_at(packs, place)
            with working_folder(given) as (folder, options):
                outcome = read_task(task, folder, options, raw_flows=raw_flows, strays_apart=True)
                yield from run_rows(folder, task.number, outcome, options, given)


def unpacked(
    batches: Iterable[pa.RecordBatch], given: Order, refuted: Collection[int] = ()
) -> Iterator[pa.RecordBatch]:
    """The fragments that tasks left, out of their files; of what was carried without those of flows that were `refuted`: these
    connections begin anew."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from analyzer.distributed.fragments import schema

    for _, run, pieces in files(tuples(batches)):
        with (
            working_folder(given) as (folder, _),
            pq.ParquetFile(keep(pieces, folder / f"{FRAGMENTS}.parquet")) as file,
        ):
            for batch in file.iter_batches(BATCH_ROWS):
                if refuted and run == CARRIED:
                    batch = batch.filter(pc.invert(pc.is_in(batch.column("flow"), pa.array(refuted, pa.int64()))))
                yield from pieces_of(conform(batch, schema()))


def stitch(
    batches: Iterator[pa.RecordBatch], number: int, given: Order, secrets: Sequence[tuple[int, bytes]]
) -> Iterator[pa.RecordBatch]:
    """Finishes the connections of partition `number` of the fragments, which come sorted by flow and number."""
    from analyzer.distributed.fragments import schema
    from analyzer.distributed.tasks import stitch as finish

    columns = schema()
    first = next(batches, None)
    if first is None:
        return
    with working_folder(given) as (folder, options):
        rows = (conform(batch, columns) for batch in chain([first], batches))
        outcome = finish(rows, folder, options, number, secrets)
        yield from run_rows(folder, STITCHED_RUNS | number, outcome, options, given)


def run_rows(folder: Path, run: int, outcome: Outcome, options: Options, given: Order) -> Iterator[pa.RecordBatch]:
    """All that a run gives."""
    import pyarrow.parquet as pq

    made = raw_views.made_of(outcome.summary)
    resolved_runs.signs(folder, made, options)
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for path in sorted(folder.glob("*.parquet")):
        name = path.stem
        counts[name] = pq.read_metadata(path).num_rows
        sizes[name] = path.stat().st_size
        if name in FOR_DRIVER or name.startswith(resolved_runs.STRAY):
            yield from of_file(f"{TOLD}{name}", run, path)
        if name in STAYING or name == FRAGMENTS:
            yield from of_file(name, run, path)
        # Room for what comes next.
        path.unlink()
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    yield row(OUTCOME, run, sealed(Done(outcome, counts, sizes, peak_bytes), given))


class Form(NamedTuple):
    """How final tables lie in files: exchanges `by_day`; or all as those of a dataset that grows, `added_by` a run of this name."""

    by_day: bool = False
    added_by: str | None = None

    def name(self, source: str, number: int) -> str:
        """Of a run, in names of its files."""
        return f"{self.added_by}-{source}{number:05}"


class LostRunError(Exception):
    """What lost executors held was made again, and came out as other runs than those that the driver knows."""


def facts_of(facts: Mapping[int, Tables], run: int) -> Tables:
    """The facts for a run. Raises LostRunError."""
    if run not in facts:
        raise LostRunError(
            "executors were lost with what they held, which cannot be made again in the same parts: run again"
        )
    return facts[run]


def leave(
    batches: Iterable[pa.RecordBatch], facts: Mapping[int, Tables], made: Mapping[str, str], buckets: int, given: Order
) -> Iterator[pa.RecordBatch]:
    """The rows of `FETCHES.view` of runs, as they move."""
    for _, run, pieces in files(tuples(batches)):
        with working_folder(given) as (folder, options):
            keep(pieces, folder / f"{FETCHES.view}.parquet")
            with resolved_runs.Run(folder, run, made, facts_of(facts, run), options) as found:
                yield from leaving(found, (FETCHES,), buckets)


def view_times(
    batches: Iterable[pa.RecordBatch], facts: Mapping[int, Tables], made: Mapping[str, str], given: Order
) -> Iterator[pa.RecordBatch]:
    """The view of that name of each run."""
    for run, rows in groupby(tuples(batches), key=lambda each: each[1]):
        with working_folder(given) as (folder, options):
            for table, _, pieces in files(rows):
                keep(pieces, folder / f"{table}.parquet")
            with resolved_runs.Run(folder, run, made, facts_of(facts, run), options) as found:
                yield row("view_times", run, found.view_times())


def meet(
    batches: Iterable[pa.RecordBatch], number: int, facts: Tables, made: Mapping[str, str], form: Form, given: Order
) -> Iterator[pa.RecordBatch]:
    """Final tables of rows that met in partition `number`, and what they tell runs."""
    found: dict[str, list[Path]] = {}
    with working_folder(given) as (folder, options):
        for place, (table, _, data) in enumerate(tuples(batches)):
            if not table.startswith(MOVED):
                continue
            view = table.removeprefix(MOVED)
            path = folder / f"moved_{place}.parquet"
            path.write_bytes(data)
            found.setdefault(view, []).append(path)
        for view, paths in found.items():
            scratch = folder / view
            scratch.mkdir()
            met = moved_rows.meet(MOVES[view], paths, made, facts, scratch, options)
            if form.added_by:
                divided = met.divided(MOVES[view], paths, form.name("m", number), scratch, options)
                yield from divided_rows(divided, number)
            else:
                for table, part in met.tables.items():
                    yield from final_rows(table, "m", number, part)
            for run, data in met.states.items():
                yield row(STATES, run, data)


def resolve(
    batches: Iterable[pa.RecordBatch],
    facts: Mapping[int, Tables],
    made: Mapping[str, str],
    form: Form,
    buckets: int,
    given: Order,
) -> Iterator[pa.RecordBatch]:
    """Final tables of the raw ones of runs, and rows that move."""
    for run, rows in groupby(tuples(batches), key=lambda each: each[1]):
        with working_folder(given) as (folder, options):
            for table, _, pieces in files(rows):
                keep(pieces, folder / f"{table}.parquet")
            yield from resolved(folder, run, facts_of(facts, run), made, form, buckets, options)


def resolved(
    folder: Path, run: int, facts: Tables, made: Mapping[str, str], form: Form, buckets: int, options: Options
) -> Iterator[pa.RecordBatch]:
    """The same for one run, whose raw tables lie in `folder`."""
    source = _source(run)
    with resolved_runs.Run(folder, run, made, facts, options) as found:
        if form.added_by:
            yield from divided_rows(found.divided(form.name(*source)), run)
        else:
            for name, part in found.final(form.by_day):
                yield from final_rows(name, *source, part)
                if name.partition("/")[0] == "exchanges":
                    yield row(SUMS, run, json.dumps(found.least_rows_of_sums()).encode())
        yield from leaving(found, LATE, buckets)


def _source(run: int) -> tuple[str, int]:
    """A letter for who made a file, and a number: tasks, partitions, strays and what was carried are numbered apart."""
    if run < 0:
        return ("c" if run == CARRIED else "x"), 0
    return ("s", run - STITCHED_RUNS) if run >= STITCHED_RUNS else ("r", run)


def leaving(run: resolved_runs.Run, moves: Iterable[moved_rows.Move], buckets: int) -> Iterator[pa.RecordBatch]:
    """The rows of a run that move."""
    for move in moves:
        for bucket, data in run.leaving(move, buckets):
            yield row(f"{MOVED}{move.view}", bucket, data)
            yield row(f"{SOME_MOVE}{move.view}", bucket, b"")


def final_rows(name: str, source: str, number: int, part: Part) -> Iterator[pa.RecordBatch]:
    """A file of a final table, under the path that it will have in a dataset, and what is in it. `source`: a letter for who made
    it; `name` may be that of a directory of the table."""
    file = f"{name}/part-{source}{number:05}.parquet"
    yield from of_file(f"{FINAL}{file}", number, part.data)
    told = Written(file, part.rows, part.first_time_ns, part.last_time_ns)
    yield row(f"{WRITTEN}{name.partition('/')[0]}", number, json.dumps(told).encode())


def divided_rows(found: Iterable[tuple[str, Partitioned, Path]], number: int) -> Iterator[pa.RecordBatch]:
    """Files of a dataset that grows: (table or sums, file, where it lies)."""
    for name, each, path in found:
        yield from of_file(f"{FINAL}{each.file.file}", number, path)
        yield row(f"{WRITTEN}{name}", number, json.dumps(each.file).encode())


@contextmanager
def working_folder(given: Order) -> Iterator[tuple[Path, Options]]:
    """A folder for one run, and the options with which it runs here."""
    check(given.code)
    _settle_in()
    folder = temp_folders.make(room(given.options.temp_dir))
    try:
        secrets = folder / "secrets"
        secrets.mkdir()
        for number, data in enumerate(given.key_logs):
            (secrets / str(number)).write_bytes(data)
        options = replace(given.options, temp_dir=folder, tls_key_logs=tuple(sorted(secrets.iterdir())), jobs=1)
        (folder / "raw").mkdir()
        yield folder / "raw", options
    finally:
        temp_folders.remove(folder)


def _settle_in() -> None:
    """What the command line sets before anything is loaded: a worker of Spark is begun by Spark."""
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())
    look_for_cycles_seldom()
    keep_freed_memory()


def room(asked: Path | None) -> Path | None:
    """Where temporary files go: as asked, else where Spark puts its own, which is the large disk of an executor."""
    spark = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    candidates = [asked, Path(spark) if spark else None]
    return next((path for path in candidates if path is not None and os.access(path, os.W_OK)), None)
