"""How far tests go: `make test` asks every law, `make test-all` (KANALYZE_LONG=1) asks it of everything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, TypeVar

LONG = bool(os.environ.get("KANALYZE_LONG"))
Case = TypeVar("Case")


def one_in(count: int) -> int:
    """The step with which a test walks over cases that are much alike: 1 for all of them."""
    return 1 if LONG else count


def also_long(some: Sequence[Case], others: Sequence[Case]) -> list[Case]:
    """Cases of which `some` are asked always, since each shows what the others do not, and the others by `make test-all`."""
    return [*some, *(others if LONG else ())]


def in_turn(*dimensions: Iterable[Any], every: int) -> list[tuple[Any, ...]]:
    """One in `every` of the combinations, such that each value comes with values of all others; by `make test-all` all of them."""
    combinations = product(*(enumerate(values) for values in dimensions))
    return [
        tuple(value for _, value in each)
        for each in combinations
        if sum(place for place, _ in each) % one_in(every) == 0
    ]
