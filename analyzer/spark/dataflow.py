"""The two stages as DataFrames: tasks -> rows, fragments -> rows, rows -> raw tables. Only public calls: Connect has them all.

What a stage gives is kept on the disks of the executors, so that it is never computed twice.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

from analyzer.ingest.facts.fact_tables import FACT_TABLES
from analyzer.run.raw_views import RESOLVED_IN_TASKS
from analyzer.spark import rows, stages
from analyzer.spark.session import told

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from analyzer.distributed.plan import Task
    from analyzer.spark.stages import Done

# Bodies that tell the same have the same number in every run, so several runs may write the same fact.
OF_BODIES = tuple(name for name, columns in FACT_TABLES.items() if columns[0][0] == "body")
ROWS_PER_TASK = 200_000
BYTES_PER_TASK = 256 << 20
# Packed fragments of one partition of the stitch.
STITCHED_BYTES = 8 << 20
MOST_PARTITIONS = 10_000
# Rows of `joined` that each executor can hold.
MOST_BROADCAST = 4_000_000
RAW_TABLES = (*rows.OF_RUNS, *FACT_TABLES)

OF_TASKS = (*RESOLVED_IN_TASKS, *(name for name, columns in FACT_TABLES.items() if ("part", "int64") in columns))


class Stage:
    """Rows of `rows.SHAPE` that were computed and kept; `done`: number of a run -> what it tells."""

    def __init__(self, frame: DataFrame, order: stages.Order) -> None:
        from pyspark import StorageLevel

        self._forgotten: set[int] = set()
        self.frame = frame.persist(StorageLevel.DISK_ONLY)
        try:
            with told():
                chosen = self.frame.where(f"table = '{rows.OUTCOME}'").select("task", "batch").collect()
        except BaseException:
            self.close()
            raise
        self.done: dict[int, Done] = {task: stages.opened(bytes(data), order) for task, data in chosen}

    def forget(self, runs: Collection[int]) -> None:
        """Leaves out what some runs gave."""
        self._forgotten.update(runs)
        for run in runs:
            self.done.pop(run, None)

    def rows(self) -> DataFrame:
        """The rows of the runs that are not forgotten."""
        left_out = ", ".join(map(str, sorted(self._forgotten)))
        return self.frame.where(f"task NOT IN ({left_out})") if left_out else self.frame

    def close(self) -> None:
        """Gives the disks back."""
        self.frame.unpersist()


def read(
    spark: SparkSession, tasks: Sequence[Task], order: stages.Order, raw_flows: Mapping[int, frozenset[int]]
) -> Stage:
    """Stage 1: each task in a partition of its own. `raw_flows`: number of a task -> flows of which all leaves raw."""
    pickled = [pickle.dumps((task, raw_flows.get(task.number, frozenset()))) for task in tasks]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return stages.read(batches, pickled, order)

    return Stage(spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(run, rows.SHAPE), order)


def stitch(
    spark: SparkSession, kept: Sequence[Stage], order: stages.Order, secrets: Sequence[tuple[int, bytes]]
) -> Stage:
    """Stage 2: each connection's fragments together, in the order of the capture. `secrets`: of TLS, as captures bring them."""
    size = sum(done.bytes[rows.FRAGMENTS] for stage in kept for done in stage.done.values())
    # Spark does not fit the number of partitions to what there is where the result is to be kept.
    partitions = min(1 + size // STITCHED_BYTES, MOST_PARTITIONS)
    together = table(spark, kept, rows.FRAGMENTS).repartition(partitions, "flow").sortWithinPartitions("flow", "number")

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return stages.stitch(batches, partition_number(), order, secrets)

    return Stage(together.mapInArrow(run, rows.SHAPE), order)


def partition_number() -> int:
    """On an executor: the number of the partition that is computed."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None, "asked on the driver"
    return int(context.partitionId())


def table(spark: SparkSession, kept: Sequence[Stage], name: str) -> DataFrame:
    """One raw table (its name without `raw_`), or the fragments, out of what stages gave."""
    columns = rows.ddl(rows.schema(name))
    runs = [done for stage in kept for done in stage.done.values()]
    count = sum(done.rows[name] for done in runs)
    if not count:
        return spark.createDataFrame([], columns)
    packed = reduce(lambda one, other: one.union(other), (stage.rows() for stage in kept)).where(f"table = '{name}'")
    if name != rows.FRAGMENTS:
        # All that is kept is looked through for each table: by few tasks where there is little.
        packed = packed.coalesce(
            -(-count // ROWS_PER_TASK) + sum(sum(done.bytes.values()) for done in runs) // BYTES_PER_TASK
        )
    found = packed.select("batch").mapInArrow(partial(_unpacked, name=name), columns)
    return found.distinct() if name in OF_BODIES else found


def raw_tables(spark: SparkSession, kept: Sequence[Stage]) -> dict[str, DataFrame]:
    """The raw tables that runs write, by their names without `raw_`, rows of tasks under the parts that the stitch gave them."""
    frames = {name: table(spark, kept, name) for name in RAW_TABLES}
    joined = frames.pop("joined")
    count = sum(done.rows["joined"] for stage in kept for done in stage.done.values())
    if count:
        # Spark does not know how few they are.
        joined = joined.hint("broadcast") if count <= MOST_BROADCAST else joined
        for name in OF_TASKS:
            columns = ("coalesce(joined_to, part) AS part" if c == "part" else f"`{c}`" for c in frames[name].columns)
            frames[name] = frames[name].join(joined, "part", "left").selectExpr(*columns)
    return frames


def small(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A small table of the driver as a DataFrame."""
    values = [tuple(row.values()) for row in table.to_pylist()]
    return spark.createDataFrame(values, rows.ddl(table.schema))


def _unpacked(batches: Iterator[pa.RecordBatch], name: str) -> Iterator[pa.RecordBatch]:
    return rows.unpacked(batches, name)
