"""Sources of capture bytes: a file, an object in storage or standard input, compressed or not, read as blocks of bytes."""

from __future__ import annotations

import stat
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from analyzer.base.storage.addresses import StorageError, parse_address
from analyzer.base.storage.objects import StorageEntry
from analyzer.base.storage.reader import ObjectReader
from analyzer.base.text import file_text
from analyzer.inputs.standard_input import StandardInput
from analyzer.inputs.unpack import PackedDataError, last_bytes, packing, unpack
from dissectors.formats.capture_facts import Note

STANDARD_INPUT = "-"
BLOCK_BYTES = 1 << 20
LOOK_BYTES = 1 << 12
# What `fill` of a growing capture gives in place of a number of new bytes: none now; none for a while (`live/`).
NOTHING_NOW, SILENT = -1, -2
T = TypeVar("T")


class InputError(Exception):
    """An input that cannot be read. The message is one line for a person: which input, what is wrong, what to do."""


class Beginning(NamedTuple):
    """What the first bytes of a capture tell: the time of the first packet and `head` (both as `capture_heads.Peek` has them), and
    the time of the latest packet if these bytes were the whole capture."""

    first_time_ns: int | None = None
    head: bytes = b""
    last_time_ns: int | None = None


class Cuts(NamedTuple):
    """How a file was cut into pieces, for `borders`, which puts their packets in the order of time: where this piece was meant to
    begin, the cuts behind it, the nearest first, and the `head` for a reader that begins at a cut."""

    begin: int
    behind: tuple[int, ...]
    head: bytes


@dataclass(slots=True)
class Source:
    """One capture: the file at `path`, or the object at `uri`, or standard input when both are None; or a piece of an
    uncompressed file. It can be pickled, and holds no secret.

    A piece is read for the records that begin in bytes [begin, end) of the file; `end` None means the end of the file, `exact`
    that a record begins at `begin`. The bytes of a piece are `head`, what a reader must know of the beginning of the file,
    then all bytes from `begin` on, beyond `end` too: the reader stops by itself. `cuts` is None for a whole file.

    `size_bytes` is the size of the whole file on disk or in storage, None for a pipe. An object must keep this size while it is
    read; `modified_ns` is when it was last changed, `etag` what the server calls its content, known when it was opened; None where
    they are not known. `first_time_ns` is the time of the first packet, None until `capture_heads.in_time_order` looked. While
    `blocks` runs, `done_bytes` counts the bytes of the file that were read, without `head`; afterwards `notes` holds damage of the
    compressed data. `is_packed`: it is compressed, None until something was read. `beginning` is what a first look found, so that
    nobody looks twice. `looked_into`: the open pipe, while nothing but `look` has read of it.
    """

    name: str
    path: Path | None = None
    size_bytes: int | None = None
    first_time_ns: int | None = None
    begin: int = 0
    end: int | None = None
    head: bytes = b""
    exact: bool = False
    cuts: Cuts | None = field(default=None, repr=False)
    done_bytes: int = 0
    notes: list[Note] = field(default_factory=list)
    uri: str | None = None
    modified_ns: int | None = None
    etag: str | None = None
    is_packed: bool | None = None
    beginning: Beginning | None = field(default=None, repr=False)
    looked_into: _Opened | None = field(default=None, repr=False, compare=False)

    @property
    def is_standard_input(self) -> bool:
        """Standard input can be read only once, and is never closed here."""
        return self.path is None and self.uri is None

    def blocks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """Yields the capture's bytes, unpacked, in blocks of `size`. The last block is shorter; blocks of a pipe or of an object
        may be.

        A file can be read again, standard input cannot. Raises InputError when the source cannot be opened or read. Damaged
        compressed data are no error: the blocks end after all that could be unpacked, and a note says why.
        """
        with self._opened() as raw:
            name = raw.packing()
            self.is_packed = name is not None
            if name is None and not self.head:
                yield from _plain(raw, size)
            else:
                pieces = _plain(raw, size) if name is None else self._unpacked(raw, name)
                yield from _joined(chain([self.head], pieces), size)

    def fill(self, buffer: bytearray) -> Generator[tuple[memoryview, int], int, None]:
        """Like `blocks`, for a reader that may leave bytes unused: fills `buffer` again and again.

        Yields (view of the bytes in the buffer, number of new bytes of the file). The consumer sends back how many bytes it
        used; the next view begins with the others. The last time there are no new bytes: this is the end. More than half of
        the buffer left unused makes it grow. Raises as `blocks`; when an input breaks off, behind that last time.
        """
        with self._opened() as raw:
            name = raw.packing()
            stream: _Opened | _Pieces = raw if name is None else _Pieces(self._unpacked(raw, name))
            size = len(buffer)
            begin, end = 0, len(self.head)
            new, failure = end, None
            if end:
                buffer = bytearray(self.head).ljust(max(size, end))
            while True:
                buffer, begin, end = make_room(buffer, begin, end, size)
                try:
                    new = stream.readinto(memoryview(buffer)[end : end + max(size - (end - begin), size - size // 2)])
                except InputError as error:
                    new, failure = 0, error
                end += new
                begin += yield memoryview(buffer)[begin:end], new
                if failure:
                    raise failure
                if not new:
                    return

    @classmethod
    def beside(cls, path: Path) -> Source:
        """A file that says something about captures; `-` is standard input here too."""
        name = str(path)
        return cls(name) if name == STANDARD_INPUT else cls(file_text(name), path)

    def look(self, enough: Callable[[bytes], bool]) -> bytes:
        """The first bytes, unpacked: so many as are `enough`, or all. What is read next begins with them all the same, also of a
        pipe. Raises as `blocks`."""
        raw = _Opened(self).__enter__()
        raw.keep()
        name = raw.packing()
        pieces = _plain(raw, LOOK_BYTES) if name is None else self._unpacked(raw, name)
        head = b""
        while not enough(head) and (piece := next(pieces, b"")):
            head += piece
        pieces.close()
        raw.put_back()
        self.looked_into = raw
        return head

    def _opened(self) -> _Opened:
        """The file at its beginning."""
        raw, self.looked_into = self.looked_into or _Opened(self), None
        self.done_bytes = raw.bytes_ahead
        self.notes = []
        return raw

    def _unpacked(self, raw: _Opened, name: str) -> Generator[bytes]:
        count = 0
        try:
            for piece in unpack(raw, name):
                count += len(piece)
                yield piece
        except PackedDataError as error:
            if raw.can_be_reopened:
                with _Opened(replace(self, notes=[])) as again:
                    for piece in last_bytes(again, name, count):
                        count += len(piece)
                        yield piece
            text = f"{error}; what comes before counts ({count:,} bytes); copy or compress the file again"
            self.notes.append(Note("cut" if "in the middle" in str(error) else "damaged", count, 0, text))


def make_room(buffer: bytearray, begin: int, end: int, size: int) -> tuple[bytearray, int, int]:
    """The buffer, begin and end of the bytes that are still needed, `buffer[begin:end]`, with room behind them for the next read.

    While at most half of `size` is needed, only the first `size` bytes are used, which stay in the processor's cache. With more,
    the buffer is made larger than needed and used to its end, so that bytes are seldom moved, however few come at a time."""
    held = end - begin
    is_much = held > size // 2
    if end + max(size - held, size - size // 2) <= (len(buffer) if is_much else size):
        return buffer, begin, end
    limit = 2 * held + size if is_much else size
    roomy = buffer if len(buffer) >= limit else bytearray(limit)
    memoryview(roomy)[:held] = memoryview(buffer)[begin:end]
    return roomy, 0, held


class Piece(NamedTuple):
    """Input number `file`, or a part of it. `number` is the number of the split; among the pieces of a file, and of a capture
    point, numbers follow the order of time."""

    number: int
    file: int
    source: Source


class _Opened:
    """The open file of a source. Counts what is read; errors of the operating system and of storage become InputError."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ahead = b""
        self._file: BinaryIO | ObjectReader | StandardInput | None = None
        self._kept: list[bytes] | None = None
        self.closed = False
        self.can_be_reopened = not source.is_standard_input

    def __enter__(self) -> _Opened:
        self._file = self._file or self._in_words(self._open)
        return self

    def keep(self) -> None:
        """What is read from now on comes again after `put_back`, and until then nothing closes the file."""
        self._kept = []

    def put_back(self) -> None:
        """Puts what was kept before what is read next."""
        self._ahead, self._kept = b"".join(self._kept or ()), None

    @property
    def bytes_ahead(self) -> int:
        """How much was put back."""
        return len(self._ahead)

    def _open(self) -> BinaryIO | ObjectReader | StandardInput:
        source = self._source
        if source.uri is not None:
            found = StorageEntry(parse_address(source.uri), False, source.size_bytes or 0)
            reader = ObjectReader(found, source.begin, source.end)
            source.etag = reader.etag
            return reader
        if source.path is None:
            return StandardInput()
        opened = source.path.open("rb", buffering=0)
        status = source.path.stat()
        self.can_be_reopened = stat.S_ISREG(status.st_mode)
        if source.begin:
            if source.begin > status.st_size:
                raise InputError(f"{source.name}: was truncated after it was listed; run again when it is complete")
            opened.seek(source.begin)
        return opened

    def _in_words(self, work: Callable[..., T], *given: object) -> T:
        try:
            return work(*given)
        except StorageError as error:
            raise InputError(str(error)) from error
        except OSError as error:
            raise InputError(input_error_text(self._source.name, error)) from error

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Standard input itself stays open."""
        if self._kept is not None:
            return
        if not self.closed and self._file is not None:
            self._file.close()
        self.closed = True

    def packing(self) -> str | None:
        """The compression of the file, None for none. A piece that begins in the middle of a file is never compressed."""
        return packing(self._peek()) if self._source.begin == 0 else None

    def _peek(self) -> bytes:
        """The first 8 bytes, which `read` will return again."""
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
        """Reads once into the view; returns the number of bytes, 0 at the end."""
        if self._ahead:
            ahead, self._ahead = self._ahead[: len(view)], self._ahead[len(view) :]
            view[: len(ahead)] = ahead
            return len(ahead)
        count: int = self._in_words(self._file.readinto, view)  # type: ignore[union-attr]
        self._source.done_bytes += count
        return count

    def _read(self, size: int) -> bytes:
        data: bytes = self._in_words(self._file.read, size)  # type: ignore[union-attr]
        self._source.done_bytes += len(data)
        if self._kept is not None:
            self._kept.append(data)
        return data

    def readable(self) -> bool:
        """Asked by pyarrow."""
        return True


class _Pieces:
    """A stream that fills views from pieces of any length."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")
        self._failure: InputError | None = None

    def readinto(self, view: memoryview) -> int:
        """Fills the view, at the end less of it; returns the number of bytes, 0 at the end. It joins pieces: a
        call for a few KiB at a time costs more than reading them. An InputError is raised after the bytes before it were taken."""
        count = 0
        while count < len(view):
            if not self._rest:
                self._rest = memoryview(self._next())
                if not self._rest:
                    break
            some = self._rest[: len(view) - count]
            view[count : count + len(some)] = some
            self._rest = self._rest[len(some) :]
            count += len(some)
        if self._failure and not count:
            raise self._failure
        return count

    def _next(self) -> bytes:
        """The next piece that is not empty; none at the end, and where the input breaks off."""
        try:
            return next(filter(None, self._pieces), b"")
        except InputError as error:
            self._failure = error
            return b""


def _plain(raw: _Opened, size: int) -> Generator[bytes]:
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


def input_error_text(name: str, error: OSError) -> str:
    """One line for an input that the operating system does not open or read."""
    if isinstance(error, FileNotFoundError):
        return f"{name}: no such file; check the name"
    if isinstance(error, PermissionError):
        return f"{name}: permission denied; make it readable, or run as its owner"
    return f"{name}: cannot be read: {error.strerror or error}"
