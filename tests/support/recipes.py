"""The code of guides, as tests run it."""

from __future__ import annotations

import re

from paths import ROOT


def blocks(guide: str, language: str = "python") -> list[str]:
    """The blocks of a guide that are in a language, in the order in which they stand there."""
    text = (ROOT / "docs" / "guides" / guide).read_text(encoding="utf-8")
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return found


def block(guide: str, word: str) -> str:
    """The one block of Python in which a word stands."""
    (found,) = (each for each in blocks(guide) if word in each)
    return found
