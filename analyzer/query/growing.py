"""A dataset that grows: the runs that it is made of, and how a new one becomes part of it at one moment.

The manifest is that moment. It lists the runs; each run its captures, its files, and which of these are `open`: rows of
connections that were not over (`analyzer.distributed.open_connections`). The rows of a table are those of the settled files of
all runs, and of the open files of the newest one, which has all rows of these connections from their beginning on. A file has
its name in the table's directory (TABLE/date=2026-05-01/part-RUN.parquet) while its rows count, else the same below HIDDEN,
where no glob of a table looks. So a run first writes hidden files and then the manifest, and only then files move. A run that
is killed before that leaves the old state, one that is killed behind it the new one, in which readers take a file where it is;
the next run moves the rest.

A run can be taken back while what it was given of the run before is kept: that is how captures that come late, or again, get
their rows in order.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from analyzer.base.tables import TABLES
from analyzer.query.dataset import DatasetError
from analyzer.query.dataset_places import Place
from analyzer.query.export_tables import Written
from analyzer.query.exported import HIDDEN, OWN, hidden
from analyzer.query.hours import SUM_NAMES
from analyzer.query.manifest import MANIFEST, MOST_BYTES, PARQUET, SCHEMA, checked
from analyzer.version import VERSION

# What a run left of open connections, and the open files of the runs before the newest, are kept for so many runs.
KEPT_RUNS = 8
# What has files by day: tables, and the sums of one of them.
_WITH_FILES = (*TABLES, *SUM_NAMES)
# Files that are never removed, so that their directory stays one.
_KEEP = f"{HIDDEN}/keep"
_LOCKED = f"{OWN}/lock"


@dataclass(frozen=True)
class Input:
    """A capture as a run read it. `path`: absolute, or a URI; `modified_ns`: of its last change, null where that is not known;
    `etag`: what storage calls the content that was read; `failed` says why nothing of it could be read; null: it was read."""

    path: str
    size_bytes: int
    modified_ns: int | None
    first_time_ns: int | None = None
    last_time_ns: int | None = None
    tap: str = ""
    failed: str | None = None
    etag: str | None = None

    @property
    def identity(self) -> tuple[str, int, int | None]:
        """What tells whether it is the same capture still."""
        return self.path, self.size_bytes, self.modified_ns


@dataclass(frozen=True)
class AddedRun:
    """One run. `files`: table -> what it wrote; `open_files` of them hold rows that the next run gives anew. The next run numbers
    captures from `next_file` on, their splits from `next_split` on."""

    run: str
    inputs: tuple[Input, ...]
    files: dict[str, list[Written]]
    open_files: frozenset[str]
    next_file: int
    next_split: int
    kanalyze: str = VERSION


def state_folder(run: str) -> str:
    """Where a run left what it knows of open connections."""
    return f"{OWN}/state/{run}"


@dataclass(frozen=True)
class Manifest:
    """What a dataset is made of; `serial` counts how often it was changed."""

    runs: tuple[AddedRun, ...] = ()
    serial: int = 0
    moving: bool = field(default=False, compare=False)

    def files(self) -> dict[str, list[Written]]:
        """Table -> the files whose rows count, in the order of time."""
        found: dict[str, list[Written]] = {table: [] for table in _WITH_FILES}
        for run in self.runs:
            for table, written in run.files.items():
                found[table] += [file for file in written if run is self.runs[-1] or file.file not in run.open_files]
        return {
            table: sorted(written, key=lambda each: (each.first_time_ns or 0, each.file))
            for table, written in found.items()
        }

    def names(self) -> set[str]:
        """The names of these files."""
        return {file.file for written in self.files().values() for file in written}

    def inputs(self) -> dict[str, Input]:
        """All captures by their paths, as they were last read."""
        return {each.path: each for run in self.runs for each in run.inputs}

    def text(self) -> str:
        """As it is written. Readers of any export look at `tables` and `files` only."""
        files = self.files()
        told = {
            "kanalyze": VERSION,
            "format": PARQUET,
            "schema": SCHEMA,
            "serial": self.serial,
            "moving": self.moving,
            "inputs": list(self.inputs()),
            "tables": {table: sum(file.rows for file in written) for table, written in files.items()},
            "files": {table: [file._asdict() for file in written] for table, written in files.items()},
            "runs": [_run_as_json(run) for run in self.runs],
        }
        return json.dumps(told, indent=1) + "\n"


def _run_as_json(run: AddedRun) -> dict[str, Any]:
    files = {table: [file._asdict() for file in written] for table, written in run.files.items()}
    return {
        **{name: getattr(run, name) for name in ("run", "kanalyze", "next_file", "next_split")},
        "inputs": [asdict(each) for each in run.inputs],
        "files": files,
        "open_files": sorted(run.open_files),
    }


def _run_of_json(told: dict[str, Any]) -> AddedRun:
    return AddedRun(
        told["run"],
        tuple(Input(**each) for each in told["inputs"]),
        {table: [Written(**file) for file in written] for table, written in told["files"].items()},
        frozenset(told["open_files"]),
        told["next_file"],
        told["next_split"],
        told["kanalyze"],
    )


def read_manifest(place: Place) -> Manifest:
    """The manifest at a place, an empty one where nothing was written yet. Raises DatasetError for a directory that cannot grow."""
    data = place.read(MANIFEST, MOST_BYTES)
    if data is None:
        if others := [name for name in place.names("") if not name.startswith(f"{OWN}/")]:
            raise DatasetError(f"{place}: holds {others[0]} and no {MANIFEST}; name a new directory, or a dataset")
        return Manifest()
    told = checked(data, place)
    if "runs" not in told:
        raise DatasetError(f"{place}: was exported without --add, and cannot grow; export it again with --add")
    newer = {table for run in told["runs"] for table in run["files"]}.difference(_WITH_FILES)
    try:
        runs = tuple(map(_run_of_json, told["runs"]))
    except TypeError:  # an input or a file has a field more
        newer.add("a field")
    if newer:
        raise DatasetError(f"{place}: was written by a newer kanalyze; update this one")
    return Manifest(runs, told["serial"], told["moving"])


def grows(place: Place) -> bool:
    """Whether a dataset that grows is there already."""
    data = place.read(MANIFEST, MOST_BYTES)
    try:
        return data is not None and "runs" in checked(data, place)
    except DatasetError:
        return False


def commit(place: Place, before: Manifest, runs: Sequence[AddedRun]) -> Manifest:
    """Makes these runs the dataset; their files are there, hidden or not. Raises DatasetError when somebody else was faster."""
    if read_manifest(place).serial != before.serial:
        raise DatasetError(f"{place}: another run has added to this dataset meanwhile; run again")
    place.write(_KEEP, b"")
    after = Manifest(tuple(runs), before.serial + 1, moving=True)
    data = after.text().encode()
    if len(data) > MOST_BYTES:
        raise DatasetError(
            f"{place}: has too many runs, its manifest would be larger than {MOST_BYTES:,} bytes; begin a new one"
        )
    place.write(MANIFEST, data)
    return settle(place, after)


def settle(place: Place, manifest: Manifest) -> Manifest:
    """Moves files to where they belong, and removes what belongs to no run: the end of a commit, or what a run that was killed left
    to do."""
    names = manifest.names()
    visible = {name for table in _WITH_FILES for name in place.names(table)}
    for name in sorted(names - visible):
        place.move(hidden(name), name)
    for name in sorted(visible - names):
        place.move(name, hidden(name))
    kept = {_KEEP, _LOCKED, *map(hidden, _hidden_files(manifest))}
    states = tuple(f"{state_folder(run.run)}/" for run in manifest.runs[-KEPT_RUNS:])
    for name in place.names(OWN):
        if name not in kept and not name.startswith(states):
            place.remove(name)
    if manifest.moving:
        manifest = replace(manifest, moving=False)
        place.write(MANIFEST, manifest.text().encode())
    return manifest


def _hidden_files(manifest: Manifest) -> Iterator[str]:
    for run in manifest.runs[-KEPT_RUNS:-1]:
        yield from run.open_files


def put_state(place: Place, run: str, folder: Path) -> None:
    """Takes in what a run left of open connections."""
    for path in sorted(folder.iterdir()):
        place.put(path, f"{state_folder(run)}/{path.name}")


def get_state(place: Place, run: str, folder: Path, only: Collection[str] | None = None) -> Path:
    """The same again, or files of some names alone. Raises DatasetError where it is kept no more."""
    names = place.names(state_folder(run))
    if not names:
        raise DatasetError(
            f"{place}: what came before is kept for the last {KEPT_RUNS} runs only, and this needs an older one; "
            "make a new dataset of all captures"
        )
    folder.mkdir()
    for name in names:
        file = name.rpartition("/")[2]
        if only is None or file in only:
            place.get(name, folder / file)
    return folder
