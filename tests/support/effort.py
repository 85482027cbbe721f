"""How far tests go: `make test` asks every law, `make test-all` (KANALYZE_LONG=1) asks it of everything."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

LONG = bool(os.environ.get("KANALYZE_LONG"))
Case = TypeVar("Case")


def one_in(count: int) -> int:
    """The step with which a test walks over cases that are much alike: 1 for all of them."""
    return 1 if LONG else count


def also_long(some: Sequence[Case], others: Sequence[Case]) -> list[Case]:
    """Cases of which `some` are asked always, since each shows what the others do not, and the others by `make test-all`."""
    return [*some, *(others if LONG else ())]
