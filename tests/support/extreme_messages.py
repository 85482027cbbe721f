"""A message for each value at its limits: one field holds an extreme, all others what is usual.

What is usual fits together (one topic, one group, one member, one producer), so that views which join messages see the extremes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from copy import deepcopy
from itertools import count, groupby
from random import Random
from typing import Any, NamedTuple

import random_batches
from effort import LONG
from encode import encode
from made_capture import START_US, Conversation, merged, pcap
from random_messages import BITS, Kind, kinds

from dissectors.kafka.messages.checksums import extend_crc32c
from dissectors.kafka.schema import lookup

# The longest is that of a length of 16 bits, where all is asked: with it a capture has ten times the bytes.
TEXTS = ("", "\0", "\x1b[2J\u202e\ufeff😀", "x" * (32_767 if LONG else 1_000))
UUIDS = (bytes(16), b"\xff" * 16, b"\x80" + bytes(7) + b"\x7f" + b"\xff" * 7)
FLOATS = (float("inf"), float("-inf"), float("nan"), -1.7e308, 5e-324)
TOPIC_ID = bytes(range(16))
# By role of a field, else by its type.
_USUAL: dict[str, Any] = {
    "topic": "t", "topic_id": TOPIC_ID, "group": "g", "member": "m", "error": 0, "offset": 100, "high_watermark": 105,
    "last_stable_offset": 103, "log_start_offset": 1, "generation": 1, "acks": -1, "replica_id": -1, "protocol_type": "consumer",
    "throttle": 0, "partition": 0, "mechanism": "PLAIN", "session_id": 0,
    "session_epoch": -1, "max_wait": 500, "preferred_read_replica": -1, "isolation_level": 0, "producer_id": 1, "producer_epoch": 0,
}  # fmt: skip


class Extreme(NamedTuple):
    """A message of `kind` without header: `path` names the field, as `topics[].partitions[].offset`, that has `value`."""

    kind: Kind
    path: str
    value: Any
    body: dict[str, Any]


def newest() -> list[Kind]:
    """Each API and direction in its newest version."""
    versions: dict[int, int] = {}
    for kind in kinds():
        versions[kind.key] = max(kind.version, versions.get(kind.key, 0))
    return [kind for kind in kinds() if versions[kind.key] == kind.version]


def usual(kind: Kind) -> dict[str, Any]:
    """The body of a message in which nothing is extreme: every array has one element."""
    return _struct(_message(kind).fields, kind.version, _USUAL)


def extremes_of(kind: Kind) -> Iterator[Extreme]:
    """Each field of a message at each of its limits, one at a time."""
    plain = usual(kind)
    for steps, field in _values(_message(kind).fields, kind.version, ()):
        for value in _limits(field):
            body = deepcopy(plain)
            _put(body, steps, value)
            path = "".join("[]" if isinstance(step, int) else f".{step}" for step in steps)[1:]
            yield Extreme(kind, path, value, body)


def conversations_of(key: int, version: int) -> Iterator[list[tuple[bytes, bytes]]]:
    """Requests with their replies: for each field of an API one conversation, in which it takes one extreme after the other."""
    asked, answered = (Kind(key, version, direction) for direction in ("request", "response"))
    for kind in (asked, answered):
        for _, found in groupby(extremes_of(kind), lambda each: each.path):
            bodies = [{asked: usual(asked), answered: usual(answered), kind: each.body} for each in found]
            bodies = [{asked: usual(asked), answered: usual(answered)}, *bodies]
            yield [
                (
                    encode(*asked, {"correlation_id": number, "client_id": "c"}, both[asked]),
                    encode(*answered, {"correlation_id": number}, both[answered]),
                )
                for number, both in enumerate(bodies, 1)
            ]


def capture(versions: dict[int, int]) -> bytes:
    """A client for each field, so that none is taken for a broker because of what another one said."""
    number = count()
    found = []
    for key, version in versions.items():
        for exchanges in conversations_of(key, version):
            place = next(number)
            found.append(Conversation(client=0x0A000101 + place, start_us=START_US + 100 * place).shake())
            for messages in exchanges:
                found[-1].exchange(*messages)
            found[-1].close()
    return pcap(merged(found))


def some_extremes(key: int, version: int, chance: Random) -> tuple[bytes, bytes]:
    """Request and reply of one exchange in which a few fields, any of them, hold an extreme."""
    frames = []
    for direction in ("request", "response"):
        kind = Kind(key, version, direction)
        body = usual(kind)
        fields = list(_values(_message(kind).fields, version, ()))
        for steps, field in chance.sample(fields, min(len(fields), chance.randint(0, 3))):
            _put(body, steps, chance.choice(_limits(field)))
        header = {"correlation_id": 1} | ({"client_id": "c"} if direction == "request" else {})
        frames.append(encode(*kind, header, body))
    return frames[0], frames[1]


def _put(body: dict[str, Any], steps: tuple[str | int, ...], value: Any) -> None:
    within: Any = body
    for step in steps[:-1]:
        within = within[step]
    within[steps[-1]] = value


def _message(kind: Kind) -> lookup.Message:
    api = lookup.api(kind.key)
    assert api is not None
    return api.message(kind.direction)


def _values(
    fields: tuple[lookup.Field, ...], version: int, around: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], lookup.Field]]:
    """Where each field that holds a value stands in what `usual` makes."""
    for field in fields:
        if version in field.versions:
            steps: tuple[str | int, ...] = (*around, field.name, 0) if field.is_array else (*around, field.name)
            if field.type == "struct":
                yield from _values(field.fields, version, steps)
            else:
                yield steps, field


def _limits(field: lookup.Field) -> tuple[Any, ...]:
    if field.type in BITS:
        return _numbers(BITS[field.type], signed=not field.type.startswith("u"))
    if field.type == "records":
        return tuple(_batches())
    long = b"\xff" * (70_000 if LONG else 1_000)
    limits = {"string": TEXTS, "uuid": UUIDS, "bool": (True, False), "float64": FLOATS, "bytes": (b"", long)}
    return limits[field.type]


def _numbers(bits: int, signed: bool) -> tuple[int, ...]:
    """The least of an int64 is null to the stages, so the next one is asked too."""
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return (least, least + 1, most, -1, 0) if signed else (least, most)


def _struct(fields: tuple[lookup.Field, ...], version: int, of_roles: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for field in fields:
        if version in field.versions:
            # What leaves a fetch session is another partition than the one that is read.
            given = of_roles | {"partition": 7} if "forgotten" in field.roles else of_roles
            value = _struct(field.fields, version, given) if field.type == "struct" else _value(field, given)
            found[field.name] = [value] if field.is_array else value
    return found


def _value(field: lookup.Field, of_roles: dict[str, Any]) -> Any:
    for role in field.roles:
        if role in of_roles:
            return of_roles[role]
    return {"string": "a", "uuid": TOPIC_ID, "bool": False, "float64": 0.5, "bytes": b"", "records": b""}.get(
        field.type, 1
    )


# Where the numbers of the header of a record batch (magic 2) stand, with their struct codes.
_NUMBERS = ((0, ">q"), (12, ">i"), (23, ">i"), (27, ">q"), (35, ">q"), (43, ">q"), (51, ">h"), (53, ">i"), (57, ">i"))
_COVERED_FROM = 21  # by the checksum before it


def _batch(at: int = 0, code: str = ">q", value: int = 100) -> bytes:
    """A record batch of a producer; one number of its header is this."""
    record = random_batches.Record(random_batches.BASE_OFFSET, random_batches.BASE_TIMESTAMP, b"k", b"v", ())
    data = bytearray(random_batches.batch([record], 2, 0).data)
    struct.pack_into(">qhi", data, 43, 1, 0, 0)
    struct.pack_into(code, data, at, value)
    struct.pack_into(">I", data, _COVERED_FROM - 4, extend_crc32c(0, bytes(data[_COVERED_FROM:])))
    return bytes(data)


def _batches() -> Iterator[bytes]:
    """A record batch with each number of its header at its limits."""
    for at, code in _NUMBERS:
        yield from (_batch(at, code, value) for value in _numbers(8 * struct.calcsize(code), signed=True))
