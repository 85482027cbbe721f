"""What a person names to watch: `-`, pipes, files that grow, directories and globs of a ring's files."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from time import monotonic
from typing import Protocol

from analyzer.base.storage.addresses import is_storage_uri
from analyzer.base.text import file_text
from analyzer.inputs.live.growing_files import GrowingFiles
from analyzer.inputs.live.live_source import LiveSource
from analyzer.inputs.live.spool import Spool
from analyzer.inputs.readings import tap_of
from analyzer.inputs.sources import STANDARD_INPUT, InputError, Source, input_error_text
from dissectors.formats.format_detection import is_request_log

# A log of requests shows itself in so many bytes.
HEAD_BYTES = 1 << 16
# So long another writer may take to open a pipe where all other feeds have ended, too.
WRITER_S = 3.0
# Ends of names in a directory that are no part of the ring: what a capturer compressed was read before.
_PACKED = (".gz", ".zst", ".lz4", ".xz", ".bz2")


# Takes what opens a pipe.
SpoolOf = Callable[[Callable[[], int]], Spool]


class Feed(Protocol):
    """Gives sources one after the other."""

    lost_bytes: int
    lost_files: int

    def following(self) -> LiveSource | None:
        """The next source, when the one before is over; None: there is none now."""

    @property
    def waiting_bytes(self) -> int:
        """What is there and not read yet."""

    @property
    def has_ended(self) -> bool:
        """Whether there will be no other source, as far as is known; asked only between two."""

    def look(self) -> None:
        """Looks for what is new."""


class PipeFeed:
    """One pipe. One with a name `is_reopened` by writers that come later; each one's bytes are a source of their own, as they begin
    with a head of their own."""

    lost_bytes = lost_files = 0

    def __init__(self, name: str, opened: Callable[[], int], spool_of: SpoolOf, *, is_reopened: bool) -> None:
        self.spool = spool_of(opened)
        self._name = name
        self._spool_of = spool_of
        self._is_reopened = is_reopened
        self._begun = False
        self._alone_since: float | None = None  # without a writer

    @property
    def has_ended(self) -> bool:
        """Between two sources: whether no writer has come for WRITER_S, or none can come."""
        if not self._is_reopened:
            return self._begun
        waits = self._alone_since is not None and not self.waiting_bytes
        return waits and monotonic() - (self._alone_since or 0) > WRITER_S

    def following(self) -> LiveSource | None:
        """The first writer's bytes at once, so that it is known what is waited for; those of another when there are some."""
        if not self._begun:
            self._begun = True
            return LiveSource(self._name, self.spool)
        if self._alone_since is None:
            self._is_reopened = self._is_reopened and self.spool.has_read_all
            if not self._is_reopened:
                return None
            self._alone_since = monotonic()
            self.spool = self._spool_of(self.spool.opened_again)
        if not self.spool.waiting_bytes:
            return None
        self._alone_since = None
        return LiveSource(self._name, self.spool)

    @property
    def waiting_bytes(self) -> int:
        """What was taken off the pipe and not read yet."""
        return self.spool.waiting_bytes

    def look(self) -> None:
        """A pipe is no ring."""


class Named:
    """A feed with its name and its capture point."""

    def __init__(self, name: str, tap: str, feed: Feed) -> None:
        self.name = name
        self.tap = tap
        self.feed = feed


def names_of(inputs: Sequence[str], taps: Sequence[tuple[str, str]]) -> list[str]:
    """What is watched, in the order of the feeds: the inputs, then the paths that only `taps` name."""
    return [*inputs, *(each for _, each in taps if each not in inputs and Path(each).exists())]


def reads_in(given: str, folder: Path) -> bool:
    """Whether a source names files in a folder or below it, now or later. A pipe is none, wherever it lies."""
    if given == STANDARD_INPUT or is_storage_uri(given):
        return False
    home = Path(os.path.realpath(folder))
    if not has_magic(given) or Path(given).exists():
        return not Path(given).is_fifo() and Path(os.path.realpath(given)).is_relative_to(home)
    parts = Path(os.path.abspath(given)).parts  # noqa: PTH100 (links are followed where nothing is matched yet)
    first = next(at for at, part in enumerate(parts) if has_magic(part))
    base, rest = Path(os.path.realpath(Path(*parts[:first]))), parts[first:]
    if base.is_relative_to(home) or not home.is_relative_to(base):
        return base.is_relative_to(home)
    between = home.relative_to(base).parts
    return "**" in rest or (len(rest) > len(between) and all(map(fnmatch, between, rest)))


def feeds_of(
    inputs: Sequence[str], taps: Sequence[tuple[str, str]], folder: Path | None, spool_bytes: int
) -> list[Named]:
    """The feeds of `names_of`: `--tap web=p1` alone names the pipe too. Raises InputError."""
    named = names_of(inputs, taps)
    if not named:
        raise InputError("nothing to watch: name a file, a pipe, a directory, or - for standard input")
    return [Named(file_text(each), tap_of(file_text(each), taps), _feed(each, folder, spool_bytes)) for each in named]


def _feed(given: str, folder: Path | None, spool_bytes: int) -> Feed:
    name = file_text(given)
    path = Path(given)
    spool_of = partial(Spool, folder=folder, most_bytes=spool_bytes)
    if given == STANDARD_INPUT:
        return PipeFeed(name, _standard_input, spool_of, is_reopened=False)
    if is_storage_uri(given):
        raise InputError(f"{name}: an object does not grow; `kanalyze {name}` reports on it")
    if has_magic(given) and not path.exists():
        return GrowingFiles(partial(_matching, given))
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(input_error_text(name, error)) from error
    if stat.S_ISDIR(mode):
        return GrowingFiles(partial(_files_in, path))
    if not os.access(path, os.R_OK):
        raise InputError(input_error_text(name, PermissionError()))
    if stat.S_ISREG(mode):
        if is_request_log(next(Source(name, path).blocks(HEAD_BYTES), b"")):
            raise InputError(
                f"{name}: a broker's log of requests, which is not watched; `kanalyze {name}` reports on it"
            )
        return GrowingFiles(lambda: [path], follows=True)
    # A pipe is opened when somebody writes to it: in the thread that waits.
    opened = partial(os.open, path, os.O_RDONLY | os.O_CLOEXEC)
    return PipeFeed(name, opened, spool_of, is_reopened=stat.S_ISFIFO(mode))


def _standard_input() -> int:
    return sys.stdin.fileno()


def _matching(pattern: str) -> Iterator[Path]:
    for name in glob(pattern, recursive=True):  # noqa: PTH207 (pathlib takes no absolute patterns)
        if not name.endswith(_PACKED) and Path(name).is_file():
            yield Path(name)


def _files_in(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and not entry.name.endswith(_PACKED) and entry.is_file():
                yield Path(entry.path)
