"""What hostile conversations are made of: messages by name, connections that are surely Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from encode import encode
from made_capture import Conversation, pcap

# From about how many bytes to the bytes of one file.
Case = Callable[[int], bytes]
METADATA, PRODUCE, FETCH, API_VERSIONS = 3, 0, 1, 18


def asked(key: int, version: int, body: dict[str, Any], correlation: int = 1, client: str | None = "c") -> bytes:
    return encode(key, version, "request", {"correlation_id": correlation, "client_id": client}, body)


def answer(key: int, version: int, body: dict[str, Any], correlation: int = 1) -> bytes:
    return encode(key, version, "response", {"correlation_id": correlation}, body)


def about_topic(name: str, number: int, code: int = 3, client: str = "c") -> tuple[bytes, bytes]:
    """What is this topic, and an answer with an error."""
    reply = {
        "topics": [{"error_code": code, "name": name}],
        "brokers": [{"node_id": number, "host": name, "port": number}],
    }
    return asked(METADATA, 1, {"topics": [{"name": name}]}, number, client), answer(METADATA, 1, reply, number)


def one(request: bytes, reply: bytes | None = None, most: int = 60_000) -> bytes:
    """A connection of one exchange between two plain ones, so that it is surely Kafka."""
    conversation = pleasant(Conversation().shake(), 2).frame(0, request, most)
    if reply is not None:
        pleasant(conversation.frame(1, reply, most), 2)
    return pcap(conversation.packets)


def pleasant(conversation: Conversation, count: int) -> Conversation:
    for number in range(count):
        conversation.exchange(asked(METADATA, 1, {"topics": None}, 900 + number), answer(METADATA, 1, {}, 900 + number))
    return conversation


def many(pairs: Iterable[tuple[bytes, bytes | None]]) -> bytes:
    conversation = Conversation().shake()
    for request, reply in pairs:
        conversation.frame(0, request)
        if reply is not None:
            conversation.frame(1, reply)
    return pcap(conversation.packets)
