"""Where a dataset lies, for whoever adds to it: a directory of this machine or a place in object storage, with files by their names
below it. Readers have `table_directories`.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from time import sleep
from typing import BinaryIO, Protocol

from analyzer.base.outputs import Output
from analyzer.base.storage.addresses import Address, StorageError, is_storage_uri, parse_address
from analyzer.base.storage.objects import find_object, list_folder, move_object, object_writer, remove_object
from analyzer.base.storage.reader import read_object
from analyzer.query.dataset import DatasetError
from analyzer.query.exported import OWN
from analyzer.query.table_directories import read_small

_LOCK = f"{OWN}/lock"
_PIECE_BYTES = 1 << 20
# Tries to write an object, and the first wait between them, which doubles.
_ATTEMPTS = 4
_WAIT_S = 0.1


class Place(Protocol):
    """All methods raise OSError (StorageError in storage)."""

    def read(self, name: str, most_bytes: int) -> bytes | None:
        """All of a small file; None when there is none. Raises OSError for one with more bytes, too."""

    def write(self, name: str, data: bytes) -> None:
        """Makes or replaces a small file: at any moment there is the old one or the new one."""

    def put(self, path: Path, name: str) -> None:
        """Takes a local file in."""

    def get(self, name: str, path: Path) -> None:
        """Copies a file to a local one."""

    def move(self, name: str, to: str) -> None:
        """Gives a file another name; nothing where it has it already."""

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""

    def names(self, below: str) -> list[str]:
        """The names of all files below a directory."""


class LocalPlace:
    """A directory of this machine."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __str__(self) -> str:
        return str(self._path)

    def read(self, name: str, most_bytes: int) -> bytes | None:
        """As in Place."""
        try:
            return read_small(self._path / name, most_bytes)
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """As in Place."""
        with Output(str(self._made(name))).stream() as out:
            out.write(data)

    def put(self, path: Path, name: str) -> None:
        """As in Place."""
        with Output(str(self._made(name))).file() as place:
            shutil.move(path, place)

    def get(self, name: str, path: Path) -> None:
        """As in Place."""
        shutil.copyfile(self._path / name, path)

    def move(self, name: str, to: str) -> None:
        """As in Place."""
        with suppress(FileNotFoundError):
            (self._path / name).replace(self._made(to))
            self._drop_empty(self._path / name)

    def remove(self, name: str) -> None:
        """As in Place."""
        (self._path / name).unlink(missing_ok=True)
        self._drop_empty(self._path / name)

    def names(self, below: str) -> list[str]:
        """As in Place."""
        found = (self._path / below).rglob("*")
        return [path.relative_to(self._path).as_posix() for path in found if path.is_file()]

    def _made(self, name: str) -> Path:
        path = self._path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _drop_empty(self, path: Path) -> None:
        for parent in path.relative_to(self._path).parents:
            try:
                (self._path / parent).rmdir()
            except OSError:
                return


class StoredPlace:
    """A place in object storage."""

    def __init__(self, at: Address) -> None:
        self._at = at

    def __str__(self) -> str:
        return self._at.uri

    def read(self, name: str, most_bytes: int) -> bytes | None:
        """As in Place."""
        found = find_object(self._at.inside(name))
        return None if found is None or found.is_folder else read_object(self._at.inside(name), most_bytes)

    def write(self, name: str, data: bytes) -> None:
        """As in Place."""
        self._stored(name, lambda: BytesIO(data))

    def put(self, path: Path, name: str) -> None:
        """As in Place."""
        self._stored(name, lambda: path.open("rb"))
        path.unlink()

    def _stored(self, name: str, content: Callable[[], BinaryIO]) -> None:
        def once() -> None:
            with content() as source, object_writer(self._at.inside(name)) as out:
                shutil.copyfileobj(source, out, _PIECE_BYTES)

        _again(once)

    def get(self, name: str, path: Path) -> None:
        """As in Place."""
        path.write_bytes(read_object(self._at.inside(name)))

    def move(self, name: str, to: str) -> None:
        """As in Place."""

        def once() -> None:
            if find_object(self._at.inside(name)) is not None:
                move_object(self._at.inside(name), self._at.inside(to))

        _again(once)

    def remove(self, name: str) -> None:
        """As in Place."""
        with suppress(StorageError):
            remove_object(self._at.inside(name))

    def names(self, below: str) -> list[str]:
        """As in Place."""
        entries = list_folder(self._at.inside(below), recursive=True)
        length = len(self._at.key) + 1 if self._at.key else 0
        return [one.address.key[length:] for one in entries if not one.is_folder]


def _again(work: Callable[[], None]) -> None:
    """A run is long, and a server that fails at one of its files once is no reason to end it."""
    for attempt in range(_ATTEMPTS):
        try:
            work()
            return
        except StorageError:
            if attempt == _ATTEMPTS - 1:
                raise
            sleep(_WAIT_S * 2**attempt)


def place_of(to: Path | str) -> Place:
    """The place at a path or URI. Raises StorageError for a URI that names none."""
    return StoredPlace(parse_address(str(to))) if is_storage_uri(str(to)) else LocalPlace(Path(to))


@contextmanager
def alone(to: Path | str) -> Iterator[Place]:
    """The place, at which nobody else of this machine adds something meanwhile. A lock ends with its process, however that ends;
    storage has none, and two runs there are told apart when the second one commits. Raises DatasetError."""
    place = place_of(to)
    if not isinstance(place, LocalPlace):
        yield place
        return
    path = Path(to) / _LOCK
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DatasetError(f"{to}: another run is adding to this dataset; run again when it has ended") from None
        yield place
