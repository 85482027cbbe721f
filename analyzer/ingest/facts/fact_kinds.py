"""What a kind of fact says of itself: which messages it reads, which of their fields, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

# A row of a raw table: its name, and its values without those that the collector knows (exchange and part, or body).
Row = tuple[str, tuple[Any, ...]]


class Message(NamedTuple):
    """The chosen fields of one message. Not `whole`: the capture has only the beginning, lists may go on."""

    fields: dict[str, Any]
    whole: bool

    def get(self, name: str) -> Any:
        return self.fields.get(name)


class Seen(NamedTuple):
    """An exchange as it ended. A message is None when there is none or it could not be read.

    `begin_ns` is the first byte of the first message that is here, `end_ns` the last byte of the last one; None: not seen.
    `status` as in the table `exchanges`; None when only one message of it was asked for.
    """

    part: int
    version: int
    request: Message | None
    reply: Message | None
    begin_ns: int | None = None
    end_ns: int | None = None
    status: str | None = None


@dataclass(frozen=True)
class Kind:
    """Facts of one API. `request` and `reply` name the fields to read (`dissectors.kafka.columns.field_reader`), None:
    not that message.

    With both, `read` is asked once, when the exchange has ended. `by_body`: the facts are the same in equal bodies, and
    leave once; `repeats`: exchanges of equal bytes are many, and mostly tell nothing.
    """

    key: int
    request: str | None
    reply: str | None
    read: Callable[[Seen], Iterator[Row]]
    by_body: bool = False
    repeats: bool = False


def uuid_or_none(value: bytes | None) -> str | None:
    """A uuid as Kafka prints it; None for zero, which stands for "none"."""
    from base64 import urlsafe_b64encode

    return None if value is None or not any(value) else urlsafe_b64encode(value).decode().rstrip("=")


def known(number: int | None) -> int | None:
    """None for what is below zero, where that means "none" or "unknown"."""
    return None if number is None or number < 0 else number
