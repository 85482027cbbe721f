"""Perfetto's trace format, as far as a timeline needs it: packets of protobuf (protos/perfetto/trace in Perfetto's repository).

A trace is a message of packets, so packets written one behind the other are one. The numbers of fields are those of
trace_packet.proto, track_descriptor.proto, track_event.proto, debug_annotation.proto and clock_snapshot.proto.
"""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.base.protobuf import data, fixed64, number, text

_SEQUENCE = 1
_SLICE_BEGIN, _SLICE_END = 1, 2
_REALTIME, _BOOTTIME = 1, 6
# TracePacket
_CLOCK_SNAPSHOT, _TIMESTAMP, _SEQUENCE_ID, _TRACK_EVENT, _SEQUENCE_FLAGS, _TRACK_DESCRIPTOR = 6, 8, 10, 11, 13, 60
_INCREMENTAL_STATE_CLEARED = 1


def _packet(*fields: bytes) -> bytes:
    """One TracePacket in its place in a Trace."""
    return data(1, b"".join((*fields, number(_SEQUENCE_ID, _SEQUENCE))))


def head(first_ns: int) -> bytes:
    """What a trace begins with: its clock counts ns since the epoch, so that the viewer can show UTC."""
    clocks = b"".join(data(1, number(1, clock) + number(2, first_ns)) for clock in (_BOOTTIME, _REALTIME))
    return _packet(data(_CLOCK_SNAPSHOT, clocks), number(_SEQUENCE_FLAGS, _INCREMENTAL_STATE_CLEARED))


def track(uuid: int, name: str, parent: int | None = None) -> bytes:
    """A track; `uuid` is any number but 0, `parent` the track that it is below."""
    fields = number(1, uuid) + text(2, name)
    return _packet(data(_TRACK_DESCRIPTOR, fields + (b"" if parent is None else number(5, parent))))


def begin(
    uuid: int,
    time_ns: int,
    name: str,
    about: Mapping[str, str | int] | None = None,
    flows: tuple[int, ...] = (),
    ends: tuple[int, ...] = (),
) -> bytes:
    """A slice begins on a track. `about` are its arguments; `flows` begin or pass here, `ends` end here."""
    fields = [number(9, _SLICE_BEGIN), number(11, uuid), text(23, name)]
    for key, value in (about or {}).items():
        fields.append(data(4, text(10, key) + (number(4, value) if isinstance(value, int) else text(6, value))))
    fields += [fixed64(47, flow) for flow in flows] + [fixed64(48, flow) for flow in ends]
    return _packet(number(_TIMESTAMP, time_ns), data(_TRACK_EVENT, b"".join(fields)))


def end(uuid: int, time_ns: int) -> bytes:
    """The slice that began last on a track ends."""
    return _packet(number(_TIMESTAMP, time_ns), data(_TRACK_EVENT, number(9, _SLICE_END) + number(11, uuid)))
