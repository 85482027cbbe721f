"""Small files of a dataset that grows become large ones: who adds every ten minutes has 144 files of each table a day.

Of runs that are not taken back any more, all but the last `growing.KEPT_RUNS`, the files of a day become one where they are many.
Rows stay as they are, and the manifest is the moment here too. Files with many rows are left: nothing is written again and again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base.tables import TABLES
from analyzer.query import growing, partitions
from analyzer.query.dataset import Dataset
from analyzer.query.export_tables import Written, copy_rows
from analyzer.query.exported import hidden
from analyzer.query.hours import SUMS, beside, copy_sums
from analyzer.query.table_views import parquet

if TYPE_CHECKING:
    from analyzer.query.dataset_places import Place
    from analyzer.query.growing import AddedRun, Manifest

# A day of a table may have so many small files of old runs.
MOST_FILES = 16


def compact(place: Place, manifest: Manifest, folder: Path) -> Manifest:
    """Joins small files where there are too many, and commits; answers the manifest then. `folder` is for what is made on the way.
    Raises DatasetError when somebody else has changed the dataset meanwhile, OSError for the place."""
    old, recent = manifest.runs[: -growing.KEPT_RUNS], manifest.runs[-growing.KEPT_RUNS :]
    gone: set[str] = set()
    made: dict[str, list[Written]] = defaultdict(list)
    for number, (table, directory, files) in enumerate(_too_many(old)):
        name = f"{directory}/part-{old[-1].run}-joined{number:03}.parquet"
        times = [each for file in files for each in (file.first_time_ns, file.last_time_ns) if each is not None]
        rows = sum(file.rows for file in files)
        joined = Written(name, rows, min(times, default=None), max(times, default=None))
        _join(place, table, [file.file for file in files], name, folder)
        made[table].append(joined)
        gone.update(file.file for file in files)
        for sums in SUMS if table == "exchanges" else ():
            parts = _sums_of(old, files, sums.name)
            gone.update(file.file for file in parts)
            # Else an older kanalyze wrote some of them, and rows are read.
            if len(parts) == len({beside(file.file, sums.name) for file in files}):
                to = beside(name, sums.name)
                _join(place, sums.name, [file.file for file in parts], to, folder)
                made[sums.name].append(joined._replace(file=to, rows=sum(file.rows for file in parts)))
    if not made:
        return manifest
    kept = [replace(run, files=_without(run, gone)) for run in old]
    newest = kept[-1]
    kept[-1] = replace(
        newest, files={table: [*newest.files.get(table, []), *made[table]] for table in {*newest.files, *made}}
    )
    return growing.commit(place, manifest, [*kept, *recent])


def _too_many(runs: Sequence[AddedRun]) -> Iterator[tuple[str, str, list[Written]]]:
    """(table, directory, some of its small files in the order of time) where these are too many: those that make a large one, as
    executors leave more rows in a day than one process should join. Sums go with exchanges."""
    found: dict[tuple[str, str], list[Written]] = defaultdict(list)
    for run in runs:
        for table, written in run.files.items():
            for file in written:
                if table in TABLES and file.file not in run.open_files and file.rows < partitions.LARGE_ROWS:
                    found[table, file.file.rpartition("/")[0]].append(file)
    for (table, directory), files in found.items():
        if len(files) > MOST_FILES:
            ordered = sorted(files, key=lambda each: (each.first_time_ns or 0, each.file))
            for piece in _pieces(ordered):
                yield table, directory, piece


def _pieces(files: Sequence[Written]) -> Iterator[list[Written]]:
    """Files that follow one another, until they have as many rows as a large one; none alone."""
    piece: list[Written] = []
    for file in files:
        piece.append(file)
        if sum(each.rows for each in piece) >= partitions.LARGE_ROWS:
            if len(piece) > 1:
                yield piece
            piece = []
    if len(piece) > 1:
        yield piece


def _sums_of(runs: Iterable[AddedRun], exchanges: Iterable[Written], name: str) -> list[Written]:
    names = {beside(file.file, name) for file in exchanges}
    return [file for run in runs for file in run.files.get(name, ()) if file.file in names]


def _without(run: AddedRun, gone: set[str]) -> dict[str, list[Written]]:
    return {table: [file for file in written if file.file not in gone] for table, written in run.files.items()}


def _join(place: Place, table: str, files: Sequence[str], name: str, folder: Path) -> None:
    """Writes the rows of some files to one, hidden."""
    paths = []
    for number, file in enumerate(files):
        paths.append(folder / f"{number}.small.parquet")
        place.get(file, paths[-1])
    with Dataset({"small": parquet(paths)}) as dataset:
        if table not in TABLES:
            copy_sums(dataset, "SELECT * FROM small", folder / "joined.parquet")
        else:
            copy_rows(dataset, table, "SELECT * FROM small", folder, "joined.parquet")
    place.put(folder / "joined.parquet", hidden(name))
    for path in (*paths, folder / "joined.parquet"):
        path.unlink(missing_ok=True)
