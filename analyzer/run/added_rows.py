"""The rows of an addition to a dataset that grows: read, resolved, divided by day and put at their place, hidden. `additions`
commits.

Here processes of this machine do it; executors of Spark are another `Way` (`analyzer.spark.adding`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from analyzer.base.tables import TABLES
from analyzer.distributed.open_connections import UNSETTLED, Carried, can_continue, known
from analyzer.inputs.sources import InputError
from analyzer.query import growing, resolve
from analyzer.query.dataset import DatasetError
from analyzer.query.exported import hidden
from analyzer.query.partitions import MERGED, Order
from analyzer.query.table_views import parquet
from analyzer.run import run_sql
from analyzer.run.divided_rows import divided, open_rows
from analyzer.run.local import dataset_of

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.base.workers import Progress
    from analyzer.ingest.run_tables import Run
    from analyzer.inputs.readings import Reading
    from analyzer.inputs.sources import Source
    from analyzer.query.dataset import Dataset
    from analyzer.query.dataset_places import Place
    from analyzer.query.growing import AddedRun, Manifest, Written


@dataclass(frozen=True)
class Work:
    """What a run of this `name` reads and writes. `to`: the place as a person names it; `last`: the run whose open connections it
    goes on with, of those that the dataset had `before`; `errors`: inputs that were not found; `strict`: a capture that cannot be
    read, or is damaged, is an InputError. `folder` is for what is made on the way."""

    to: str
    place: Place
    before: Manifest
    last: AddedRun | None
    name: str
    sources: Sequence[Source]
    options: Options
    errors: tuple[str, ...]
    strict: bool
    folder: Path

    def carried(self, names: Collection[str] | None = None) -> Carried:
        """What earlier runs kept, here: all of it, or files of these names. Raises DatasetError where it cannot be read."""
        if self.last is None:
            return Carried(None)
        state = growing.get_state(self.place, self.last.run, self.folder / "carried", names)
        if not can_continue(state):
            raise DatasetError(
                f"{self.place}: kanalyze {self.last.kanalyze} kept its open connections in a form that this one does not read; "
                "go on with that one, or add to a new dataset and name both: they are asked as one"
            )
        return Carried(state, self.last.next_file, self.last.next_split)

    def earlier(self) -> dict[str, list[Path]]:
        """Table of MERGED -> its files of the run before, here."""
        return {table: list(self._files(table)) for table in MERGED}

    def _files(self, table: str) -> Iterator[Path]:
        for number, file in enumerate(self.last.files.get(table, ()) if self.last else ()):
            path = self.folder / f"{table}{number}.parquet"
            is_visible = file.file in self.before.names()
            self.place.get(file.file if is_visible else hidden(file.file), path)
            yield path


class Done(NamedTuple):
    """What came of it: files by table or sums, those of them with rows that the next run gives anew, and what was read."""

    files: dict[str, list[Written]]
    open_files: frozenset[str]
    readings: list[Reading]
    warnings: tuple[str, ...]
    failed: bool


class Way(Protocol):
    """Who reads and writes."""

    def run(self, work: Work) -> Done:
        """Its files lie hidden at the place then, and what was kept of open connections in the state of the run. Raises
        InputError, DatasetError, and OSError for the place."""


class Here:
    """Processes of this machine."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress

    def run(self, work: Work) -> Done:
        """As in Way."""
        from analyzer.distributed import pool

        carried, earlier = work.carried(), work.earlier()
        read: list[tuple[Path, Run]] = []

        def run(folder: Path) -> Run:
            made = pool.plan_for(work.sources, work.options, carried.first_split)
            read.append((folder, pool.read_on(made, folder, work.options, carried, self._progress)))
            return read[0][1]

        views = known_before(earlier, carried)
        with dataset_of(run, work.options, list(work.errors), bool(work.errors), carried.behind, views) as dataset:
            if work.strict and dataset.failed:
                raise InputError("\n".join(dataset.warnings))
            ((folder, done),) = read
            kept = pool.keep_open(folder, done)
            for name, sql in known(folder / UNSETTLED).items():
                run_sql.copied(dataset, sql, kept / f"{name}.parquet")
            growing.put_state(work.place, work.name, kept)
            files, open_files = _write(dataset, folder / UNSETTLED, carried, earlier, work)
            return Done(files, open_files, done.readings, dataset.warnings, dataset.failed)


def _write(
    dataset: Dataset, unsettled: Path, carried: Carried, earlier: dict[str, list[Path]], work: Work
) -> tuple[dict[str, list[Written]], frozenset[str]]:
    written = work.folder / "written"
    written.mkdir()
    keys = work.folder / "open_connections.parquet"
    run_sql.copied(dataset, open_rows(unsettled), keys)
    order = Order(work.name, written, parquet([keys]), carried.first_file, earlier)
    files: dict[str, list[Written]] = {}
    open_files = set()
    for name, (file, is_open) in divided(dataset, TABLES, order):
        work.place.put(written / file.file, hidden(file.file))
        files.setdefault(name, []).append(file)
        if is_open:
            open_files.add(file.file)
    return files, frozenset(open_files)


def known_before(earlier: Mapping[str, Sequence[Path]], carried: Carried) -> dict[str, str]:
    """Views of `resolve` that have what earlier captures said, too: name -> SQL."""
    views = _told_names(earlier)
    for name, view in (("known_clusters", "earlier_clusters"), ("known_nodes", "earlier_nodes")):
        if path := carried.known(name):
            views[view] = parquet([path])
    if path := carried.known("own_assignments"):
        views["own_assignments"] = f"({resolve.sql('own_assignments')}) UNION ({parquet([path])})"
    return views


def _told_names(earlier: Mapping[str, Sequence[Path]]) -> dict[str, str]:
    if not earlier["topic_ids"]:
        return {}
    rows = (
        "SELECT topic_id, max(topic) AS topic FROM (SELECT topic_id, topic FROM raw_topic_facts "
        f"UNION ALL SELECT topic_id, topic FROM ({parquet(earlier['topic_ids'])})) GROUP BY topic_id"
    )
    return {"told_names": rows}
