"""A message of Kafka -> the same message without what it must not tell, of the same length.

The result begins as zeros. A schema is made into steps, and each step writes what it knows: lengths and counts as they are, a value
as the allow list says. So a byte that no step has understood is zero, whatever the message holds. Steps stop where the bytes end
or make no sense; what is written by then stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING

from analyzer.redact import allow_list
from analyzer.redact.batch_rewriting import redact_records
from analyzer.redact.counts import Counts
from analyzer.redact.pseudonyms import Unchanged
from analyzer.redact.rewriting_steps import (
    Said,
    Step,
    Stop,
    Work,
    array,
    fixed,
    length,
    numbers,
    optional,
    tags,
    uuid,
    zeros,
)
from analyzer.redact.texts import Texts
from analyzer.redact.token_rewriting import redact_token
from dissectors.kafka.messages.newer_messages import read_front
from dissectors.kafka.messages.room import Room
from dissectors.kafka.messages.wire import LEAST_BYTES, Wire
from dissectors.kafka.schema import headers, lookup, newer_versions

if TYPE_CHECKING:
    from dissectors.kafka.schema.fields import Api, Field

    # Writes the content of bytes between two places.
    Write = Callable[[Work, int, int, Field], None]

_SIZES = {"bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "float64": 8, "uuid": 16}
_UNSUPPORTED_VERSION = b"\x00\x23"
_CUT_TEXT = b"x"
# API key, version and correlation id; the latter alone.
_REQUEST_ID_BYTES, _REPLY_ID_BYTES = 8, 4


def redact_message(work: Work, key: int, version: int) -> None:
    """Writes header and body of a frame without its length field. Of a damaged one its ids alone stay: what is there for a name
    may be anything, so nothing of it can be proved."""
    try:
        end = len(work.source)
        at = (_request_header if work.is_request else _reply_header)(work, key, version, end)
        _body(work, key, version, at, end)
    except Stop:
        if len(work.source) < work.size or work.left < 0:
            work.counts.cut_messages += 1
            return
        ids = _REQUEST_ID_BYTES if work.is_request else _REPLY_ID_BYTES
        work.out[ids:] = bytes(max(0, len(work.out) - ids))
        work.counts.damaged_messages += 1


def is_damaged(data: bytes, size: int, key: int, version: int, is_request: bool) -> bool:
    """Whether of a frame of `size` bytes, with `data` captured, its ids alone are written."""
    work = Work(data, bytearray(len(data)), Texts(Unchanged()), Counts(), Said(), is_request, size=size)
    redact_message(work, key, version)
    return work.counts.damaged_messages > 0


def _request_header(work: Work, key: int, version: int, end: int) -> int:
    kind = headers.request_version(key, version)
    at = _REQUEST_IDS(work, 0, end)
    if kind >= 1:
        at = _client_id(work, at, end)
    return _NO_TAGS(work, at, end) if kind >= 2 else at


def _client_id(work: Work, at: int, end: int) -> int:
    size, begin = length(work, at, end, compact=False, size=2)
    if begin + size > end:
        # Of one that the capture cut nothing stays, but readers take no text of zeros for the beginning of a client id.
        work.out[begin:end] = _CUT_TEXT * (end - begin)
    return _CLIENT_ID(work, at, end)


def _reply_header(work: Work, key: int, version: int, end: int) -> int:
    at = _REPLY_IDS(work, 0, end)
    return _NO_TAGS(work, at, end) if headers.response_version(key, version) >= 1 else at


def _body(work: Work, key: int, version: int, at: int, end: int) -> None:
    # A broker that does not know the version of ApiVersions answers in version 0.
    if key == headers.API_VERSIONS and not work.is_request and work.source[at : at + 2] == _UNSUPPORTED_VERSION:
        version = 0
    api = lookup.api(key)
    if api is None or version not in api.versions:
        if api is not None and newer_versions.is_newer(api, version) and not work.is_request:
            _newer_reply(work, api, at, end)
        work.counts.unknown_messages += 1
        return
    steps = message_steps(key, version, "request" if work.is_request else "response")
    stop = steps(work, at, end)
    work.counts.messages += 1
    work.counts.left_bytes += end - stop


def _newer_reply(work: Work, api: Api, at: int, end: int) -> None:
    """Of a reply that is newer than its schema the throttle time and error code that prove themselves, where zeros behind them
    would let readers take zeros in their place for the values."""
    front = newer_versions.front(api, "response")
    wire = Wire(bytes(work.source[:end]), at)
    if (front.may_be_null or not front.length) and read_front(api, "response", wire, Room()) is not None:
        fixed(wire.at - at)(work, at, end)


@cache
def message_steps(key: int, version: int, direction: str) -> Step:
    """The steps of the body of one message. The API must have a schema."""
    api = lookup.api(key)
    assert api is not None
    return struct_steps(api.message(direction).fields, version, api.is_flexible(version))


def struct_steps(fields: Iterable[Field], version: int, flexible: bool) -> Step:
    """The steps of a struct; runs of numbers become one."""
    present = [each for each in fields if version in each.versions]
    steps: list[Step] = []
    run = 0
    for each in present:
        if each.tag is not None:
            continue
        size = _plain_size(each)
        if size:
            run += size
            continue
        if run:
            steps.append(fixed(run))
            run = 0
        steps.append(_field(each, version, flexible))
    if run:
        steps.append(fixed(run))
    if flexible:
        steps.append(tags({each.tag: _field(each, version, flexible) for each in present if each.tag is not None}))
    if len(steps) == 1:
        return steps[0]

    def struct(work: Work, at: int, end: int) -> int:
        for step in steps:
            at = step(work, at, end)
        return at

    return struct


def _plain_size(field: Field) -> int:
    """The bytes of a number that is kept; 0 for all else."""
    if field.is_array or field.type not in _SIZES or field.type == "uuid":
        return 0
    return _SIZES[field.type] if allow_list.treatment(field) == "number" else 0


def _field(field: Field, version: int, flexible: bool) -> Step:
    nullable = field.nullable is not None and version in field.nullable
    if field.type == "struct":
        inner = struct_steps(field.fields, version, flexible)
        if field.is_array:
            return array(inner, flexible, LEAST_BYTES["struct"])
        return optional(inner) if nullable else inner
    value = _value(field, flexible)
    if not field.is_array:
        return value
    size = _SIZES.get(field.type)
    if size and field.type != "uuid" and allow_list.treatment(field) == "number":
        return numbers(size, flexible)
    return array(value, flexible, LEAST_BYTES[field.type])


def _value(field: Field, flexible: bool) -> Step:
    kind, what = field.type, allow_list.treatment(field)
    if kind in ("string", "bytes", "records"):
        if kind == "string":
            return _text(what, flexible, field.roles)
        return _sized(_BYTES_OF[what], flexible, field)
    size = _SIZES[kind]
    if kind == "uuid" and what == "uuid":
        return uuid
    return fixed(size) if what == "number" else zeros(size)


def _text(kind: str, compact: bool, roles: tuple[str, ...] = ()) -> Step:
    tells_mechanism, tells_protocol = "mechanism" in roles, "protocol_type" in roles

    def text(work: Work, at: int, end: int) -> int:
        size, at = length(work, at, end, compact, 2)
        if size <= 0:
            return at
        behind = at + size
        if behind > end:
            raise Stop
        value = work.source[at:behind]
        work.out[at:behind] = work.texts.of(kind, value)
        if tells_mechanism:
            work.said.mechanism = value[:64].decode("latin-1")
        elif tells_protocol:
            work.protocol = work.said.protocol = value[:64].decode("latin-1")
        return behind

    return text


def _sized(write: Write, flexible: bool, field: Field) -> Step:
    """Bytes behind their length; of some that the capture cut, the beginning is there."""

    def sized(work: Work, at: int, end: int) -> int:
        size, at = length(work, at, end, flexible, 4)
        if size <= 0:
            return at
        behind = at + size
        write(work, at, min(behind, end), field)
        if behind > end:
            raise Stop
        return behind

    return sized


def _write_records(work: Work, at: int, end: int, _: Field) -> None:
    redact_records(memoryview(work.source)[at:end], memoryview(work.out)[at:end], work.counts)


def _write_token(work: Work, at: int, end: int, _: Field) -> None:
    work.out[at:end] = redact_token(work.source[at:end], work.said.mechanism, work.is_request, work.texts)


def _write_address(work: Work, at: int, end: int, _: Field) -> None:
    if end - at == 4:
        work.out[at:end] = work.texts.pseudonyms.ipv4(work.source[at:end])
    elif end - at == 16:
        work.out[at:end] = work.texts.pseudonyms.ipv6(work.source[at:end])


def _write_message(work: Work, at: int, end: int, field: Field) -> None:
    """A message inside bytes: one that is forwarded, or a struct of a group's members."""
    name = field.embedded
    try:
        if name == "request":
            if work.depth == 0 and end - at >= 8:
                inside = Work(work.source[at:end], bytearray(end - at), work.texts, work.counts, Said(), depth=1)
                inside.size = work.room(at, end)
                key, version = (int.from_bytes(inside.source[place : place + 2], "big") for place in (0, 2))
                redact_message(inside, key, version)
                work.out[at:end] = inside.out
            return
        if name is not None and name != "response":
            _embedded(work, name, at, end)
    except Stop:
        work.counts.cut_messages += 1


def _embedded(work: Work, name: str, at: int, end: int) -> None:
    known = lookup.embedded(name)
    protocol = work.protocol or (None if work.is_request else work.said.protocol)
    if (known.protocol is not None and protocol not in (None, known.protocol)) or at + 2 > end:
        return
    version = int.from_bytes(work.source[at : at + 2], "big", signed=True)
    if known.reads_newer:
        version = min(version, known.versions.last)
    if version not in known.versions:
        return
    if known.has_prefix:
        at = fixed(2)(work, at, end)
    embedded_steps(name, version)(work, at, end)


@cache
def embedded_steps(name: str, version: int) -> Step:
    known = lookup.embedded(name)
    return struct_steps(known.fields, version, known.is_flexible(version))


def _write_zeros(*_: object) -> None:
    """They are there."""


_BYTES_OF: dict[str, Write] = {
    "records": _write_records,
    "token": _write_token,
    "address": _write_address,
    "message": _write_message,
    "secret": _write_zeros,
}

# Headers: key, version and correlation id; a client's id; tagged fields, none of them known.
_REQUEST_IDS, _REPLY_IDS, _CLIENT_ID, _NO_TAGS = (
    fixed(_REQUEST_ID_BYTES),
    fixed(_REPLY_ID_BYTES),
    _text("client", compact=False),
    tags({}),
)
