"""Key logs of TLS that grow while a capture is watched."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

from analyzer.ingest.tls_facts import LONGEST_LINE_BYTES
from dissectors.tls.keys import KeyLog

LOOK_S = 0.05
_READ_BYTES = 1 << 20


class GrowingKeyLogs:
    """Reads lines as they are appended. A file that became shorter was written anew, and is read from its beginning."""

    def __init__(self, paths: Sequence[Path], keys: KeyLog) -> None:
        self._keys = keys
        self._at = dict.fromkeys(paths, 0)
        self._begun = dict.fromkeys(paths, b"")
        self._looked = float("-inf")

    def look(self) -> None:
        """Takes what is new. A file that cannot be read now is tried again."""
        if not self._at or monotonic() - self._looked < LOOK_S:
            return
        self._looked = monotonic()
        for path in self._at:
            with suppress(OSError):
                self._read(path)

    def _read(self, path: Path) -> None:
        size = path.stat().st_size
        if size < self._at[path]:
            self._at[path], self._begun[path] = 0, b""
        if size == self._at[path]:
            return
        with path.open("rb") as file:
            file.seek(self._at[path])
            while data := file.read(_READ_BYTES):
                self._at[path] += len(data)
                *lines, rest = (self._begun[path] + data).split(b"\n")
                for line in lines:
                    self._keys.read_line(line)
                # Longer than any line can be: no key log.
                self._begun[path] = rest if len(rest) < LONGEST_LINE_BYTES else b""
