"""What is new among captures, read by executors and added to a dataset that grows.

The rules are those of `analyzer.run.additions`: here is only who reads. Executors read tasks, by far most of the work; the driver
stitches what tasks left with what was kept of open connections, resolves the new rows, writes them and commits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base.options import Options
from analyzer.distributed.plan import TARGET_BYTES, Plan, Task, plan
from analyzer.inputs.sources import InputError
from analyzer.run import additions
from analyzer.run.additions import Added
from analyzer.spark import dataflow, stages
from analyzer.spark.job import for_everywhere
from analyzer.spark.session import prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from analyzer.distributed.tasks import Outcome
    from analyzer.inputs.sources import Source

    Tell = Callable[[str], None]


def add(
    spark: SparkSession,
    inputs: Sequence[str],
    to: str,
    options: Options | None = None,
    task_bytes: int = TARGET_BYTES,
    strict: bool = False,
    tell: Tell = lambda _: None,
    replace_from_ns: int | None = None,
) -> Added:
    """`analyzer.run.additions.add`, with executors as readers of tasks of about `task_bytes`. Raises what that raises, and
    SparkError when Spark fails."""
    prepare(spark)
    reader = _Executors(spark, task_bytes, tell)
    return additions.add(
        inputs, to, options or Options(), tell, replace_from_ns=replace_from_ns, reader=reader, strict=strict
    )


class _Executors:
    """A `TaskReader`."""

    def __init__(self, spark: SparkSession, task_bytes: int, tell: Tell) -> None:
        self._spark = spark
        self._task_bytes = task_bytes
        self._tell = tell

    def plan(self, sources: Sequence[Source], options: Options, first_split: int) -> Plan:
        """Raises InputError for a plan that many machines cannot share."""
        made = plan([for_everywhere(source) for source in sources], self._task_bytes, options.taps, first_split)
        if made.refusal:
            raise InputError(made.refusal)
        return made

    def read(
        self,
        tasks: Sequence[Task],
        options: Options,
        raw_flows: Mapping[int, frozenset[int]],
        folder_of: Callable[[int], Path],
    ) -> Iterator[tuple[int, Outcome]]:
        """As in TaskReader."""
        self._tell(f"reading {len(tasks):,} tasks")
        order = stages.order(options)
        places = {task.number: place for place, task in enumerate(tasks)}
        for number, done in dataflow.hand_over(self._spark, tasks, order, raw_flows, folder_of):
            yield places[number], done.outcome
