"""The job: captures -> tables as DataFrames.

plan --read--> raw tables, fragments --by connection--> stitch --> raw tables --resolve (`final`)--> final tables
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.distributed.plan import TARGET_BYTES, Plan, plan
from analyzer.ingest.tls_facts import read_key_logs
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.expansion import expand
from analyzer.inputs.sources import InputError, Source
from analyzer.names.given_names import names_of
from analyzer.query.days import DAY_NS
from analyzer.run import additions
from analyzer.run.warnings import input_warnings, is_unreadable, limit_warnings, passed_over_warning, secret_warnings
from analyzer.spark import statistics
from analyzer.spark.final import Final, resolve
from analyzer.spark.on_driver import Answers
from analyzer.spark.reading import Read, read
from analyzer.spark.session import prepare
from analyzer.spark.views import made_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from analyzer.names.name_table import Names

    Tell = Callable[[str], None]


@dataclass(frozen=True)
class Planned:
    """What a run will do. `warnings` of what was found on the way; `failed`: some input is none."""

    plan: Plan
    options: Options
    warnings: tuple[str, ...] = ()
    failed: bool = False


def planned(
    inputs: Sequence[str],
    options: Options,
    task_bytes: int = TARGET_BYTES,
    into: str | None = None,
    replace_from_ns: int | None = None,
) -> Planned:
    """Finds the captures and divides them into tasks of about `task_bytes`. `into` is a dataset that grows: then only what adding
    to it would read. Raises InputError when there is no capture."""
    found = expand(inputs)
    warnings = [str(error) for error in found.errors]
    if not found.sources:
        raise InputError("\n".join(warnings))
    sources = [for_everywhere(source) for source in found.sources]
    if into is not None:
        sources, known = additions.not_read_yet(sources, into, options, replace_from_ns)
        warnings += [f"{into} has {known:,} of the captures; they are not read again"] if known else []
    failed = bool(found.errors)
    if found.passed_over:
        warnings.append(passed_over_warning(found.passed_over))
    made = plan(in_time_order(sources), task_bytes, options.taps)
    return Planned(made, options, tuple(warnings), failed)


def for_everywhere(source: Source) -> Source:
    """The source as a process with another working directory finds it."""
    if source.size_bytes is None:
        raise InputError(
            f"{source.name}: a pipe can be read by one process only; save it to a file that all machines can read"
        )
    return source if source.path is None else replace(source, path=source.path.absolute())


class Tables(Mapping[str, "DataFrame"]):
    """The final tables by name, as a mapping or, but for `errors`, as attributes: `tables.exchanges`.

    `sql` asks them in Spark SQL; `latency`, `throttle` and `errors` (`analyzer.spark.statistics`) add up their rows by any keys;
    `metric` and `findings` are those of kanalyze, which the local engine answers on the driver (`analyzer.spark.on_driver`).
    `warnings` are lines that a person must see; `failed` says that some input could not be read; `inputs` are the captures in
    the order of reading, of `captured_bytes` in all, `unread` of them no captures; `stages` hold what every run told; `final`
    the tables as files, before filters; `several_days`: captures touch more than one day (UTC). `close`, or the end of a `with`,
    gives the disks of the executors back; then nothing can be asked any more.
    """

    def __init__(
        self,
        spark: SparkSession,
        final: Final,
        done: Read,
        options: Options,
        several_days: bool,
        warnings: Sequence[str],
        failed: bool,
    ) -> None:
        self._views = made_tables(spark, final, options.filters)
        self._done = done
        self.final = final
        self.filtered = bool(options.filters)
        self.several_days = several_days
        self.warnings = tuple(warnings)
        self.failed = failed
        self.stages = done.stages
        self.inputs = [reading.source.name for reading in done.files]
        self.captured_bytes = sum(reading.bytes for reading in done.files)
        self.unread = sum(reading.failure is not None for reading in done.files)
        self._answers = Answers(spark, final, self.inputs, options)
        self.sql = self._views.sql
        self.metric = self._answers.metric
        self.findings = self._answers.findings
        self.latency = partial(statistics.latency, self._views)
        self.throttle = partial(statistics.throttle, self._views)
        self.errors = partial(statistics.errors, self._views)

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

    def written(self, place: str) -> None:
        """All tables, without filters, are a dataset at a place now: there they are asked."""
        self._answers.written(place)

    def close(self) -> None:
        """Gives back what is kept on disks."""
        self._answers.close()
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
    """The same for what is planned already. Raises InputError for a plan that many machines cannot share, and NamesError."""
    if given.plan.refusal:
        raise InputError(given.plan.refusal)
    names = names_of(given.options)
    prepare(spark)
    done = read(spark, given.plan, given.options, tell)
    try:
        return _tables(spark, given, done, names, strict)
    except BaseException:
        done.close()
        raise


def judged(
    done: Read, options: Options, names: Names | None, warnings: Sequence[str], failed: bool, strict: bool
) -> tuple[tuple[str, ...], bool]:
    """The lines that a person must see, behind those of what came before, and whether some input could not be read. Raises
    InputError when none was, or, `strict`, one."""
    lines = [line for reading in done.files for line in input_warnings(reading)]
    failed = failed or any(is_unreadable(reading) for reading in done.files)
    if (strict and failed) or all(reading.failure for reading in done.files):
        raise InputError("\n".join([*warnings, *lines]))
    secrets = secret_warnings(read_key_logs(options.tls_key_logs))
    of_names = names.warnings() if names else ()
    return (*warnings, *lines, *limit_warnings(done.summary), *secrets, *of_names), failed


def _tables(spark: SparkSession, given: Planned, done: Read, names: Names | None, strict: bool) -> Tables:
    warnings, failed = judged(done, given.options, names, given.warnings, given.failed, strict)
    times = (time for each in done.files for time in (each.first_time_ns, each.last_time_ns) if time is not None)
    several_days = len({time // DAY_NS for time in times}) > 1
    final = resolve(spark, done, given.options, several_days, names)
    return Tables(spark, final, done, given.options, several_days, warnings, failed)
