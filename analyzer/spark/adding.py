"""What is new among captures, read by executors and added to a dataset that grows.

The rules are those of `analyzer.run.additions`. Executors read, stitch with what was kept of open connections, resolve, and write
files by day with their sums, and what stays open. The driver is told what is small, as for new tables, decides which connections
stay open, and commits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base.options import Options
from analyzer.base.storage.addresses import is_storage_uri
from analyzer.distributed.open_connections import FLOWS, KNOWN, OF_DRIVER, PARTS, keep_small
from analyzer.distributed.plan import TARGET_BYTES, plan
from analyzer.inputs.sources import InputError
from analyzer.names.given_names import names_of
from analyzer.query import growing, partitions
from analyzer.run import additions
from analyzer.run.added_rows import Done, Work
from analyzer.run.additions import Added
from analyzer.spark import dataflow, sink
from analyzer.spark.final import Growing, resolve
from analyzer.spark.job import for_everywhere, judged
from analyzer.spark.reading import Before, Read, read
from analyzer.spark.session import prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from analyzer.names.name_table import Names

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
    """`analyzer.run.additions.add`, by executors, which read tasks of about `task_bytes`. Raises what that raises, and SparkError
    when Spark fails."""
    prepare(spark)
    way = _Executors(spark, task_bytes, tell)
    return additions.add(
        inputs, to, options or Options(), tell, replace_from_ns=replace_from_ns, way=way, strict=strict
    )


class _Executors:
    """A `Way`."""

    def __init__(self, spark: SparkSession, task_bytes: int, tell: Tell) -> None:
        self._spark = spark
        self._task_bytes = task_bytes
        self._tell = tell

    def run(self, work: Work) -> Done:
        """As in Way. Raises InputError for a plan that many machines cannot share, too."""
        names = names_of(work.options)
        carried = work.carried(OF_DRIVER)
        sources = [for_everywhere(source) for source in work.sources]
        made = plan(sources, self._task_bytes, work.options.taps, carried.first_split)
        if made.refusal:
            raise InputError(made.refusal)
        to = work.to if is_storage_uri(work.to) else str(Path(work.to).absolute())
        before = Before(to, work.last.run) if work.last else None
        done = read(self._spark, made, work.options, self._tell, before)
        try:
            warnings, failed = judged(done, work.options, names, work.errors, bool(work.errors), work.strict)
            here = work.folder / "resolved"
            here.mkdir()
            files = self._write(work, done, names, Growing(work.name, carried, work.earlier(), here), to)
        finally:
            done.close()
        open_files = {
            file.file for table, written in files.items() for file in written if partitions.is_open(table, file.file)
        }
        return Done(files, frozenset(open_files), done.readings, warnings, failed)

    def _write(
        self, work: Work, done: Read, names: Names | None, grown: Growing, to: str
    ) -> dict[str, list[growing.Written]]:
        self._tell("resolving rows")
        final = resolve(self._spark, done, work.options, False, names, grown)
        try:
            self._tell("writing what is new")
            sink.write_hidden(final, to)
        finally:
            final.close()
        self._tell("keeping open connections")
        chosen = {name: (grown.folder / name).read_bytes() for name in (FLOWS, PARTS)}
        rows = dataflow.keep_open(done.tasks, chosen, to, work.name, done.order)
        kept = work.folder / "kept"
        kept.mkdir()
        keep_small(grown.folder, done.summary, rows, kept)
        for name in KNOWN:
            (grown.folder / f"{name}.parquet").rename(kept / f"{name}.parquet")
        growing.put_state(work.place, work.name, kept)
        return final.files
