"""What becomes of a text of a message: what is well known stays, all other text is replaced, length by length."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from analyzer.redact import allow_list

if TYPE_CHECKING:
    from analyzer.redact.pseudonyms import Pseudonyms

_MOST_CACHED = 1 << 17
# Longer text is content, whatever its field: it becomes zeros.
LONGEST_NAME = 32_768
# So many well-known words are told one by one.
_MOST_TOLD = 10_000


class Texts:
    """`of(kind, text)`: the bytes to write for the bytes of a text, as many. `kept`: (kind, text) of what stayed as it is."""

    def __init__(self, pseudonyms: Pseudonyms) -> None:
        self.pseudonyms = pseudonyms
        self.kept: set[tuple[str, str]] = set()
        self.of = lru_cache(_MOST_CACHED)(self._of)

    def _of(self, kind: str, text: bytes) -> bytes:
        if kind == "secret" or len(text) > LONGEST_NAME:
            return b"0" * len(text)
        if allow_list.is_kept(kind, text):
            self._tell(kind, text)
            return text
        if kind == "host":
            return self.pseudonyms.host(text)
        if (found := allow_list.parts(kind, text)) is not None:
            before, kept, behind = found
            self._tell(kind, kept)
            return self.pseudonyms.name(before) + kept + self.pseudonyms.name(behind)
        return self.pseudonyms.name(text)

    def _tell(self, kind: str, text: bytes) -> None:
        if text and len(self.kept) < _MOST_TOLD:
            self.kept.add((kind, text.decode("latin-1")))
