"""Names of Kafka's error codes. Source: the protocol guide of each release since 3.9.1."""

from __future__ import annotations

from collections.abc import Iterator
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
    rows = _rows("error_codes.tsv")
    return {int(code): ErrorCode(int(code), name, retriable == "true") for code, name, retriable in rows}


def sentence_sizes() -> Iterator[tuple[int, int]]:
    """(code, bytes) of the sentences that brokers send with a code where they have nothing else to say: each is known again by its
    size. Source: `Errors` of Apache's clients 3.9.1 to 4.3.1, and the controller's own sentence for 29; two changed with 4.0."""
    return ((int(code), int(size)) for code, size in _rows("error_sentences.tsv"))


def _rows(file: str) -> Iterator[list[str]]:
    data = get_data("dissectors.kafka.schema", file)
    assert data is not None  # as long as the package is loaded from files
    return (line.split("\t") for line in data.decode("utf-8").splitlines()[1:])


def error_code(code: int) -> ErrorCode:
    """What a code means; one that nobody knows is called `UNKNOWN_123`."""
    return known_errors().get(code) or ErrorCode(code, f"UNKNOWN_{code}", None)
