"""Rows of tasks resolved where they lie, in this process: what executors of Spark do, without Spark."""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq

from analyzer.base.options import Options
from analyzer.base.tables import TABLES, arrow_schema
from analyzer.ingest.run_tables import Run as Read
from analyzer.run import moved_rows, raw_views, resolved_runs
from analyzer.run.facts_of_runs import SIGNS, SMALL, STRAYS, Facts, Told, made_of
from analyzer.run.run_sql import Part, Tables

# A capture is told by its path, and pieces that are files have a file header each.
# What a segment is only the SYN tells, which a task may not have: without it fewer ACKs are known to have been sent at once.
NOT_COMPARED: dict[str, tuple[str, ...]] = {
    "captures": ("path", "bytes"),
    "connections": (
        *("to_broker_p50_ns", "to_broker_p95_ns", "to_broker_acks"),
        *("to_client_p50_ns", "to_client_p95_ns", "to_client_acks"),
    ),
}

# A run that is resolved by itself does not see whether a request was alone on its way: there its time is an interval. It does not
# matter where the capture was taken beside the broker, or an ACK told of the arrival.
WHOEVER_WAS_ALONE = (None, "beside", "mute", "ack")
OF_WHO_WAS_ALONE = ("broker_min_ns", "broker_ns", "broker_evidence", "there_ns")


def compared(table: str, row: dict[str, object]) -> dict[str, object]:
    """What of a row must be the same however a capture is cut, and wherever it is resolved."""
    left_out = (*NOT_COMPARED.get(table, ()), *of_who_was_alone(table, row))
    return {name: value for name, value in row.items() if name not in left_out}


def of_who_was_alone(table: str, row: dict[str, object]) -> tuple[str, ...]:
    """The columns of a row that depend on whether its request was alone on its way."""
    is_of_them = table == "exchanges" and row["broker_evidence"] not in WHOEVER_WAS_ALONE
    return OF_WHO_WAS_ALONE if is_of_them else ()


def resolved_apart(
    read: Read, folders: dict[int, Path], options: Options, scratch: Path, buckets: int, by_day: bool
) -> dict[str, list[str]]:
    """The rows of each final table, sorted, as `parts_of_captures.tables` has them."""
    made = raw_views.made_of(read.summary)
    for folder in folders.values():
        resolved_runs.signs(folder, made, options)
    told = _handed_on(read, folders, scratch / "driver")
    strays = told.folder / str(STRAYS)
    if resolved_runs.collect_strays(list(folders.values()), strays, made, options):
        folders = {**folders, STRAYS: strays}
    made = made_of(told)
    found = _Found(scratch)
    with _facts(told, folders, made, options, scratch) as facts:
        for_all = facts.for_all()
        for name, part in facts.final():
            found.add(name, part)
        given = {run: for_all | facts.for_run(run) for run in folders}
    states = _sessions(found, folders, given, for_all, made, options, scratch, buckets)
    late: dict[tuple[str, int], list[bytes]] = defaultdict(list)
    for number, folder in folders.items():
        tables = given[number] | ({"fetch_states": states[number]} if number in states else {})
        with _run(folder, number, made, tables, options, scratch) as run:
            for name, part in run.final(by_day):
                found.add(name, part)
            for move in moved_rows.LATE:
                for bucket, data in run.leaving(move, buckets):
                    late[move.view, bucket].append(data)
    for (view, _), files in late.items():
        found.meet(moved_rows.MOVES[view], files, made, for_all, options)
    return {table: sorted(found.rows[table]) for table in TABLES}


class _Found:
    def __init__(self, scratch: Path) -> None:
        self.rows: dict[str, list[str]] = defaultdict(list)
        self.states: dict[int, list[bytes]] = defaultdict(list)
        self._scratch = scratch
        self._met = 0

    def add(self, name: str, part: Part) -> None:
        path = self._scratch / "found.parquet"
        path.write_bytes(part.data)
        table = name.partition("/")[0]
        columns = arrow_schema(table)
        made = pq.read_table(path, columns=columns.names)
        assert made.schema.equals(columns), table
        assert made.num_rows == part.rows
        self.rows[table] += [repr(compared(table, row)) for row in made.to_pylist()]

    def meet(
        self, move: moved_rows.Move, files: list[bytes], made: dict[str, str], facts: Tables, options: Options
    ) -> None:
        folder = self._scratch / f"met{self._met}"
        self._met += 1
        folder.mkdir()
        paths = [folder / f"{place}.parquet" for place in range(len(files))]
        for path, data in zip(paths, files, strict=True):
            path.write_bytes(data)
        met = moved_rows.meet(move, paths, made, facts, folder, options)
        for table, part in met.tables.items():
            self.add(table, part)
        for run, data in met.states.items():
            self.states[run].append(data)


def _handed_on(read: Read, folders: dict[int, Path], target: Path) -> Told:
    for number, folder in folders.items():
        own = target / str(number)
        own.mkdir(parents=True)
        for name in (*(f"raw_{name}" for name in SMALL), *SIGNS):
            if (path := folder / f"{name}.parquet").exists():
                shutil.copy(path, own)
    return Told(target, list(folders), read.readings, read.summary)


def _facts(told: Told, folders: dict[int, Path], made: dict[str, str], options: Options, scratch: Path) -> Facts:
    found = Facts(told, options)
    if not found.seen_again:
        return found
    paths = []
    with found as first:
        for number, folder in folders.items():
            with _run(folder, number, made, first.asked_parts(number), options, scratch) as run:
                paths.append(scratch / f"view_times{number}.parquet")
                paths[-1].write_bytes(run.view_times())
    return Facts(told, options, paths)


def _run(
    folder: Path, number: int, made: dict[str, str], given: Tables, options: Options, scratch: Path
) -> resolved_runs.Run:
    """The run as another process finds it: what stays, and nothing else."""
    own = scratch / "run"
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    for name in (*(f"raw_{name}" for name in resolved_runs.RAW), "raw_straddling", "fetch_names"):
        if (path := folder / f"{name}.parquet").exists():
            shutil.copy(path, own)
    return resolved_runs.Run(own, number, made, given, options)


def _sessions(
    found: _Found,
    folders: dict[int, Path],
    given: dict[int, Tables],
    for_all: Tables,
    made: dict[str, str],
    options: Options,
    scratch: Path,
    buckets: int,
) -> dict[int, bytes]:
    """What fetch sessions tell of each run: one file a run."""
    moved: dict[int, list[bytes]] = defaultdict(list)
    for number, folder in folders.items():
        with _run(folder, number, made, given[number], options, scratch) as run:
            for bucket, data in run.leaving(moved_rows.FETCHES, buckets):
                moved[bucket].append(data)
    for files in moved.values():
        found.meet(moved_rows.FETCHES, files, made, for_all, options)
    return {run: _one(files, scratch) for run, files in found.states.items()}


def _one(files: list[bytes], scratch: Path) -> bytes:
    import pyarrow as pa

    tables = []
    for data in files:
        tables.append(pq.read_table(pa.BufferReader(data)))
    path = scratch / "one.parquet"
    pq.write_table(pa.concat_tables(tables), path)
    return path.read_bytes()
