"""How far tests go: `make test` asks every law, `make test-all` (KANALYZE_LONG=1) asks it of everything."""

from __future__ import annotations

import os

LONG = bool(os.environ.get("KANALYZE_LONG"))


def one_in(count: int) -> int:
    """The step with which a test walks over cases that are much alike: 1 for all of them."""
    return 1 if LONG else count
