"""A kind of fact: which messages it is read from, which of their fields, and the function that makes rows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

# The name of a raw table, and a row of it without the first columns, which the collector adds (exchange and part, or body).
Row = tuple[str, tuple[Any, ...]]


class Message(NamedTuple):
    """The chosen fields of one message. Not `whole`: the capture has only its beginning, and lists may be incomplete."""

    fields: dict[str, Any]
    whole: bool

    def get(self, name: str) -> Any:
        return self.fields.get(name)


class SeenExchange(NamedTuple):
    """An exchange that has ended. A message is None when there is none, or it could not be read.

    `begin_ns` is the time of the first byte of its first message, `end_ns` that of the last byte of its last one; None: not
    seen. `status` is as in the table `exchanges`; None where the kind of fact reads one message only.
    """

    part: int
    version: int
    request: Message | None
    reply: Message | None
    begin_ns: int | None = None
    end_ns: int | None = None
    status: str | None = None

    def fields(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The chosen fields of request and reply; of a message that is not there none."""
        return _fields(self.request), _fields(self.reply)


def _fields(message: Message | None) -> dict[str, Any]:
    return {} if message is None else message.fields


@dataclass(frozen=True)
class FactKind:
    """Facts of one API; several kinds may read different messages of it. `request` and `reply` name the fields to read
    (`dissectors.kafka.columns.field_reader`); None: the message is not read.

    With both, `read` is called once, when the exchange has ended. `by_body`: equal bodies have the same facts, which are
    written once. `repeats`: `read` looks at nothing but version, request and reply, and many exchanges have equal bytes; these
    have the same facts, which are read once. If `read` also looks at what earlier exchanges told, `changes` counts how often
    that changed: with each change what was read before is forgotten. `brief` names fewer fields of the reply: for one that has more
    elements than a reader takes, or is not whole.
    """

    key: int
    request: str | None
    reply: str | None
    read: Callable[[SeenExchange], Iterator[Row]]
    by_body: bool = False
    repeats: bool = False
    changes: Callable[[], int] | None = None
    brief: str | None = None


def uuid_or_none(value: bytes | None) -> str | None:
    """A uuid as Kafka prints it; None for zero, which means "none"."""
    from base64 import urlsafe_b64encode

    return None if value is None or not any(value) else urlsafe_b64encode(value).decode().rstrip("=")


def known(number: int | None) -> int | None:
    """None for what is below zero, where that means "none" or "unknown"."""
    return None if number is None or number < 0 else number
