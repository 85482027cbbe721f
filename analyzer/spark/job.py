"""The job: captures -> tables as DataFrames.

    plan --read--> raw tables, fragments --by connection--> stitch --> raw tables --resolve (`final`)--> final tables

What a run guessed is proved here from what the runs tell: where a part of a file begins (`analyzer.distributed.plan`),
where a frame begins (`analyzer.distributed.tasks.stitch`). What is refuted is read again, and nothing of the first try
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.distributed.plan import TARGET_BYTES, Plan, plan
from analyzer.distributed.plan_repair import repaired
from analyzer.ingest.run_tables import by_file
from analyzer.ingest.tls_facts import read_key_logs
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.expansion import expand
from analyzer.inputs.sources import InputError, Source
from analyzer.run.warnings import input_warnings, is_unreadable, limit_warnings, passed_over_warning, secret_warnings
from analyzer.spark import dataflow, stages
from analyzer.spark.dataflow import Stage
from analyzer.spark.final import Final, resolve
from analyzer.spark.session import prepare
from analyzer.spark.views import made_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from analyzer.ingest.summary import Summary
    from analyzer.inputs.readings import Reading

    Tell = Callable[[str], None]

DAY_NS = 86_400_000_000_000


@dataclass(frozen=True)
class Planned:
    """What a run will do. `warnings` of what was found on the way; `failed`: some input is none."""

    plan: Plan
    options: Options
    warnings: tuple[str, ...] = ()
    failed: bool = False


def planned(inputs: Sequence[str], options: Options, task_bytes: int = TARGET_BYTES) -> Planned:
    """Finds the captures and divides them into tasks of about `task_bytes`. Raises InputError when there is none."""
    found = expand(inputs)
    warnings = [str(error) for error in found.errors]
    sources = [_for_everywhere(source) for source in found.sources]
    if not sources:
        raise InputError("\n".join(warnings))
    failed = bool(warnings)
    if found.passed_over:
        warnings.append(passed_over_warning(found.passed_over))
    made = plan(in_time_order(sources), task_bytes, options.taps)
    return Planned(made, options, tuple(warnings), failed)


def _for_everywhere(source: Source) -> Source:
    """The source as a process with another working directory finds it."""
    if source.size_bytes is None:
        raise InputError(
            f"{source.name}: a pipe can be read by one process only; save it to a file that all machines see"
        )
    return source if source.path is None else replace(source, path=source.path.absolute())


class Tables(Mapping[str, "DataFrame"]):
    """The final tables by name, as a mapping or as attributes: `tables.exchanges`; `sql`, `metric`, `findings` ask them.

    `warnings` are lines that a person must see; `failed` says that some input could not be read; `inputs` are the captures in
    the order of reading; `stages` hold what every run told; `final` the tables as files, before filters; `several_days`:
    captures touch more than one day (UTC). `close`, or the end of a `with`, gives the disks of the executors back; then nothing
    can be asked any more.
    """

    def __init__(
        self,
        spark: SparkSession,
        final: Final,
        done: Read,
        filters: Filters,
        several_days: bool,
        warnings: Sequence[str],
        failed: bool,
    ) -> None:
        self._views = made_tables(spark, final, filters)
        self._done = done
        self.final = final
        self.filtered = bool(filters)
        self.several_days = several_days
        self.warnings = tuple(warnings)
        self.failed = failed
        self.stages = done.stages
        self.inputs = [reading.source.name for reading in done.files]
        self.sql = self._views.sql
        self.metric = self._views.metric
        self.findings = self._views.findings

    def __getitem__(self, name: str) -> DataFrame:
        return self._views[name]

    def __getattr__(self, name: str) -> DataFrame:
        if name not in TABLES:
            raise AttributeError(name)
        return self._views[name]

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)

    def close(self) -> None:
        """Gives back what is kept on disks."""
        self._views.close()
        self.final.close()
        self._done.close()

    def __enter__(self) -> Tables:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def tables(
    spark: SparkSession,
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    task_bytes: int = TARGET_BYTES,
    strict: bool = False,
    tell: Tell = lambda _: None,
    **options: Any,
) -> Tables:
    """The final tables of captures, as DataFrames.

    `paths` are paths that all machines see, directories, globs, URIs; `options` fields of
    `analyzer.base.options.Options`. A capture that is damaged is told in `Tables.warnings`; `strict`: it raises. `tell`
    hears a line at each step. Raises InputError when nothing could be read, SparkError when Spark fails.
    """
    names = [paths] if isinstance(paths, str | PathLike) else list(paths)
    return run(spark, planned([fspath(name) for name in names], Options(**options), task_bytes), strict, tell)


def run(spark: SparkSession, given: Planned, strict: bool = False, tell: Tell = lambda _: None) -> Tables:
    """The same for what is planned already."""
    prepare(spark)
    done = read(spark, given, tell)
    try:
        return _tables(spark, given, done, strict)
    except BaseException:
        done.close()
        raise


def _tables(spark: SparkSession, given: Planned, done: Read, strict: bool) -> Tables:
    lines = [line for reading in done.files for line in input_warnings(reading)]
    failed = given.failed or any(is_unreadable(reading) for reading in done.files)
    if (strict and failed) or all(reading.failure for reading in done.files):
        raise InputError("\n".join([*given.warnings, *lines]))
    lines += [*limit_warnings(done.summary), *secret_warnings(read_key_logs(given.options.tls_key_logs))]
    times = (time for each in done.files for time in (each.first_time_ns, each.last_time_ns) if time is not None)
    several_days = len({time // DAY_NS for time in times}) > 1
    final = resolve(spark, done, given.options, several_days)
    return Tables(spark, final, done, given.options.filters, several_days, [*given.warnings, *lines], failed)


class Read:
    """What both stages gave: rows that are kept, readings in the order of files and splits, and the sum of all summaries."""

    def __init__(self, stages_kept: Sequence[Stage], plan_done: Plan, order: stages.Order) -> None:
        self.plan = plan_done
        self.order = order
        self.stages = stages_kept
        outcomes = [done.outcome for stage in stages_kept for done in stage.done.values()]
        self.readings: list[Reading] = [reading for outcome in outcomes for reading in outcome.readings]
        self.files: list[Reading] = by_file(self.readings)
        self.summary: Summary = reduce(add, (outcome.summary for outcome in outcomes))

    def close(self) -> None:
        """Gives the disks back."""
        for stage in self.stages:
            stage.close()


def read(spark: SparkSession, given: Planned, tell: Tell) -> Read:
    """Both stages, until nothing is refuted any more."""
    reader = _Reader(spark, given.options, tell)
    try:
        return reader.run(given.plan)
    except BaseException:
        reader.close()
        raise


class _Reader:
    """Reads tasks, proves, and reads again."""

    def __init__(self, spark: SparkSession, options: Options, tell: Tell) -> None:
        self._spark = spark
        self._order = stages.order(options)
        self._tell = tell
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
        return Read([*self._read, self._stitched], made, self._order)

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
        self._stitched = dataflow.stitch(self._read, self._order, secrets)
        refuted = [pair for done in self._stitched.done.values() for pair in done.outcome.refuted]
        for task, flow in refuted:
            self._raw_flows[task] = self._raw_flows.get(task, frozenset()) | {flow}
        return frozenset(task for task, _ in refuted)

    def close(self) -> None:
        for stage in (*self._read, *([self._stitched] if self._stitched else [])):
            stage.close()
