"""Captures -> runs: tasks are read and stitched until nothing that they guessed is refuted.

What a run guessed is proved here from what the runs tell: where a part of a file begins (`analyzer.distributed.plan`),
where a frame begins (`analyzer.distributed.tasks.stitch`). What is refuted is read again, and nothing of the first try
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from analyzer.distributed.plan import Plan
from analyzer.distributed.plan_repair import repaired
from analyzer.ingest.run_tables import by_file
from analyzer.ingest.summary import Summary, total
from analyzer.spark import dataflow, stages
from analyzer.spark.dataflow import Stage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from analyzer.base.options import Options
    from analyzer.inputs.readings import Reading

    Tell = Callable[[str], None]


class Read:
    """What both stages gave: rows that are kept, readings in the order of files and splits, and the sum of all summaries. `tasks`:
    the stages before the stitch; `stitched`: its runs."""

    def __init__(self, tasks: Sequence[Stage], stitched: Stage, plan_done: Plan, order: stages.Order) -> None:
        self.plan = plan_done
        self.order = order
        self.tasks = tasks
        self.stitched = list(stitched.done)
        self.stages = stages_kept = [*tasks, stitched]
        outcomes = [done.outcome for stage in stages_kept for done in stage.done.values()]
        self.readings: list[Reading] = [reading for outcome in outcomes for reading in outcome.readings]
        self.files: list[Reading] = by_file(self.readings)
        self.summary: Summary = total(outcome.summary for outcome in outcomes)

    def close(self) -> None:
        """Gives the disks back."""
        for stage in self.stages:
            stage.close()


class Before(NamedTuple):
    """What the newest run of a dataset kept of open connections: the place, and the name of the run."""

    place: str
    run: str


def read(spark: SparkSession, plan: Plan, options: Options, tell: Tell, before: Before | None = None) -> Read:
    """Both stages, until nothing is refuted any more; behind what was kept `before`."""
    reader = _Reader(spark, options, tell, before)
    try:
        return reader.run(plan)
    except BaseException:
        reader.close()
        raise


class _Reader:
    """Reads tasks, proves, and reads again."""

    def __init__(self, spark: SparkSession, options: Options, tell: Tell, before: Before | None) -> None:
        self._spark = spark
        self._order = stages.order(options)
        self._tell = tell
        self._before = [dataflow.bring(spark, before.place, before.run, self._order)] if before else []
        # Flows about which earlier runs turned out wrong: their tasks cannot be read again.
        self._begin_anew: set[int] = set()
        self._read: list[Stage] = []
        self._stitched: Stage | None = None
        self._raw_flows: dict[int, frozenset[int]] = {}

    def run(self, made: Plan) -> Read:
        again = frozenset(task.number for task in made.tasks)
        while again:
            while again:
                self._read_tasks(made, again)
                made, again = repaired(made, self._readings())
            again = self._stitch()
        assert self._stitched is not None
        return Read([*self._before, *self._read], self._stitched, made, self._order)

    def _read_tasks(self, made: Plan, numbers: frozenset[int]) -> None:
        kept = {task.number for task in made.tasks} - numbers
        for stage in self._read:
            stage.forget(set(stage.done) - kept)
        tasks = [task for task in made.tasks if task.number in numbers]
        self._tell(f"reading {'again ' if self._read else ''}{len(tasks):,} of {len(made.tasks):,} tasks")
        self._read.append(dataflow.read(self._spark, tasks, self._order, self._raw_flows))

    def _readings(self) -> list[Reading]:
        return [reading for stage in self._read for done in stage.done.values() for reading in done.outcome.readings]

    def _stitch(self) -> frozenset[int]:
        """Finishes what tasks left; answers the tasks that must be read again, because they were wrong in something."""
        if self._stitched is not None:
            self._stitched.close()
        self._tell("stitching connections")
        secrets = [secret for reading in self._readings() for secret in reading.secrets]
        tasks = [*self._before, *self._read]
        self._stitched = dataflow.stitch(tasks, self._order, secrets, frozenset(self._begin_anew))
        refuted = [pair for done in self._stitched.done.values() for pair in done.outcome.refuted]
        known = {task for stage in self._read for task in stage.done}
        if gone := {flow for task, flow in refuted if task not in known}:
            self._begin_anew |= gone
            return self._stitch()
        for task, flow in refuted:
            self._raw_flows[task] = self._raw_flows.get(task, frozenset()) | {flow}
        return frozenset(task for task, _ in refuted)

    def close(self) -> None:
        for stage in (*self._before, *self._read, *([self._stitched] if self._stitched else [])):
            stage.close()
