"""Raw tables of runs -> final tables, as files on the disks of the executors.

The driver is told what is small and makes facts of it (`analyzer.run.facts_of_runs`); with these the runs resolve their rows
where they are (`analyzer.run.resolved_runs`). Rows that must meet those of other runs move (`analyzer.run.moved_rows`): fetches
before, since the wait kinds of exchanges come of them, the others with the resolved rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base import temp_folders
from analyzer.base.tables import TABLES
from analyzer.distributed.open_connections import NOTHING_CARRIED, UNSETTLED, Carried, choose
from analyzer.query.export_tables import Written
from analyzer.query.partitions import Order, Partitioned
from analyzer.query.table_views import parquet
from analyzer.run import raw_views, resolved_runs
from analyzer.run.added_rows import known_before
from analyzer.run.divided_rows import OPEN_CONNECTIONS, of_files
from analyzer.run.facts_of_runs import STRAYS, Facts, Told, made_of
from analyzer.run.moved_rows import FETCHES
from analyzer.run.run_sql import Tables
from analyzer.spark import dataflow, rows, stages
from analyzer.spark.dataflow import Made, Stage

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from analyzer.base.options import Options
    from analyzer.names.name_table import Names
    from analyzer.spark.reading import Read

# Rows that meet in one partition, at most about so many.
MET_ROWS = 1_000_000


class Final:
    """Final tables as rows of `rows.SHAPE`, files named by their place in a dataset. `files`: of each table what its files hold,
    in the order of time, and of sums, where the dataset grows; `sums`: by name, about how many rows sums of the exchanges would
    have at least."""

    def __init__(
        self, made: Sequence[Made], of_driver: DataFrame, files: Mapping[str, list[Written]], sums: Counter[str]
    ) -> None:
        self.sums: Counter[str] = sum((each.sums for each in made), sums)
        self._made = made
        self.frame = dataflow.union([*(each.frame for each in made), of_driver]).where(f"table LIKE '{rows.FINAL}%'")
        self.files = {
            table: sorted(
                (file for each in (files, *(one.files for one in made)) for file in each.get(table, ())),
                key=lambda file: (file.first_time_ns or 0, file.file),
            )
            for table in {**dict.fromkeys(TABLES), **dict.fromkeys(chain(files, *(one.files for one in made)))}
        }

    def close(self) -> None:
        """Gives the disks back."""
        for each in self._made:
            each.close()


class Growing(NamedTuple):
    """The dataset to which final tables are added by the run of this `name`: what earlier runs `carried`, and their files of tables
    that every run says more about (`partitions.MERGED`). What the driver makes stays in `folder`: also which connections are open
    (`open_connections.choose`), and the small tables that are kept with these."""

    name: str
    carried: Carried
    earlier: Mapping[str, Sequence[Path]]
    folder: Path


def resolve(
    spark: SparkSession, done: Read, options: Options, by_day: bool, names: Names | None, growing: Growing | None = None
) -> Final:
    """All final tables; exchanges in a directory for each day (UTC) on request, or all as files of a dataset that grows. `names`
    are those of addresses."""
    if growing:
        return _Resolution(spark, done, options, growing.folder, names, growing).run(by_day)
    folder = temp_folders.make(options.temp_dir)
    try:
        return _Resolution(spark, done, options, folder, names, growing).run(by_day)
    finally:
        temp_folders.remove(folder)


class _Resolution:
    """`folder` is the driver's, for what it is told and what it makes of it."""

    def __init__(
        self,
        spark: SparkSession,
        done: Read,
        options: Options,
        folder: Path,
        names: Names | None,
        growing: Growing | None,
    ) -> None:
        self._spark = spark
        self._stages: Sequence[Stage] = done.stages
        self._order = done.order
        self._options = options
        self._folder = folder
        self._names = names
        self._growing = growing
        self._runs = [run for stage in done.stages for run in stage.done]
        for stage in done.stages:
            stage.keep_told(folder)
        self._told = Told(folder, self._runs, done.readings, done.summary)
        strays = folder / str(STRAYS)
        folders = self._told.folders()
        signs = raw_views.made_of(done.summary)
        self._strays = strays if resolved_runs.collect_strays(folders, strays, signs, options) else None
        self._made = made_of(self._told)
        self._rows: Counter[str] = sum((each.rows for stage in done.stages for each in stage.done.values()), Counter())
        self._of_driver: list[pa.RecordBatch] = []
        if growing:
            choose([folder / str(run) for run in done.stitched], folder)

    def run(self, by_day: bool) -> Final:
        self._form = stages.Form(by_day, self._growing.name if self._growing else None)
        given = self._given()
        with ExitStack() as undone:
            made: list[Made] = []

            def keep(found: Made) -> Made:
                undone.callback(found.close)
                made.append(found)
                return found

            if self._rows[FETCHES.view] or self._strays:
                states = keep(self._sessions(given)).states
                for run, pieces in states.items():
                    given[run]["fetch_states"] = _joined(pieces)
            moved = self._stray_rows(given)
            done = keep(self._resolved(given))
            if moved or done.moves:
                found = done.frame.where(f"table LIKE '{rows.MOVED}%'").union(dataflow.of_driver(self._spark, moved))
                keep(dataflow.meet(found, self._for_all, self._made, self._form, self._late_buckets(), self._order))
            told = [*rows.tuples(self._of_driver)]
            of_driver = dataflow.of_driver(self._spark, self._of_driver)
            final = Final(made, of_driver, dataflow.written(told), dataflow.rows_of_sums(told))
            undone.pop_all()
            return final

    def _given(self) -> dict[int, Tables]:
        """What each run is given. What the driver can make of facts alone it makes here."""
        with self._facts() as facts:
            self._for_all = facts.for_all()
            if self._growing:
                self._for_all[OPEN_CONNECTIONS] = facts.open_connections(self._folder / UNSETTLED)
                facts.keep_known(self._folder / UNSETTLED, self._folder)
                files = self._divided(self._growing, facts)
                self._of_driver += stages.divided_rows(files, 0)
            else:
                for name, part in facts.final():
                    self._of_driver += stages.final_rows(name, "d", 0, part)
            return {run: self._for_all | facts.for_run(run) for run in self._all_runs()}

    def _divided(self, growing: Growing, facts: Facts) -> Iterator[tuple[str, Partitioned, Path]]:
        """The tables that the driver makes alone, as files of the dataset."""
        files = {table: self._folder / f"final_{table}.parquet" for table, _ in facts.final()}
        open_keys = self._folder / f"{OPEN_CONNECTIONS}.parquet"
        open_keys.write_bytes(self._for_all[OPEN_CONNECTIONS])
        name = self._form.name("d", 0)
        order = Order(name, self._folder / "divided", parquet([open_keys]), growing.carried.first_file, growing.earlier)
        for table, file in of_files(files, order, self._options):
            yield table, file, order.folder / file.file.file

    def _all_runs(self) -> list[int]:
        return [*self._runs, *([STRAYS] if self._strays else [])]

    def _facts(self) -> Facts:
        carried = self._growing.carried if self._growing else NOTHING_CARRIED
        named = known_before(self._growing.earlier, carried) if self._growing else {}
        found = Facts(self._told, self._options, (), carried, named, self._names)
        if not found.seen_again:
            return found
        with found as first:
            given = {run: first.asked_parts(run) for run in self._all_runs()}
        times = dataflow.view_times(self._stages, given, self._made, self._order)
        if self._strays:
            with resolved_runs.Run(self._strays, STRAYS, self._made, given[STRAYS], self._options) as run:
                times.append(run.view_times())
        paths = [self._folder / f"view_times_{place}.parquet" for place in range(len(times))]
        for path, data in zip(paths, times, strict=True):
            path.write_bytes(data)
        return Facts(self._told, self._options, paths, carried, named, self._names)

    def _sessions(self, given: Mapping[int, Tables]) -> Made:
        buckets = 1 + self._rows[FETCHES.view] // MET_ROWS
        moved = dataflow.leaving(self._stages, given, self._made, buckets, self._order)
        if self._strays:
            with resolved_runs.Run(self._strays, STRAYS, self._made, given[STRAYS], self._options) as run:
                strays = list(stages.leaving(run, (FETCHES,), buckets))
            moved = moved.union(dataflow.of_driver(self._spark, strays))
        return dataflow.meet(moved, self._for_all, self._made, self._form, buckets, self._order)

    def _stray_rows(self, given: Mapping[int, Tables]) -> list[pa.RecordBatch]:
        """Resolves the run of strays here; answers what of it moves."""
        if not self._strays:
            return []
        made = stages.resolved(
            self._strays, STRAYS, given[STRAYS], self._made, self._form, self._late_buckets(), self._options
        )
        moved: list[pa.RecordBatch] = []
        for batch in made:
            (moved if batch["table"][0].as_py().startswith(rows.MOVED) else self._of_driver).append(batch)
        return moved

    def _resolved(self, given: Mapping[int, Tables]) -> Made:
        return dataflow.resolve(self._stages, given, self._made, self._form, self._late_buckets(), self._order)

    def _late_buckets(self) -> int:
        """Nobody knows before how many exchanges lie on connections that were throttled: few, mostly."""
        return 1 + max(self._rows["raw_errors"] // MET_ROWS, self._rows["raw_exchanges"] // (8 * MET_ROWS))


def _joined(pieces: Sequence[bytes]) -> bytes:
    """Parquet files of the same columns as one."""
    if len(pieces) == 1:
        return pieces[0]
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.concat_tables([pq.read_table(pa.BufferReader(data)) for data in pieces]), sink, compression="zstd"
    )
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
