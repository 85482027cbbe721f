"""Perfetto's trace format, as far as a timeline needs it: packets of protobuf (protos/perfetto/trace in Perfetto's repository).

A trace is a message of packets, so packets written one behind the other are one. The numbers of fields are those of
trace_packet.proto, track_descriptor.proto, track_event.proto, debug_annotation.proto and clock_snapshot.proto.
"""

from __future__ import annotations

from collections.abc import Mapping

_VARINT, _FIXED64, _BYTES = 0, 1, 2
_SEQUENCE = 1
_SLICE_BEGIN, _SLICE_END = 1, 2
_REALTIME, _BOOTTIME = 1, 6
# TracePacket
_CLOCK_SNAPSHOT, _TIMESTAMP, _SEQUENCE_ID, _TRACK_EVENT, _SEQUENCE_FLAGS, _TRACK_DESCRIPTOR = 6, 8, 10, 11, 13, 60
_INCREMENTAL_STATE_CLEARED = 1


def _varint(value: int) -> bytes:
    """Base 128, the lowest bits first; negative numbers as 64 bits of two's complement."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode("utf-8", "replace"))


def _fixed64(field: int, value: int) -> bytes:
    return _varint(field << 3 | _FIXED64) + (value & (1 << 64) - 1).to_bytes(8, "little")


def _packet(*fields: bytes) -> bytes:
    """One TracePacket in its place in a Trace."""
    return _bytes(1, b"".join((*fields, _number(_SEQUENCE_ID, _SEQUENCE))))


def head(first_ns: int) -> bytes:
    """What a trace begins with: its clock counts ns since the epoch, so that the viewer can show UTC."""
    clocks = b"".join(_bytes(1, _number(1, clock) + _number(2, first_ns)) for clock in (_BOOTTIME, _REALTIME))
    return _packet(_bytes(_CLOCK_SNAPSHOT, clocks), _number(_SEQUENCE_FLAGS, _INCREMENTAL_STATE_CLEARED))


def track(uuid: int, name: str, parent: int | None = None) -> bytes:
    """A track; `uuid` is any number but 0, `parent` the track that it is below."""
    fields = _number(1, uuid) + _text(2, name)
    return _packet(_bytes(_TRACK_DESCRIPTOR, fields + (b"" if parent is None else _number(5, parent))))


def begin(
    uuid: int,
    time_ns: int,
    name: str,
    about: Mapping[str, str | int] | None = None,
    flows: tuple[int, ...] = (),
    ends: tuple[int, ...] = (),
) -> bytes:
    """A slice begins on a track. `about` are its arguments; `flows` begin or pass here, `ends` end here."""
    fields = [_number(9, _SLICE_BEGIN), _number(11, uuid), _text(23, name)]
    for key, value in (about or {}).items():
        fields.append(_bytes(4, _text(10, key) + (_number(4, value) if isinstance(value, int) else _text(6, value))))
    fields += [_fixed64(47, flow) for flow in flows] + [_fixed64(48, flow) for flow in ends]
    return _packet(_number(_TIMESTAMP, time_ns), _bytes(_TRACK_EVENT, b"".join(fields)))


def end(uuid: int, time_ns: int) -> bytes:
    """The slice that began last on a track ends."""
    return _packet(_number(_TIMESTAMP, time_ns), _bytes(_TRACK_EVENT, _number(9, _SLICE_END) + _number(11, uuid)))
