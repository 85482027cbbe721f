"""The one way in which verbs write under a name that a user gave: a file here, an object in storage, a device, a pipe.

- A file appears whole or not at all: it grows in a hidden directory beside its place, is brought to disk, and then takes the name.
  What was there stays until then, also when the disk is full or the run is killed. The next run removes what a killed one left
  (`temp_folders`). A link is followed: what it names is replaced, not the link. Mode and owner of a file that is replaced are kept.
- What is no file but takes bytes is written into when all is known, never replaced: standard output (`-`), devices without a
  disk's content, pipes, FIFOs, descriptors that a shell passed on (`>(...)`). It is refused where a name would be lost, or a disk:
  directories, sockets, block devices.
- What is read is not written: files are known by device and inode, whatever names they have.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from analyzer.base import temp_folders
from analyzer.base.named_files import NamedFile
from analyzer.base.storage.addresses import is_storage_uri, parse_address
from analyzer.base.text import file_text

STANDARD_OUTPUT = "-"
# For what holds what people sent: nobody else reads it.
PRIVATE, PUBLIC = 0o600, 0o666
_PIECE_BYTES = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT)
_NO_SPACE = "no space left on its disk; free some, or choose another place"
# Where the kernel lists the open files of a process; /dev/fd and /dev/stdout lead there.
_DESCRIPTORS = re.compile(r"/proc/(\d+)/(?:task/\d+/)?fd")


class OutputError(OSError):
    """An output could not be written, and what was there is as it was. `filename` is what the user called it, `strerror` a line."""


class RefusedError(Exception):
    """What a user named is not written to; the message is a line for a person."""


class _Known(NamedTuple):
    device: int
    inode: int


@dataclass(frozen=True)
class Inputs:
    """What a run reads, and so must not write: files, directories with all below them, and addresses in storage."""

    files: frozenset[_Known] = frozenset()
    addresses: frozenset[str] = frozenset()

    @classmethod
    def of(cls, names: Iterable[str | Path]) -> Inputs:
        """Those of these that are there. Raises StorageError for an address that is none."""
        texts = [str(name) for name in names]
        addresses = {parse_address(text).uri for text in texts if is_storage_uri(text)}
        found = {_known(text) for text in texts if not is_storage_uri(text)}
        return cls(frozenset(each for each in found if each), frozenset(addresses))

    def __or__(self, other: Inputs) -> Inputs:
        return Inputs(self.files | other.files, self.addresses | other.addresses)

    def with_descriptor(self, descriptor: int) -> Inputs:
        """These, and what a descriptor is open for, if that is a file."""
        with suppress(OSError):
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode):
                return replace(self, files=self.files | {_Known(status.st_dev, status.st_ino)})
        return self


def _known(path: str | Path | int) -> _Known | None:
    try:
        status = os.fstat(path) if isinstance(path, int) else os.stat(path)  # noqa: PTH116 (names of any bytes, descriptors)
    except (OSError, ValueError):
        return None
    return _Known(status.st_dev, status.st_ino)


@dataclass(frozen=True)
class Output:
    """Where something is written. `name`: what the user wrote; `mode`: that of a new file, less what the umask takes;
    `temp_dir`: for what goes elsewhere than into a file here.
    """

    name: str
    inputs: Inputs = field(default_factory=Inputs)
    mode: int = PUBLIC
    temp_dir: Path | None = None

    def __str__(self) -> str:
        return "standard output" if self.name == STANDARD_OUTPUT else file_text(self.name)

    def but_not(self, names: Iterable[str | Path]) -> Output:
        """The same, which must not be one of these either. Raises as `check`."""
        more = replace(self, inputs=self.inputs | Inputs.of(names))
        more.check()
        return more

    @property
    def is_kept(self) -> bool:
        """Whether what is written can be read again, and has a name beside which more may lie: a file or an object."""
        return is_storage_uri(self.name) or isinstance(self._place(), Path)

    def beside(self, ending: str) -> Output:
        """The output whose name is this one's and an ending."""
        return replace(self, name=f"{self.name}{ending}")

    def check(self) -> None:
        """Raises RefusedError for what must not be written, or cannot be. OSError where the name cannot be looked up."""
        if is_storage_uri(self.name):
            address = parse_address(self.name).uri
            if any(address == read or address.startswith(f"{read.rstrip('/')}/") for read in self.inputs.addresses):
                raise RefusedError(f"{self}: is one of the captures; name another file")
            return
        place = self._place()
        there = (place, *place.parents) if isinstance(place, Path) else (1 if place == STANDARD_OUTPUT else place,)
        known = {_known(each) for each in there}
        if known & self.inputs.files:
            raise RefusedError(f"{self}: is one of the captures, or is read with them; name another file")

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """A stream of what is written when the block ends well. Names that end in .gz and .zst are compressed. Raises as `check`,
        and OutputError."""
        with self.file() as path, packed(path, Path(self.name).suffix, self.mode) as sink:
            yield sink

    @contextmanager
    def file(self) -> Iterator[Path]:
        """A path at which a new file can be made, which is written when the block ends well. Raises as `check`, and OutputError."""
        self.check()
        place = None if is_storage_uri(self.name) else self._place()
        here = isinstance(place, Path)
        try:
            folder = temp_folders.make_beside(place) if isinstance(place, Path) else temp_folders.make(self.temp_dir)
        except OSError as error:
            raise self._error(error) if here else error from error
        try:
            with full_disk(folder, str(self)) if here else nullcontext():
                yield folder / "unfinished"
            self._put(folder / "unfinished", place)
        finally:
            temp_folders.remove(folder)

    def _put(self, made: Path, place: Path | int | str | None) -> None:
        if place is None:
            _upload(made, self.name)
            return
        try:
            if isinstance(place, Path):
                self._rename(made, place)
            else:
                self._pour(made, place)
        except OSError as error:
            raise self._error(error) from error

    def _rename(self, made: Path, place: Path) -> None:
        with suppress(FileNotFoundError):
            before = place.stat()
            if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                with suppress(OSError):
                    os.chown(made, before.st_uid, before.st_gid)
            made.chmod(stat.S_IMODE(before.st_mode) & 0o777)
        descriptor = os.open(made, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        made.replace(place)

    def _pour(self, made: Path, place: int | str) -> None:
        with made.open("rb") as source:
            if place == STANDARD_OUTPUT:
                shutil.copyfileobj(source, sys.stdout.buffer, _PIECE_BYTES)
                sys.stdout.buffer.flush()
                return
            opened = os.dup(place) if isinstance(place, int) else os.open(place, os.O_WRONLY | os.O_NOCTTY)
            with os.fdopen(opened, "wb", buffering=0) as sink:
                while data := memoryview(source.read(_PIECE_BYTES)):
                    while data:
                        data = data[sink.write(data) :]

    def _place(self) -> Path | int | str:
        """The file to replace or to make; or what is written into: a descriptor, the name of a device or FIFO, `-`. RefusedError
        for what is none of these."""
        if self.name == STANDARD_OUTPUT:
            return STANDARD_OUTPUT
        if (descriptor := _descriptor(self.name)) is not None:
            return STANDARD_OUTPUT if descriptor == 1 else descriptor
        if self.name.endswith("/"):
            raise RefusedError(f"{self}: is a directory; name a file")
        try:
            mode = os.stat(self.name).st_mode  # noqa: PTH116 (names of any bytes)
        except FileNotFoundError:
            place = Path(os.path.realpath(self.name))
            if not place.parent.is_dir():
                raise RefusedError(f"{self}: there is no such directory") from None
            return place
        if stat.S_ISREG(mode):
            return Path(os.path.realpath(self.name))
        if stat.S_ISCHR(mode) or stat.S_ISFIFO(mode):
            return self.name
        kind = "a directory" if stat.S_ISDIR(mode) else "a disk" if stat.S_ISBLK(mode) else "no file"
        raise RefusedError(f"{self}: is {kind}; name a file")

    def _error(self, error: OSError) -> OSError:
        if error.errno == errno.EPIPE:
            return error  # who reads has enough
        text = _NO_SPACE if error.errno in _FULL else error.strerror or str(error)
        return OutputError(error.errno, text, str(self))


def _descriptor(name: str) -> int | None:
    """The descriptor of this process that a name means: /dev/stdout, /dev/fd/63, links to these."""
    for _ in range(40):  # as many links as the kernel follows
        folder, last = os.path.split(os.path.abspath(name))  # noqa: PTH100 (pathlib has no such)
        match = _DESCRIPTORS.fullmatch(os.path.realpath(folder))
        if match and last.isdecimal():
            return int(last) if int(match[1]) == os.getpid() else None
        if not os.path.islink(name):  # noqa: PTH114
            return None
        name = os.path.join(folder, os.readlink(name))  # noqa: PTH115, PTH118
    return None


@contextmanager
def full_disk(folder: Path, name: str) -> Iterator[None]:
    """Where the disk of `folder` is full, the error that comes out is an OutputError about `name`, what the user called it. Other
    disks may be full too: that of temporary tables."""
    try:
        yield
    except Exception as error:
        if _is_full(error) and str(folder) in f"{getattr(error, 'filename', '')} {error}":
            raise OutputError(errno.ENOSPC, _NO_SPACE, name) from None
        raise


def _is_full(error: Exception) -> bool:
    """Also as the SQL engine tells it, whose errors are no OSError."""
    return getattr(error, "errno", None) in _FULL or "No space left" in str(error) or "quota exceeded" in str(error)


@contextmanager
def new_file(path: Path, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """A stream that writes a new file, or one anew, of this run."""
    path.unlink(missing_ok=True)
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with io.BufferedRandom(NamedFile(opened, "r+b", str(path))) as plain:
        yield cast("BinaryIO", plain)


@contextmanager
def packed(path: Path, suffix: str, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """As `new_file`, compressed as `suffix` says."""
    with new_file(path, mode) as plain:
        if suffix == ".gz":
            with gzip.open(plain, "wb") as sink:
                yield cast("BinaryIO", sink)
        elif suffix == ".zst":
            import pyarrow as pa

            with pa.CompressedOutputStream(plain, "zstd") as squeezed:
                yield cast("BinaryIO", squeezed)
        else:
            yield plain


def _upload(path: Path, uri: str) -> None:
    """Sends a file; what came of it when it breaks off is removed."""
    from analyzer.base.storage.objects import object_writer, remove_object

    at = parse_address(uri)
    try:
        with path.open("rb") as source, object_writer(at) as target:
            shutil.copyfileobj(source, target, _PIECE_BYTES)
    except BaseException:
        remove_object(at)
        raise
