"""Hostile frames and messages in sound streams: lengths, counts and codes that are wrong, absurd or endless; names that act.

A case is a function from about how many bytes to the bytes of one file, as in `hostile_files`.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Iterator
from random import Random

import material
import random_batches
from damage_bytes import damage
from encode import unsigned_varint
from made_capture import ACK, PSH, START_US, Conversation, merged, pcap
from plain_conversations import (
    API_VERSIONS,
    FETCH,
    METADATA,
    PRODUCE,
    Case,
    about_topic,
    answer,
    asked,
    many,
    one,
    pleasant,
)
from random_batches import Record

CASES: dict[str, Case] = {}
LAST = 2**31 - 1
# What acts upon terminals, spreadsheets, SQL, markup and JSON.
NAMES = (
    "\x1b[2J\x9b\u202e\x00", "=1+1", "'; DROP TABLE exchanges; --", "[red]x[/red]", '"\\u0000', "${x}", "%s%n", "../../x", "",
)  # fmt: skip


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


# ---- frames ----


@case
def lengths_without_end(_: int) -> bytes:
    conversation, lengths = pleasant(Conversation().shake(), 2), b"\x7f\xff\xff\xff" * 300
    return pcap(conversation.put(0, PSH | ACK, lengths).put(1, PSH | ACK, lengths).packets)


@case
def frames_of_nothing(size: int) -> bytes:
    return frames(size, b"\0\0\0\0")


@case
def frames_below_nothing(size: int) -> bytes:
    return frames(size, b"\xff\xff\xff\xff")


def frames(size: int, each: bytes) -> bytes:
    conversation = pleasant(Conversation().shake(), 2)
    for _ in range(size // 60_000 + 1):
        conversation.put(0, PSH | ACK, each * 15_000)
    return pcap(conversation.packets)


@case
def keys_of_nobody(size: int) -> bytes:
    return many(
        (struct.pack(">hhihx", key % 0x8000 - 5, 0, key, -1), struct.pack(">i", key)) for key in range(size // 200 + 1)
    )


@case
def versions_of_tomorrow(size: int) -> bytes:
    return many(
        (struct.pack(">hhih", n % 90, 32767, n, -1) + bytes(20), struct.pack(">ih", n, 35))
        for n in range(size // 200 + 1)
    )


@case
def one_id_for_all(size: int) -> bytes:
    return many((asked(METADATA, 1, {"topics": None}, 7), answer(METADATA, 1, {}, 7)) for _ in range(size // 300 + 1))


@case
def requests_alone(size: int) -> bytes:
    return many((asked(METADATA, 1, {"topics": None}, n), None) for n in range(size // 110 + 1))


@case
def replies_alone(size: int) -> bytes:
    conversation = pleasant(Conversation().shake(), 2)
    for n in range(size // 110 + 1):
        conversation.frame(1, answer(METADATA, 1, {}, n))
    return pcap(conversation.packets)


# ---- messages ----


@case
def metadata_of_empty_names(size: int) -> bytes:
    """An array of strings that take two bytes each."""
    count = size // 2
    head = struct.pack(">hhih", METADATA, 1, 1, 1) + b"c" + struct.pack(">i", count)
    return one(head + bytes(2 * count), answer(METADATA, 1, {}))


@case
def metadata_of_many_partitions(size: int) -> bytes:
    partition = struct.pack(">hiiii", 0, 1, 2, 0, 0)
    count = size // len(partition)
    reply = struct.pack(">iiihi", 1, 0, 0, -1, 0) + struct.pack(">i", 1) + struct.pack(">hhbi", 0, 0, 0, count)
    reply = struct.pack(">iiii", 1, 0, 1, 1) + struct.pack(">hhbi", 3, 0, 0, count) + partition * count
    return one(asked(METADATA, 1, {"topics": None}), reply)


@case
def tags_of_nobody(size: int) -> bytes:
    """Unknown tagged fields, each of no bytes."""
    head = struct.pack(">hhih", API_VERSIONS, 3, 1, 1) + b"c" + b"\0" + b"\x02a\x02b"
    tags = b"".join(unsigned_varint(n) + b"\0" for n in range(1, size // 4))
    return one(head + unsigned_varint(size // 4 - 1) + tags, answer(API_VERSIONS, 3, {}))


@case
def one_tag_again(size: int) -> bytes:
    head = struct.pack(">hhih", API_VERSIONS, 3, 1, 1) + b"c" + b"\0" + b"\x02a\x02b"
    return one(head + unsigned_varint(size // 2) + b"\x63\0" * (size // 2), answer(API_VERSIONS, 3, {}))


@case
def a_long_tag(size: int) -> bytes:
    head = struct.pack(">hhih", API_VERSIONS, 3, 1, 1) + b"c" + b"\0" + b"\x02a\x02b"
    return one(head + b"\x01\x63" + unsigned_varint(size) + bytes(size), answer(API_VERSIONS, 3, {}))


@case
def versions_of_many_apis(size: int) -> bytes:
    count = size // 6
    reply = struct.pack(">ihi", 1, 0, count) + b"".join(struct.pack(">hhh", n & 0x7FFF, 0, 9) for n in range(count))
    return one(asked(API_VERSIONS, 0, {}), reply)


@case
def fetch_of_many_partitions(size: int) -> bytes:
    partition = struct.pack(">iqi", 1, 0, 1)
    count = size // len(partition)
    body = (
        struct.pack(">iiii", -1, 500, 1, 1) + struct.pack(">h", 1) + b"t" + struct.pack(">i", count) + partition * count
    )
    return one(struct.pack(">hhih", FETCH, 0, 1, 1) + b"c" + body, answer(FETCH, 0, {}))


@case
def fetched_error_codes(size: int) -> bytes:
    """Every error code there can be."""
    count = min(size // 18, 65_536)
    partitions = b"".join(struct.pack(">ihqi", n, n - 32_768, -1, 0) for n in range(count))
    reply = struct.pack(">iih", 1, 1, 1) + b"t" + struct.pack(">i", count) + partitions
    return one(asked(FETCH, 0, {}), reply)


@case
def topics_without_end(size: int) -> bytes:
    names = (f"{n:05}" + "x" * 32_000 for n in range(size // 70_000 + 1))
    return many(about_topic(name, n) for n, name in enumerate(names))


@case
def many_topics(size: int) -> bytes:
    names = [f"topic-{n}" for n in range(size // 30 + 1)]
    return one(
        asked(METADATA, 1, {"topics": [{"name": name} for name in names]}),
        answer(METADATA, 1, {"topics": [{"error_code": 3, "name": name} for name in names]}),
    )


@case
def names_that_act(size: int) -> bytes:
    names = (NAMES[n % len(NAMES)] for n in range(size // 300 + 1))
    return many(about_topic(name, n, client=name) for n, name in enumerate(names))


@case
def names_that_are_no_text(size: int) -> bytes:
    head = struct.pack(">hhih", METADATA, 1, 1, 4) + b"\xff\xfe\xc0\x80" + struct.pack(">i", size // 5)
    return one(head + (struct.pack(">h", 3) + b"\xed\xa0\x80") * (size // 5), answer(METADATA, 1, {}))


@case
def many_clients(size: int) -> bytes:
    conversation = Conversation().shake()
    for n in range(size // 300 + 1):
        conversation.exchange(asked(METADATA, 1, {"topics": None}, n, f"client-{n}"), answer(METADATA, 1, {}, n))
    return pcap(conversation.packets)


@case
def throttles_without_end(size: int) -> bytes:
    times = (LAST, -1, -LAST - 1, 0)
    return many(
        (asked(METADATA, 3, {"topics": None}, n), answer(METADATA, 3, {"throttle_time_ms": times[n % 4]}, n))
        for n in range(size // 300 + 1)
    )


@case
def groups_without_end(size: int) -> bytes:
    protocols = [{"name": "range", "metadata": b"\0\1" + b"\xff" * 30}]

    def pairs() -> Iterator[tuple[bytes, bytes]]:
        for n in range(size // 500 + 1):
            body = {
                "group_id": f"g{n % 50}",
                "protocol_type": "consumer",
                "session_timeout_ms": LAST,
                "protocols": protocols,
            }
            reply = {"error_code": n % 30, "generation_id": -n, "leader": "m", "member_id": "m"}
            yield asked(11, 1, body, n), answer(11, 1, reply, n)

    return many(pairs())


@case
def transactions_without_end(size: int) -> bytes:
    def pairs() -> Iterator[tuple[bytes, bytes]]:
        for n in range(size // 400 + 1):
            body = {
                "transactional_id": f"t{n % 99}",
                "producer_id": -n,
                "producer_epoch": n % 32767,
                "committed": n & 1,
            }
            yield asked(26, 0, body, n), answer(26, 0, {"error_code": (0, 47, 90)[n % 3]}, n)

    return many(pairs())


def produced(records: bytes, version: int = 3) -> bytes:
    body = {
        "acks": 1,
        "timeout_ms": -1,
        "topic_data": [{"name": "t", "partition_data": [{"index": 0, "records": records}]}],
    }
    more = {"transactional_id": None} if version >= 3 else {}
    return asked(PRODUCE, version, {**more, **body})


def bomb(codec: int) -> Case:
    def made(size: int) -> bytes:
        """One record that is nothing but zeros."""
        inner = bytes(min(size * 300, 200_000_000))
        return one(
            produced(random_batches.batch([Record(1000, 1_700_000_000_000, None, inner, [])], 2, codec).data), None
        )

    return made


for number, name in enumerate(("gzip", "snappy", "lz4", "zstd"), 1):
    CASES[f"records_bomb_{name}"] = bomb(number)


@case
def records_of_nothing(size: int) -> bytes:
    """As many records as so many bytes can hold, compressed."""
    rows = [Record(1000 + n, 1_700_000_000_000, None, None, []) for n in range(min(size, 3_000_000))]
    return one(produced(random_batches.batch(rows, 2, 4).data), None)


@case
def batches_of_nothing(size: int) -> bytes:
    batch = random_batches.batch([Record(1000, 1_700_000_000_000, None, None, [])], 2, 0).data
    return one(produced(batch * (size // len(batch) + 1)), None)


def old_messages(size: int) -> bytes:
    """Messages of magic 0 without a key and with an empty value, as many as fit."""
    return struct.pack(">qiIbbii", 0, 14, 0, 0, 0, -1, 0) * (size // 26)


@case
def old_messages_of_nothing(size: int) -> bytes:
    return one(produced(old_messages(size), version=0), None)


@case
def old_messages_of_nothing_in_one(size: int) -> bytes:
    packed = gzip.compress(old_messages(min(size * 100, 120 << 20)), 6, mtime=0)
    return one(
        produced(struct.pack(">qiIbbii", 0, 14 + len(packed), 0, 0, 1, -1, len(packed)) + packed, version=0), None
    )


@case
def records_that_are_none(size: int) -> bytes:
    return one(produced(Random(6).randbytes(size)), None)


@case
def tokens_without_end(size: int) -> bytes:
    conversation = (
        Conversation().shake().exchange(asked(17, 0, {"mechanism": "PLAIN"}), answer(17, 0, {"mechanisms": ["PLAIN"]}))
    )
    for _ in range(size // 1000 + 1):
        conversation.exchange(b"\0user\0secret" * 40, b"")
    return pcap(conversation.packets)


@case
def hellos_without_end(size: int) -> bytes:
    name = b"\x1b[31m" * 40
    sni = struct.pack(">HHBH", len(name) + 5, len(name) + 3, 0, len(name)) + name
    extension = struct.pack(">HH", 0, len(sni)) + sni
    body = (
        b"\x03\x03" + bytes(32) + b"\0" + b"\0\x02\x13\x01" + b"\x01\0" + struct.pack(">H", len(extension)) + extension
    )
    hello = b"\x01" + len(body).to_bytes(3, "big") + body
    record = b"\x16\x03\x01" + struct.pack(">H", len(hello)) + hello
    conversations = []
    for n in range(size // 700 + 1):
        conversation = Conversation(client=n, port=1024 + n % 60_000, start_us=START_US + n).shake()
        conversations.append(
            conversation.put(0, PSH | ACK, record).put(1, PSH | ACK, b"\x16\x03\x03\xff\xff" + bytes(60))
        )
    return pcap(merged(conversations))


@case
def http(size: int) -> bytes:
    conversation = Conversation().shake()
    for _ in range(size // 200 + 1):
        conversation.put(0, PSH | ACK, b"GET / HTTP/1.1\r\nHost: \x1b[2J\r\n\r\n").put(
            1, PSH | ACK, b"HTTP/1.1 200 OK\r\n\r\n"
        )
    return pcap(conversation.packets)


# Messages of every API and version, damaged: each twelfth in one file.
def damaged(part: int) -> Case:
    def made(_: int) -> bytes:
        chance, conversation = Random(part), pleasant(Conversation().shake(), 2)
        for number, (request, reply) in enumerate(material.pairs()[part::12]):
            both = []
            for whole in (request, reply):
                data = bytearray(whole.frame)
                if chance.random() < 0.5:
                    damage(data, chance)
                both.append(bytes(data) or b"\0")
            first, second = both
            conversation.exchange(
                first[:4] + struct.pack(">i", number) + first[8:], struct.pack(">i", number) + second[4:]
            )
        return pcap(conversation.packets)

    return made


for part in range(12):
    CASES[f"damaged_messages_{part}"] = damaged(part)
