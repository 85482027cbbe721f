"""Names of addresses while a capture is watched: lists of them are written anew as pods come and go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analyzer.names.name_files import NamesError
from analyzer.names.name_table import Names, joined, told_by


class ChangingNames:
    """`names` as the files say them now; None: none were given. A capture, whose names are sought in all of its packets, and what
    comes through a pipe are read once. Raises NamesError at first."""

    def __init__(self, paths: Sequence[Path]) -> None:
        stamps = {path: _stamp(path) for path in paths}
        self._told = {path: told_by(path) for path in paths}
        self._stamps = {path: stamp for path, stamp in stamps.items() if stamp and self._told[path].is_list}
        self.names: Names | None = joined(self._told) if paths else None

    def look(self) -> str | None:
        """Reads again what was changed. A line on a file that cannot be read, which may be half written: what it said before counts
        until it is changed again."""
        trouble = None
        for path, before in self._stamps.items():
            if (now := _stamp(path)) == before:
                continue
            self._stamps[path] = now
            try:
                told = self._told | {path: told_by(path)}
                self.names, self._told = joined(told), told
            except NamesError as error:
                trouble = f"{error}; the names read before stay"
        return trouble


def _stamp(path: Path) -> tuple[int, ...]:
    """Changes with the file; empty where there is none, or no regular one."""
    try:
        status = path.stat() if path.is_file() else None
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_size, status.st_ino) if status else ()
