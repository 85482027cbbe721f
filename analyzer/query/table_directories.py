"""Directories of tables, on this machine or in object storage: which files a table has, and where they can be read.

A table is one file, TABLE.parquet, or many: TABLE/*.parquet and TABLE/date=YYYY-MM-DD/*.parquet. From storage all files of a
table are copied when it is first read: SQL reads many times, and a little of each file.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Protocol

from analyzer.base import temp_folders
from analyzer.base.storage.addresses import Address, StorageError, is_storage_uri, parse_address
from analyzer.base.storage.objects import StorageEntry, find_object, list_folder
from analyzer.base.storage.odd_answers import odd_answer
from analyzer.base.storage.reader import ObjectReader, read_object

# Objects that are copied at the same time: many small ones wait for round trips most of the time.
COPIES_AT_ONCE = 8
_COPY_BYTES = 1 << 20


class Folder(Protocol):
    """A directory whose files are named by their path in it, with slashes."""

    is_remote: bool

    def names(self, below: str = "") -> dict[str, bool]:
        """The entries of the directory, or of one below it: name -> is it a directory? Empty when it does not exist."""

    def read(self, name: str, most_bytes: int) -> bytes:
        """All of a small file. Raises OSError, also for one with more bytes."""

    def holds(self, name: str) -> bool:
        """Whether there is a file of this name."""

    def check_answers(self) -> None:
        """Raises StorageError where it is no storage that answers, but a web page."""

    def local_paths(self, names: Sequence[str]) -> list[Path]:
        """Paths on this machine with the bytes of these files. Raises OSError."""

    def close(self) -> None:
        """Removes what was copied."""


class LocalFolder:
    """A directory of this machine."""

    is_remote = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self.names = cache(self._names)

    def __str__(self) -> str:
        return str(self._path)

    def _names(self, below: str = "") -> dict[str, bool]:
        try:
            with os.scandir(self._path / below) as entries:
                return {entry.name: entry.is_dir() for entry in sorted(entries, key=lambda entry: entry.name)}
        except OSError:
            return {}

    def read(self, name: str, most_bytes: int) -> bytes:
        """All of a small file. Raises OSError, also for one with more bytes."""
        return read_small(self._path / name, most_bytes)

    def holds(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return (self._path / name).is_file()

    def check_answers(self) -> None:
        """Nobody is asked."""

    def local_paths(self, names: Sequence[str]) -> list[Path]:
        """The files themselves."""
        return [self._path / name for name in names]

    def close(self) -> None:
        """Nothing was copied."""


class RemoteFolder:
    """A directory in object storage. Objects must stay as they were when they were listed."""

    is_remote = True

    def __init__(self, at: Address, temp_directory: Path | None = None) -> None:
        self._at = at
        self._temp_directory = temp_directory
        # Threads may ask for different tables at once.
        self._numbering = threading.Lock()
        self._copies: Path | None = None
        self._count = 0
        self._listed: dict[str, StorageEntry] = {}
        self.names = cache(self._names)

    def __str__(self) -> str:
        return self._at.uri

    def _names(self, below: str = "") -> dict[str, bool]:
        folder = self._at.inside(below) if below else self._at
        found = {}
        for one in sorted(list_folder(folder)):
            name = one.address.key.rpartition("/")[2]
            found[name] = one.is_folder
            self._listed[f"{below}/{name}" if below else name] = one
        return found

    def read(self, name: str, most_bytes: int) -> bytes:
        """All of a small object. Raises StorageError, also for one with more bytes."""
        return read_object(self._at.inside(name), most_bytes)

    def holds(self, name: str) -> bool:
        """Whether there is an object of this name."""
        return find_object(self._at.inside(name)) is not None

    def check_answers(self) -> None:
        """Raises StorageError where it is no storage that answers, but a web page."""
        if odd := odd_answer(self._at):
            raise StorageError(f"{self._at.uri}: {odd}")

    def local_paths(self, names: Sequence[str]) -> list[Path]:
        """Copies, in a temporary directory that lives until `close`. Raises StorageError, OSError for a full disk."""
        with self._numbering:
            if self._copies is None:
                self._copies = temp_folders.make(self._temp_directory)
            # Named by number: names in storage may be no names of files.
            paths = [self._copies / f"{number}.parquet" for number in range(self._count, self._count + len(names))]
            self._count += len(names)
        with ThreadPoolExecutor(COPIES_AT_ONCE) as pool:
            list(pool.map(_copy, pool.map(self._entry, names), paths))
        return paths

    def _entry(self, name: str) -> StorageEntry:
        found = self._listed.get(name) or find_object(self._at.inside(name))
        if found is None:
            raise StorageError(f"{self._at.inside(name).uri}: is gone; was the dataset changed meanwhile? run again")
        return found

    def close(self) -> None:
        """Removes what was copied."""
        if self._copies is not None:
            temp_folders.remove(self._copies)


def read_small(path: Path, most_bytes: int) -> bytes:
    """All of a small file of this machine. Raises OSError for one with more bytes, and for what is no file: a pipe would be waited
    for."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "is no regular file", str(path))
    with path.open("rb") as source:
        data = source.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"has more than {most_bytes:,} bytes", str(path))
    return data


def _copy(found: StorageEntry, to: Path) -> None:
    reader = ObjectReader(found)
    try:
        with to.open("wb") as file:
            while data := reader.read(_COPY_BYTES):
                file.write(data)
    finally:
        reader.close()


def folder(place: Path | str, temp_directory: Path | None = None) -> Folder:
    """The directory at a path or URI. Raises StorageError for a URI that names none."""
    if isinstance(place, str) and is_storage_uri(place):
        return RemoteFolder(parse_address(place), temp_directory)
    return LocalFolder(Path(place))


def table_files(where: Folder, table: str, named: bool = False) -> list[str]:
    """The Parquet files of a table; none when the directory has no such table. `named`: somebody says that it has, so its own
    directory is looked into where the one above does not show it.
    """
    top = where.names()
    if top.get(f"{table}.parquet") is False:
        return [f"{table}.parquet"]
    if not (top.get(table) or named):
        return []
    found = []
    for name, is_folder in where.names(table).items():
        inside = f"{table}/{name}"
        if is_folder and name.startswith("date="):
            found += [
                f"{inside}/{file}" for file, is_folder in where.names(inside).items() if _holds_rows(file, is_folder)
            ]
        elif _holds_rows(name, is_folder):
            found.append(inside)
    return found


def _holds_rows(name: str, is_folder: bool) -> bool:
    """Whether a file belongs to its table. Names with a dot or an underscore in front are unfinished files of writers."""
    return not is_folder and name.endswith(".parquet") and not name.startswith((".", "_"))
