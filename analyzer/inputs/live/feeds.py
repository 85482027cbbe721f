"""What a person names to watch: `-`, pipes, files that grow, directories and globs of a ring's files."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from typing import Protocol

from analyzer.base.storage.addresses import is_storage_uri
from analyzer.base.text import file_text
from analyzer.inputs.live.growing_files import GrowingFiles
from analyzer.inputs.live.live_source import LiveSource
from analyzer.inputs.live.spool import Spool
from analyzer.inputs.readings import tap_of
from analyzer.inputs.sources import STANDARD_INPUT, InputError, input_error_text

# Ends of names in a directory that are no part of the ring: what a capturer compressed was read before.
_PACKED = (".gz", ".zst", ".lz4", ".xz", ".bz2")


class Feed(Protocol):
    """Gives sources one after the other."""

    lost_bytes: int
    lost_files: int

    def following(self) -> LiveSource | None:
        """The next source, when the one before is over; None: there is none now."""

    @property
    def waiting_bytes(self) -> int:
        """What is there and not read yet."""

    def look(self) -> None:
        """Looks for what is new."""


class PipeFeed:
    """One pipe. `ended`: its only source was given."""

    lost_bytes = lost_files = 0

    def __init__(self, name: str, spool: Spool) -> None:
        self.spool = spool
        self._source: LiveSource | None = LiveSource(name, spool)

    def following(self) -> LiveSource | None:
        """The pipe, once."""
        source, self._source = self._source, None
        return source

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
    if given == STANDARD_INPUT:
        return PipeFeed(name, Spool(_standard_input, folder, spool_bytes))
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
        return GrowingFiles(lambda: [path], follows=True)
    # A pipe is opened when somebody writes to it: in the thread that waits.
    return PipeFeed(name, Spool(partial(os.open, path, os.O_RDONLY | os.O_CLOEXEC), folder, spool_bytes))


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
