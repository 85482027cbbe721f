"""Names of Kafka's error codes. Source: the protocol guide of each release since 3.9.1."""

from __future__ import annotations

from functools import cache
from pkgutil import get_data
from typing import NamedTuple


class ErrorCode(NamedTuple):
    """`retriable`: Apache's clients try again by themselves; None for a code that nobody knows."""

    code: int
    name: str
    retriable: bool | None


@cache
def known_errors() -> dict[int, ErrorCode]:
    """Every code of the protocol, 0 (NONE) and -1 included."""
    data = get_data("dissectors.kafka.schema", "error_codes.tsv")
    assert data is not None  # as long as the package is loaded from files
    rows = (line.split("\t") for line in data.decode("utf-8").splitlines()[1:])
    return {int(code): ErrorCode(int(code), name, retriable == "true") for code, name, retriable in rows}


def error_code(code: int) -> ErrorCode:
    """What a code means; one that nobody knows is called `UNKNOWN_123`."""
    return known_errors().get(code) or ErrorCode(code, f"UNKNOWN_{code}", None)
