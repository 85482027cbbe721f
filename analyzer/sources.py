"""Where captures come from: paths, globs, directories and standard input, compressed or not, as blocks of bytes."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import BinaryIO

from analyzer.unpack import PackedDataError, last_bytes, packing, unpack
from dissectors.errors import DissectError
from dissectors.net.facts import Note
from dissectors.net.formats import open_reader

STANDARD_INPUT = "-"
BLOCK_BYTES = 1 << 20
# Enough of a file to name its format, a tar archive's included.
_HEAD_BYTES = 512
_COMPRESSED_NAME = re.compile(r"\.(gz|zst|zstd|lz4|xz|bz2)$", re.IGNORECASE)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class InputError(Exception):
    """An input that cannot be read. The message is one line for a person: which input, what is wrong, what to do."""


@dataclass
class Source:
    """One capture: a file, or standard input when `path` is None.

    `size_bytes` is that of the file as it lies on disk, None for a pipe. `first_time_ns` is the time of its first packet,
    None until somebody looked. While `blocks` runs, `done_bytes` says how
    much of it was read; afterwards `notes` holds what was wrong with the compression, if anything.
    """

    name: str
    path: Path | None = None
    size_bytes: int | None = None
    first_time_ns: int | None = None
    done_bytes: int = 0
    notes: list[Note] = field(default_factory=list)

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """Yields the capture's bytes, unpacked, in blocks of `size` (the last one shorter; a pipe's may be shorter).

        A file can be read again, standard input once. Raises InputError when it cannot be opened or read; bad
        compressed data only end the blocks, after all that could be unpacked, and leave a note.
        """
        self.done_bytes = 0
        self.notes = []
        with _Opened(self) as raw:
            head = raw.peek()
            name = packing(head)
            yield from _plain(raw, size) if name is None else _joined(self._unpacked(raw, name), size)

    def fill(self, buffer: bytearray) -> Generator[tuple[memoryview, int], int, None]:
        """Like `blocks`, for a reader that keeps what it could not use: fills `buffer`, again and again.

        Yields (view of the bytes in the buffer, bytes that are new). The consumer sends back how many bytes it used; the
        others move to the front, and the buffer doubles when none could be used though it was full. Raises as `blocks`.
        """
        self.done_bytes = 0
        self.notes = []
        with _Opened(self) as raw:
            name = packing(raw.peek())
            stream: _Opened | _Pieces = raw if name is None else _Pieces(self._unpacked(raw, name))
            held = 0
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
            if stat.S_ISREG(raw.mode):
                with _Opened(Source(self.name, self.path)) as again:
                    for piece in last_bytes(again, name, count):
                        count += len(piece)
                        yield piece
            text = f"{error}; what came before is read ({count} bytes unpacked)"
            self.notes.append(Note("cut" if "in the middle" in str(error) else "damaged", count, 0, text))


class _Opened:
    """The open file of a source: counts what is read, and words the errors of the operating system."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ahead = b""
        self.closed = False

    def __enter__(self) -> _Opened:
        try:
            self._file: BinaryIO = self._open()
        except OSError as error:
            raise InputError(_reason(self._source.name, error)) from error
        return self

    def _open(self) -> BinaryIO:
        if self._source.path is None:
            self.mode = 0
            return sys.stdin.buffer
        opened = self._source.path.open("rb", buffering=0)
        self.mode = self._source.path.stat().st_mode
        return opened

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Standard input is not ours to close."""
        if not self.closed and self._source.path is not None:
            self._file.close()
        self.closed = True

    def peek(self) -> bytes:
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
        try:
            count = self._file.readinto1(view) if self._source.path is None else self._file.readinto(view)  # type: ignore[attr-defined]
        except OSError as error:
            raise InputError(_reason(self._source.name, error)) from error
        self._source.done_bytes += count
        return int(count)

    def _read(self, size: int) -> bytes:
        try:
            data = self._file.read1(size) if self._source.path is None else self._file.read(size)  # type: ignore[attr-defined]
        except OSError as error:
            raise InputError(_reason(self._source.name, error)) from error
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
    """Finds the captures that `inputs` name: paths, globs, directories (without subdirectories), `-` (standard input).

    Inputs keep their order; files of one glob or directory are in the natural order of their numbers. Each regular file
    is opened to see that it is a capture; of a directory only captures are taken. Never raises for an input.
    """
    found = Expansion([], [], [])
    for given in inputs:
        try:
            _expand_one(given, found)
        except InputError as error:
            found.errors.append(error)
    return found


def _expand_one(given: str, found: Expansion) -> None:
    path = Path(given)
    if given == STANDARD_INPUT:
        found.sources.append(Source(STANDARD_INPUT))
    elif _URI.match(given):
        raise InputError(f"{given}: object storage cannot be read yet; copy the capture here first")
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
    for path in sorted(paths, key=natural):
        try:
            found.sources.append(_checked(path))
        except InputError as error:
            found.errors.append(error)


def _expand_directory(folder: Path, found: Expansion) -> None:
    try:
        paths = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
    except OSError as error:
        raise InputError(_reason(str(folder), error)) from error
    captures, others = [], []
    for path in sorted(paths, key=natural):
        try:
            captures.append(_checked(path))
        except _NoCaptureError:
            others.append(str(path))
        except InputError as error:
            found.errors.append(error)
    if not captures:
        raise InputError(f"{folder}: no captures in this directory; for subdirectories give '{folder}/**/*.pcap'")
    found.sources.extend(captures)
    found.passed_over.extend(others)


class _NoCaptureError(InputError):
    """A file that can be read, but holds no capture."""


def _checked(path: Path) -> Source:
    """The source of `path`, if it begins like a capture. What is no regular file can be read only once, so not here."""
    source = Source(str(path), path)
    try:
        status = path.stat()
    except OSError as error:
        raise InputError(_reason(str(path), error)) from error
    if not stat.S_ISREG(status.st_mode):
        return source
    source.size_bytes = status.st_size
    head = next(source.blocks(_HEAD_BYTES), b"")
    try:
        open_reader(head)
    except DissectError as error:
        raise _NoCaptureError(not_a_capture(source, error)) from error
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


def natural(path: Path) -> list[list[str | int]]:
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
