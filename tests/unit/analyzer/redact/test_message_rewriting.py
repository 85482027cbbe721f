"""Messages of every API and version, full of random text: none of it survives, all else stays, and twice is as once."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from effort import one_in
from encode import encode
from kafka_reference import RELEASES
from kafka_vectors import vectors
from random_messages import Kind, kinds, sample

from analyzer.redact import allow_list
from analyzer.redact.batch_rewriting import redact_records
from analyzer.redact.counts import Counts
from analyzer.redact.message_rewriting import redact_message
from analyzer.redact.pseudonyms import Pseudonyms, Unchanged
from analyzer.redact.rewriting_steps import Said, Work
from analyzer.redact.texts import Texts
from dissectors.kafka.messages.explain import Explained, Node, Struct, explain
from dissectors.kafka.messages.records import read_records
from dissectors.kafka.schema import lookup

TEXTS, UNCHANGED = Texts(Pseudonyms(bytes(range(32)))), Texts(Unchanged())


def redacted(frame: bytes, kind: Kind, texts: Texts = TEXTS, protocol: str | None = None) -> bytes:
    work = Work(
        frame,
        bytearray(len(frame)),
        texts,
        Counts(),
        Said(protocol=protocol),
        kind.direction == "request",
        size=len(frame),
    )
    redact_message(work, kind.key, kind.version)
    return bytes(work.out)


def nodes(struct: Struct) -> Iterator[tuple[str, Node, Any]]:
    """(path, node, value) of every value; elements of arrays one by one."""
    for name, node in struct.fields.items():
        values = node.value if isinstance(node.value, list) else [node]
        for number, each in enumerate(values or ()):
            if isinstance(each.value, Struct):
                for path, inner, value in nodes(each.value):
                    yield f"{name}[{number}].{path}", inner, value
            else:
                yield f"{name}[{number}]", node, each.value


def assert_says_the_same(before: Explained, after: Explained) -> None:
    assert after.error is None and before.body is not None and after.body is not None
    old, new = list(nodes(before.body)), list(nodes(after.body))
    assert [path for path, *_ in old] == [path for path, *_ in new]
    for (path, node, was), (_, _, now) in zip(old, new, strict=True):
        assert node.field is not None
        if allow_list.treatment(node.field) == "number":
            assert now == was or (now != now and was != was), path
        elif isinstance(was, str):
            assert len(now.encode()) == len(was.encode()), path
        else:
            assert (now is None) == (was is None) and (was is None or len(now) == len(was)), path


def assert_survives_nothing(before: Explained, frame: bytes) -> None:
    assert before.body is not None
    for path, node, value in nodes(before.body):
        assert node.field is not None
        for data in parts_of(value):
            kind = allow_list.treatment(node.field)
            if (
                len(data) >= 8
                and len(set(data)) > 4
                and node.field.embedded is None
                and not allow_list.is_kept(kind, data)
                # A word that stays where it is well known may stand in other fields, too.
                and data not in allow_list.WELL_KNOWN_TEXT
            ):
                assert data not in frame, path


def parts_of(value: Any) -> Iterator[bytes]:
    """Text and bytes, and of records keys, values and headers."""
    if isinstance(value, str):
        yield value.encode()
    elif isinstance(value, bytes):
        yield value
    elif isinstance(value, memoryview):
        for record in (record for batch in read_records(value, full=True).batches for record in batch.records or ()):
            if record.control is None:
                yield from (each or b"" for each in (record.key, record.value))
                yield from (each or b"" for name, content in record.headers for each in (name.encode(), content))


@pytest.mark.parametrize("kind", kinds(), ids=str)
def test_random_text_does_not_survive(kind: Kind) -> None:
    made = sample(kind, Random(str(kind)), full=True)
    found = redacted(made.frame, kind)
    before = explain(*kind, made.frame)
    assert len(found) == len(made.frame)
    assert_survives_nothing(before, found)
    assert_says_the_same(before, explain(*kind, found))
    assert redacted(found, kind, UNCHANGED) == found


def test_messages_that_are_cut_are_prefixes_or_stop_early() -> None:
    """Of a message that was cut no byte is written that the whole one would not have there, but for records and their sums, and for
    a client id that was cut: one of zeros would be none."""
    chance = Random("cut")
    for kind in kinds()[::7]:
        made = sample(kind, chance, full=True)
        if any(each in ("Produce", "Fetch", "ShareFetch", "FetchSnapshot") for each in str(kind).split()):
            continue
        whole = redacted(made.frame, kind)
        for _ in range(5):
            end = chance.randrange(len(made.frame))
            part = redacted(made.frame[:end], kind)
            is_id_cut = kind.direction == "request" and part[10:] == b"x" * len(part[10:])
            told = part[:10] if is_id_cut else part
            assert all(byte in (0, whole[at]) for at, byte in enumerate(told)), (kind, end)


def test_hostile_bytes_never_raise_and_keep_their_length() -> None:
    chance = Random("hostile")
    for kind in kinds()[::3]:
        frame = bytearray(sample(kind, chance, full=True).frame)
        for _ in range(4):
            for _ in range(chance.randrange(1, 6)):
                frame[chance.randrange(len(frame))] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
            found = redacted(bytes(frame), kind)
            assert len(found) == len(frame)
            # What is on the list stays there when it is read again.
            again = redacted(found, kind, UNCHANGED)
            assert all(byte == again[at] or again[at] == 0 for at, byte in enumerate(found))


def test_zeros_stay_zeros() -> None:
    """They stand for what was not understood: read again they may be a message, which must not become another one."""
    for kind in kinds():
        head = struct.pack(">hhi", kind.key, kind.version, 7) if kind.direction == "request" else bytes((0, 0, 0, 7))
        for size in range(0, 60, 7):
            frame = head + bytes(size)
            assert redacted(frame, kind, UNCHANGED) == frame, (kind, size)


@pytest.mark.parametrize("release", RELEASES)
def test_apaches_own_messages(release: str) -> None:
    found = 0
    for vector in vectors(release)[:: one_in(5)]:
        kind = Kind(vector["api_key"], vector["version"], vector["direction"])
        api = lookup.api(kind.key)
        if api is None or kind.version not in api.versions:
            continue
        frame = bytes.fromhex(vector["hex"])
        before = explain(*kind, frame)
        if before.error is None:
            assert_survives_nothing(before, redacted(frame, kind))
            assert_says_the_same(before, explain(*kind, redacted(frame, kind)))
            found += 1
    assert found > 50


def test_bytes_that_no_schema_knows_become_zeros() -> None:
    kind = Kind(18, 3, "request")
    body = {"client_software_name": "apache-kafka-java", "client_software_version": "4.3.1"}
    frame = encode(*kind, {"correlation_id": 7, "client_id": "orders-7"}, body)
    tagged = frame[:-1] + b"\x01\x55\x0csecret bytes"
    assert b"apache-kafka-java" in redacted(tagged, kind) and b"orders" not in redacted(tagged, kind)
    assert redacted(tagged, kind).endswith(b"\x01\x55\x0c" + bytes(12))
    assert redacted(frame + b"left over", kind).endswith(bytes(9))


def test_no_value_is_read_of_a_newer_reply_that_was_not_there() -> None:
    """Zeros behind the header would be a throttle time of 0; what proves itself stays, and twice is as once."""
    for key, known in lookup.known_keys().items():
        kind = Kind(key, known.versions.last + 1, "response")
        header = struct.pack(">i", 7) + (b"" if key == 18 else b"\0")
        for throttle, error in ((0, 0), (250, 22)):
            numbers = struct.pack(">ih", throttle, error)
            frame = header + numbers + b"\x02" + b"secret-text-nobody-knows"
            once = redacted(frame, kind)
            assert b"secret" not in once and redacted(once, kind, UNCHANGED) == once
            before, after = (_front(kind, each) for each in (frame, once))
            assert after is None or after == before, (key, before, after)


def _front(kind: Kind, frame: bytes) -> list[Any] | None:
    """The values of what is read of a newer reply; None: nothing."""
    body = explain(kind.key, kind.version, kind.direction, frame).body
    return None if body is None else [value for _, _, value in nodes(body)]


def test_a_message_of_one_batch_is_not_copied() -> None:
    """It may be as large as all that memory has room for."""
    record = b"\0" + bytes(2) + b"\x01" + b"\x80\x80\x80\x04" + bytes(4 << 20) + b"\0"
    records = bytes([*_zigzag(len(record))]) + record
    batch = bytes(8) + (49 + len(records)).to_bytes(4, "big") + bytes(4) + b"\2" + bytes(40) + b"\0\0\0\1" + records
    out = bytearray(len(batch))
    tracemalloc.start()
    try:
        redact_records(memoryview(batch), memoryview(out), Counts())
        # A checksum is made of a piece at a time.
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()
    assert out[:17] == batch[:17] and not any(out[100:])


def _zigzag(number: int) -> Iterator[int]:
    number <<= 1
    while number > 127:
        yield number & 127 | 128
        number >>= 7
    yield number
