"""The steps as DataFrames: tasks -> runs, fragments -> runs, runs -> final tables. Only public calls: Connect has them all.

What a step gives is kept on the disks of the executors, so that it is never computed twice. The driver is told what is small.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.distributed.open_connections import OF_RUNS
from analyzer.query.export_tables import Written
from analyzer.run.run_sql import Tables
from analyzer.spark import kept_connections, rows, stages
from analyzer.spark.session import told, version

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from analyzer.distributed.plan import Task
    from analyzer.spark.stages import Done

# Bytes of files of fragments of one partition of the stitch.
STITCHED_BYTES = 8 << 20
MOST_PARTITIONS = 10_000
# From this release on Spark makes rows of Arrow's tables.
TAKES_ARROW_FROM = (4, 0)


class Kept:
    """Rows of `rows.SHAPE` that were computed and are kept, and those of them that the driver was `told`."""

    def __init__(self, frame: DataFrame, for_driver: str) -> None:
        from pyspark import StorageLevel

        self.frame = frame.persist(StorageLevel.DISK_ONLY)
        try:
            with told():
                found = self.frame.where(for_driver).select("table", "task", "batch").collect()
        except BaseException:
            self.close()
            raise
        self.told = [(str(table), int(task), bytes(batch)) for table, task, batch in found]

    def close(self) -> None:
        """Gives the disks back."""
        self.frame.unpersist()


class Stage(Kept):
    """What runs gave; `done`: number of a run -> what it tells."""

    def __init__(self, frame: DataFrame, order: stages.Order) -> None:
        super().__init__(frame, f"table = '{rows.OUTCOME}' OR table LIKE '{rows.TOLD}%'")
        self._forgotten: set[int] = set()
        self.done: dict[int, Done] = {
            run: stages.opened(data, order) for table, run, data in self.told if table == rows.OUTCOME
        }

    def forget(self, runs: Collection[int]) -> None:
        """Leaves out what some runs gave."""
        self._forgotten.update(runs)
        for run in runs:
            self.done.pop(run, None)

    def rows(self, tables: Sequence[str]) -> DataFrame:
        """The rows of some tables, of runs that are not forgotten."""
        names = ", ".join(f"'{table}'" for table in tables)
        left_out = ", ".join(map(str, sorted(self._forgotten)))
        chosen = self.frame.where(f"table IN ({names})")
        return chosen.where(f"task NOT IN ({left_out})") if left_out else chosen

    def keep_told(self, folder: Path) -> None:
        """Writes the tables that the driver was told into a directory for each run, and holds them no longer."""
        for run in self.done:
            (folder / str(run)).mkdir()
        for table, run, pieces in rows.files(each for each in self.told if each[1] in self.done):
            if table != rows.OUTCOME:
                rows.keep(pieces, folder / str(run) / f"{table.removeprefix(rows.TOLD)}.parquet")
        self.told.clear()


class Made(Kept):
    """Final tables that were made. `files`: of each table what its files hold; `sums`: by name, how many rows sums of the exchanges
    would have at least; `moves`: some rows move; `states`: run -> what its fetch sessions say, in pieces."""

    def __init__(self, frame: DataFrame) -> None:
        told_driver = f"table IN ('{rows.STATES}', '{rows.SUMS}') OR table LIKE '{rows.WRITTEN}%' OR table LIKE '{rows.SOME_MOVE}%'"
        super().__init__(frame, told_driver)
        self.files = written(self.told)
        self.sums = rows_of_sums(self.told)
        self.moves = any(table.startswith(rows.SOME_MOVE) for table, *_ in self.told)
        self.states: dict[int, list[bytes]] = {}
        for table, run, data in self.told:
            if table == rows.STATES:
                self.states.setdefault(run, []).append(data)


def written(found: Iterable[tuple[str, int, bytes]]) -> dict[str, list[Written]]:
    """Table -> what its files hold, out of rows of `rows.SHAPE`."""
    files: dict[str, list[Written]] = {}
    for table, _, data in found:
        if table.startswith(rows.WRITTEN):
            files.setdefault(table.removeprefix(rows.WRITTEN), []).append(Written(*json.loads(data)))
    return files


def rows_of_sums(found: Iterable[tuple[str, int, bytes]]) -> Counter[str]:
    """By name, how many rows sums would have at least, out of rows of `rows.SHAPE`."""
    return sum((Counter(json.loads(data)) for table, _, data in found if table == rows.SUMS), Counter())


def read(
    spark: SparkSession, tasks: Sequence[Task], order: stages.Order, raw_flows: Mapping[int, frozenset[int]]
) -> Stage:
    """Each task in a partition of its own. `raw_flows`: number of a task -> flows whose segments all leave raw."""
    packs = stages.packed_tasks([(task, raw_flows.get(task.number, frozenset())) for task in tasks])

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return stages.read(batches, packs, order)

    return Stage(spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(run, rows.SHAPE), order)


def bring(spark: SparkSession, place: str, run: str, order: stages.Order) -> Stage:
    """What an earlier run of a dataset kept of open connections."""

    def bring_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield from kept_connections.rows_of_state(place, run, order)

    return Stage(spark.range(0, 1, 1, 1).mapInArrow(bring_rows, rows.SHAPE), order)


def keep_open(
    kept: Sequence[Stage], chosen: Mapping[str, bytes], place: str, run: str, order: stages.Order
) -> dict[str, int]:
    """Puts what runs have of connections that stay open to the state of a run; answers the rows of each table. `chosen`: files of
    `open_connections.choose`."""

    def leave(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return kept_connections.leave_open(batches, chosen, order)

    def keep(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return kept_connections.keep_open(batches, place, run, order)

    names = [f"{word}{name}" for name in OF_RUNS for word in ("", rows.TOLD)]
    left = union(stage.rows(names) for stage in kept).select("table", "task", "batch").mapInArrow(leave, rows.SHAPE)
    with told():
        found = left.repartition(1).mapInArrow(keep, rows.SHAPE).collect()
    counts: dict[str, int] = json.loads(found[0].batch) if found else {}
    return counts


def stitch(
    kept: Sequence[Stage], order: stages.Order, secrets: Sequence[tuple[int, bytes]], refuted: Collection[int] = ()
) -> Stage:
    """Each connection's fragments together, in the order of the capture. `secrets`: of TLS, as captures bring them; `refuted`:
    flows in which nothing counts that was carried."""
    from analyzer.distributed import fragments

    size = sum(done.bytes[rows.FRAGMENTS] for stage in kept for done in stage.done.values())
    columns = rows.ddl(fragments.schema())
    # Spark does not fit the number of partitions to what there is where the result is to be kept.
    partitions = min(1 + size // STITCHED_BYTES, MOST_PARTITIONS)

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return stages.unpacked(batches, order, refuted)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return stages.stitch(batches, partition_number(), order, secrets)

    packed = union(stage.rows([rows.FRAGMENTS]) for stage in kept).select("table", "task", "batch")
    found = packed.mapInArrow(unpack, columns)
    together = found.repartition(partitions, "flow").sortWithinPartitions("flow", "number")
    return Stage(together.mapInArrow(run, rows.SHAPE), order)


def leaving(
    kept: Sequence[Stage], facts: Mapping[int, Tables], made: Mapping[str, str], buckets: int, order: stages.Order
) -> DataFrame:
    """The rows of fetches, as they move."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return stages.leave(batches, facts, made, buckets, order)

    found = union(stage.rows([stages.FETCHES.view]) for stage in kept)
    return found.select("table", "task", "batch").mapInArrow(run, rows.SHAPE)


def meet(
    moved: DataFrame, facts: Tables, made: Mapping[str, str], form: stages.Form, partitions: int, order: stages.Order
) -> Made:
    """What is made of rows that move, where they meet."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return stages.meet(batches, partition_number(), facts, made, form, order)

    together = moved.repartition(partitions, "table", "task").select("table", "task", "batch")
    return Made(together.mapInArrow(run, rows.SHAPE))


def resolve(
    kept: Sequence[Stage],
    facts: Mapping[int, Tables],
    made: Mapping[str, str],
    form: stages.Form,
    buckets: int,
    order: stages.Order,
) -> Made:
    """Raw rows of runs -> final tables, and rows that move, where the raw rows are."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return stages.resolve(batches, facts, made, form, buckets, order)

    found = union(stage.rows(stages.STAYING) for stage in kept)
    return Made(found.select("table", "task", "batch").mapInArrow(run, rows.SHAPE))


def view_times(
    kept: Sequence[Stage], facts: Mapping[int, Tables], made: Mapping[str, str], order: stages.Order
) -> list[bytes]:
    """The view of that name of each run, as Parquet files."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return stages.view_times(batches, facts, made, order)

    found = union(stage.rows(["raw_exchanges", "raw_straddling"]) for stage in kept)
    with told():
        times = found.select("table", "task", "batch").mapInArrow(run, rows.SHAPE).select("batch").collect()
    return [bytes(batch) for (batch,) in times]


def union(frames: Iterable[DataFrame]) -> DataFrame:
    """All rows of some frames of one shape."""
    return reduce(lambda one, other: one.union(other), frames)


def of_driver(spark: SparkSession, batches: Iterable[pa.RecordBatch]) -> DataFrame:
    """Rows of `rows.SHAPE` that the driver has made. Spark would cut them into partitions anywhere, also within a file."""
    import pyarrow as pa

    if version(spark) < TAKES_ARROW_FROM:
        return spark.createDataFrame(list(rows.tuples(batches)), rows.SHAPE).coalesce(1)
    # Else Python, begun for it, would hand each of them to Java.
    return spark.createDataFrame(pa.Table.from_batches(batches, rows.schema()), rows.SHAPE).coalesce(1)


def partition_number() -> int:
    """On an executor: the number of the partition that is computed."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None, "asked on the driver"
    return int(context.partitionId())
