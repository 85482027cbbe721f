"""Where captures come from: paths, globs, directories, object storage and standard input, compressed or not, as blocks of
bytes.
"""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from glob import glob, has_magic
from itertools import chain
from pathlib import Path, PurePath, PurePosixPath
from typing import BinaryIO, NamedTuple, TypeVar
from urllib.parse import unquote

from analyzer.base import object_storage
from analyzer.inputs.unpack import PackedDataError, last_bytes, packing, unpack
from dissectors.errors import DissectError
from dissectors.formats.capture_facts import Note
from dissectors.formats.detection import open_reader

STANDARD_INPUT = "-"
BLOCK_BYTES = 1 << 20
T = TypeVar("T")
# Enough of a file to name its format, a tar archive's included.
_HEAD_BYTES = 512
_COMPRESSED_NAME = re.compile(r"\.(gz|zst|zstd|lz4|xz|bz2)$", re.IGNORECASE)
_FILE_URI = re.compile(r"file://(?:localhost)?(?=/)", re.IGNORECASE)
# Heads of objects that are looked at at the same time: each takes a round trip or two.
_HEADS_AT_ONCE = 16


class InputError(Exception):
    """An input that cannot be read. The message is one line for a person: which input, what is wrong, what to do."""


@dataclass
class Source:
    """One capture: the file at `path`, or the object at `uri`, or standard input when both are None; or a part of an
    uncompressed file. It can be pickled, and holds no secret.

    Of a part, records that begin in bytes [begin, end) of the file count (`end` None: to the end of the file); `exact`: one
    begins at `begin`. Its bytes are `head`, what a reader must know of the file before, then those from `begin` on, beyond
    `end` too: the reader knows where to stop.

    `size_bytes` is that of the whole file as it lies on disk or in storage, None for a pipe. An object must have this size
    for as long as it is read.
    `first_time_ns` is the time of its first packet, None until somebody looked. While `blocks` runs, `done_bytes` says how
    much of it was read (`head` does not count); afterwards `notes` holds what was wrong with the compression, if anything.
    """

    name: str
    path: Path | None = None
    size_bytes: int | None = None
    first_time_ns: int | None = None
    begin: int = 0
    end: int | None = None
    head: bytes = b""
    exact: bool = False
    done_bytes: int = 0
    notes: list[Note] = field(default_factory=list)
    uri: str | None = None

    @property
    def is_standard_input(self) -> bool:
        """Which can be read only once, and is not ours to close."""
        return self.path is None and self.uri is None

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """Yields the capture's bytes, unpacked, in blocks of `size` (the last one shorter; those of
        a pipe or an object may be shorter).

        A file can be read again, standard input once. Raises InputError when it cannot be opened or read; bad
        compressed data only end the blocks, after all that could be unpacked, and leave a note.
        """
        self.done_bytes = 0
        self.notes = []
        with _Opened(self) as raw:
            name = raw.packing()
            if name is None and not self.head:
                yield from _plain(raw, size)
            else:
                pieces = _plain(raw, size) if name is None else self._unpacked(raw, name)
                yield from _joined(chain([self.head], pieces), size)

    def packing(self) -> str | None:
        """The name of its compression, None for none. Raises InputError when it cannot be opened."""
        with _Opened(self) as raw:
            return raw.packing()

    def fill(self, buffer: bytearray) -> Generator[tuple[memoryview, int], int, None]:
        """Like `blocks`, for a reader that keeps what it could not use: fills `buffer`, again and again.

        Yields (view of the bytes in the buffer, bytes of the file that are new). The consumer sends back how many bytes it
        used; the others move to the front, and the buffer doubles when none could be used though it was full. Raises as
        `blocks`.
        """
        self.done_bytes = 0
        self.notes = []
        with _Opened(self) as raw:
            name = raw.packing()
            stream: _Opened | _Pieces = raw if name is None else _Pieces(self._unpacked(raw, name))
            held = len(self.head)
            if held >= len(buffer):
                buffer = buffer + bytearray(held)
            memoryview(buffer)[:held] = self.head
            while new := stream.readinto(memoryview(buffer)[held:]):
                held += new
                used = yield memoryview(buffer)[:held], new
                if used == 0 and held == len(buffer):
                    buffer = buffer + bytearray(len(buffer))
                elif used:
                    held -= used
                    memoryview(buffer)[:held] = memoryview(buffer)[used : used + held]

    def _unpacked(self, raw: _Opened, name: str) -> Iterator[bytes]:
        count = 0
        try:
            for piece in unpack(raw, name):
                count += len(piece)
                yield piece
        except PackedDataError as error:
            if raw.again:
                with _Opened(replace(self, notes=[])) as again:
                    for piece in last_bytes(again, name, count):
                        count += len(piece)
                        yield piece
            text = f"{error}; what came before is read ({count} bytes unpacked)"
            self.notes.append(Note("cut" if "in the middle" in str(error) else "damaged", count, 0, text))


class Piece(NamedTuple):
    """A part of input number `file`, or all of it. `number` is that of its split; in every file and place of capture the
    numbers are in the order of time."""

    number: int
    file: int
    source: Source


class _Opened:
    """The open file of a source: counts what is read, and words the errors of the operating system and of storage."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ahead = b""
        self.closed = False
        self.again = not source.is_standard_input  # it can be opened once more

    def __enter__(self) -> _Opened:
        self._file = self._told(self._open)
        return self

    def _open(self) -> BinaryIO | object_storage.Reader:
        source = self._source
        if source.uri is not None:
            found = object_storage.Found(object_storage.address(source.uri), False, source.size_bytes or 0)
            return object_storage.Reader(found, source.begin, source.end)
        if source.path is None:
            return sys.stdin.buffer
        opened = source.path.open("rb", buffering=0)
        status = source.path.stat()
        self.again = stat.S_ISREG(status.st_mode)
        if source.begin:
            if source.begin > status.st_size:
                raise InputError(f"{source.name}: became shorter since it was listed; run again when it is complete")
            opened.seek(source.begin)
        return opened

    def _told(self, work: Callable[..., T], *given: object) -> T:
        try:
            return work(*given)
        except object_storage.StorageError as error:
            raise InputError(str(error)) from error
        except OSError as error:
            raise InputError(_reason(self._source.name, error)) from error

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Standard input is not ours to close."""
        if not self.closed and not self._source.is_standard_input:
            self._file.close()
        self.closed = True

    def packing(self) -> str | None:
        """The compression of the file, None for none; what begins in its middle has none, whatever it looks like."""
        return packing(self._peek()) if self._source.begin == 0 else None

    def _peek(self) -> bytes:
        """The first bytes, which `read` will give again."""
        while len(self._ahead) < 8:
            more = self._read(8 - len(self._ahead))
            if not more:
                break
            self._ahead += more
        return self._ahead

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end."""
        ahead, self._ahead = self._ahead[:size], self._ahead[size:]
        return ahead + self._read(size - len(ahead)) if len(ahead) < size else ahead

    def readinto(self, view: memoryview) -> int:
        """Fills the view as far as one read goes; 0 at the end."""
        if self._ahead:
            ahead, self._ahead = self._ahead[: len(view)], self._ahead[len(view) :]
            view[: len(ahead)] = ahead
            return len(ahead)
        fill = self._file.readinto1 if self._source.is_standard_input else self._file.readinto  # type: ignore[union-attr]
        count: int = self._told(fill, view)
        self._source.done_bytes += count
        return count

    def _read(self, size: int) -> bytes:
        take = self._file.read1 if self._source.is_standard_input else self._file.read  # type: ignore[union-attr]
        data: bytes = self._told(take, size)
        self._source.done_bytes += len(data)
        return data

    def readable(self) -> bool:
        """For pyarrow."""
        return True


@dataclass(frozen=True)
class Expansion:
    """What inputs came to: sources in order, an error for each input that is none, names in directories passed over."""

    sources: list[Source]
    errors: list[InputError]
    passed_over: list[str]


def expand(inputs: Sequence[str]) -> Expansion:
    """Finds the captures that `inputs` name: paths, globs, directories (without subdirectories), `-` (standard input), and
    the same in object storage (s3://BUCKET/KEY, gs://, abfss://).

    Inputs keep their order; files of one glob or directory are in the natural order of their numbers. Each regular file
    is opened to see that it is a capture; of a directory only captures are taken. Never raises for an input.
    """
    found = Expansion([], [], [])
    for given in inputs:
        try:
            _expand_one(given, found)
        except object_storage.StorageError as error:
            found.errors.append(InputError(str(error)))
        except InputError as error:
            found.errors.append(error)
    return found


def _expand_one(given: str, found: Expansion) -> None:
    if _FILE_URI.match(given):
        given = unquote(_FILE_URI.sub("", given))
    path = Path(given)
    if given == STANDARD_INPUT:
        found.sources.append(Source(STANDARD_INPUT))
    elif object_storage.is_uri(given):
        _expand_uri(given, found)
    elif has_magic(given) and not path.exists():
        _expand_glob(given, found)
    elif path.is_dir():
        _expand_directory(path, found)
    else:
        found.sources.append(_checked(path))


def _expand_glob(pattern: str, found: Expansion) -> None:
    names = glob(pattern, recursive=True)  # noqa: PTH207 (pathlib takes no absolute patterns)
    paths = [path for path in map(Path, names) if not path.is_dir()]
    if not paths:
        raise InputError(f"{pattern}: no file matches; check the pattern")
    _take(map(_tried, sorted(paths, key=natural)), found, only_captures=False)


def _expand_directory(folder: Path, found: Expansion) -> None:
    try:
        paths = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
    except OSError as error:
        raise InputError(_reason(str(folder), error)) from error
    if not _take(map(_tried, sorted(paths, key=natural)), found, only_captures=True):
        raise InputError(f"{folder}: no captures in this directory; for subdirectories give '{folder}/**/*.pcap'")


def _expand_uri(uri: str, found: Expansion) -> None:
    at = object_storage.address(uri)
    there = object_storage.find(at)
    if there is None and has_magic(at.key):
        if _take_objects(_matching(at), found, only_captures=False):
            return
        advice = "no object matches; check the pattern"
    elif there is None:
        advice = f"no such object; for all whose names begin so give '{at.uri}*'"
    elif there.is_folder:
        below = [one for one in object_storage.listing(at) if not one.is_folder and not _name(one).startswith(".")]
        if _take_objects(below, found, only_captures=True):
            return
        advice = f"no captures here; for those in folders below give '{at.uri}/**/*.pcap'"
    else:
        found.sources.append(_checked(there))
        return
    raise object_storage.no_bucket(at) or InputError(f"{uri}: {advice}")


def _name(one: object_storage.Found) -> str:
    return one.address.key.rpartition("/")[2]


def _matching(pattern: object_storage.Address) -> Iterator[object_storage.Found]:
    """Objects whose keys match, as file names would: storage has no globs, but it can list a folder."""
    parts = pattern.key.split("/")
    plain = next(number for number, part in enumerate(parts) if has_magic(part))
    folder = pattern._replace(key="/".join(parts[:plain]))
    for one in object_storage.listing(folder, recursive=plain < len(parts) - 1 or parts[-1] == "**"):
        if not one.is_folder and _fits(one.address.key.split("/")[plain:], parts[plain:]):
            yield one


def _fits(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """`**` stands for any number of folders; no pattern finds what is hidden by a dot, unless it begins with one."""
    if not patterns:
        return not parts
    if patterns[0] == "**":
        return _fits(parts, patterns[1:] or ["*"]) or (
            len(parts) > 1 and not parts[0].startswith(".") and _fits(parts[1:], patterns)
        )
    if not parts or (parts[0].startswith(".") and not patterns[0].startswith(".")):
        return False
    return fnmatchcase(parts[0], patterns[0]) and _fits(parts[1:], patterns[1:])


def _take_objects(those: Iterable[object_storage.Found], found: Expansion, *, only_captures: bool) -> bool:
    in_order = sorted(those, key=lambda one: natural(PurePosixPath(one.address.key)))
    with ThreadPoolExecutor(_HEADS_AT_ONCE) as pool:
        return _take(pool.map(_tried, in_order), found, only_captures=only_captures)


def _take(tried: Iterable[Source | InputError], found: Expansion, *, only_captures: bool) -> bool:
    """Adds what was found. False when there was nothing; of a directory, when there was no capture."""
    captures, others, errors = [], [], []
    for one in tried:
        if isinstance(one, Source):
            captures.append(one)
        elif isinstance(one, _NoCaptureError) and only_captures:
            others.append(one.name)
        else:
            errors.append(one)
    found.sources.extend(captures)
    found.errors.extend(errors)
    if captures:
        found.passed_over.extend(others)
    return bool(captures or (errors and not only_captures))


def _tried(place: Path | object_storage.Found) -> Source | InputError:
    try:
        return _checked(place)
    except InputError as error:
        return error


class _NoCaptureError(InputError):
    """A file that can be read, but holds no capture."""

    name = ""


def _checked(place: Path | object_storage.Found) -> Source:
    """The source at a place, if it begins like a capture. What is no regular file can be read only once, so not here."""
    if isinstance(place, Path):
        source = Source(str(place), place)
        try:
            status = place.stat()
        except OSError as error:
            raise InputError(_reason(str(place), error)) from error
        if not stat.S_ISREG(status.st_mode):
            return source
        source.size_bytes = status.st_size
    else:
        uri = place.address.uri
        source = Source(uri, size_bytes=place.size_bytes, uri=uri)
    head = next(source.blocks(_HEAD_BYTES), b"")
    try:
        open_reader(head)
    except DissectError as error:
        refused = _NoCaptureError(not_a_capture(source, error))
        refused.name = source.name
        raise refused from error
    return source


def not_a_capture(source: Source, error: DissectError) -> str:
    """One line for an input whose first bytes `open_reader` refused."""
    if source.notes:
        return f"{source.name}: {source.notes[0].text}; make the file again"
    if error.got == "an empty file":
        return f"{source.name}: empty; was anything captured?"
    if error.kind == "truncated":
        return f"{source.name}: cut off within its header; make the file again"
    return f"{source.name}: not a capture that can be read: wanted {error.wanted}, got {error.got}{_advice(error.got)}"


def _advice(got: str) -> str:
    if "archive" in got:
        return "; unpack it first"
    if got.endswith("data"):
        return "; it is compressed twice"
    if "capture" in got or "trace" in got:
        return "; convert it with editcap -F pcapng"
    return ""


def natural(path: PurePath) -> list[list[str | int]]:
    """Sort key: numbers inside names by value, so that tcpdump's x.pcap, x.pcap1, ... x.pcap10 stay in order."""
    parts = [re.split(r"([0-9]+)", _COMPRESSED_NAME.sub("", part)) for part in path.parts]
    return [[int(piece) if place % 2 else piece for place, piece in enumerate(pieces)] for pieces in parts]


class _Pieces:
    """Pieces of any length, as a stream that fills views."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readinto(self, view: memoryview) -> int:
        """Fills the view from one piece; 0 at the end."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _plain(raw: _Opened, size: int) -> Iterator[bytes]:
    while block := raw.read(size):
        yield block


def _joined(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Blocks of exactly `size` bytes, the last one shorter, out of pieces of any length."""
    waiting: list[bytes] = []
    count = 0
    for piece in pieces:
        waiting.append(piece)
        count += len(piece)
        if count >= size:
            joined = b"".join(waiting)
            whole = count - count % size
            yield from (joined[at : at + size] for at in range(0, whole, size))
            waiting = [joined[whole:]]
            count -= whole
    if count:
        yield b"".join(waiting)


def _reason(name: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{name}: no such file; check the name"
    if isinstance(error, PermissionError):
        return f"{name}: permission denied; make it readable, or run as its owner"
    return f"{name}: cannot be read: {error.strerror or error}"
