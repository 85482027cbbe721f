"""Blocks that hold a packet (enhanced, simple, and the obsolete packet block) become rows of the packets matrix."""

import cython

from dissectors.formats.pcapng_codes import *
from dissectors.formats.pcapng_state import PcapngState, add_note, u32
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1, check=False)
def old_packet_interface(r: PcapngState, at: cython.longlong) -> cython.longlong:
    first: cython.longlong = r.block[at]
    second: cython.longlong = r.block[at + 1]
    return first << 8 | second if r.big else second << 8 | first


@cython.cfunc
def packet_time_by_integers(r: PcapngState, number, high, low):
    """The same for any resolution and offset, by Python integers."""
    interface = r.interfaces[number]
    ticks = high << 32 | low
    time = ticks * 1_000_000_000 // interface.ticks_per_second + interface.offset_seconds * 1_000_000_000
    if 0 <= time <= LATEST_TIME:
        return time
    if not r.odd_times:
        add_note(r, "odd", f"packet {r.packets} has an impossible timestamp: it and others like it have none")
    r.odd_times = True
    return UNKNOWN


@cython.cfunc
@cython.exceptval(-1, check=True)
def packet_time(
    r: PcapngState, number: cython.longlong, high: cython.longlong, low: cython.longlong
) -> cython.longlong:
    """A time stamp in ns, rounded down; UNKNOWN for one before 1970 or after LATEST_TIME."""
    if high < 0x7FFFFFFF:
        ticks: cython.longlong = high << 32 | low
        if ticks <= r.clock[CLOCK_LIMIT, number]:
            time: cython.longlong = ticks * r.clock[CLOCK_FACTOR, number]
            divisor: cython.longlong = r.clock[CLOCK_DIVISOR, number]
            if divisor != 1:  # a division costs as much as the rest of this function
                time //= divisor
            time += r.clock[CLOCK_SHIFT, number]
            if time >= 0:
                return time
    return packet_time_by_integers(r, number, high, low)


@cython.cfunc
@cython.exceptval(-1, check=False)
def write_packet(
    r: PcapngState,
    number: cython.longlong,
    time: cython.longlong,
    header: cython.longlong,
    captured: cython.longlong,
    length: cython.longlong,
) -> cython.longlong:
    row: cython.longlong = r.row
    r.out[PACKET_NUMBER, row] = r.packets
    r.out[PACKET_TIME, row] = time
    r.out[PACKET_OFFSET, row] = r.at + header
    r.out[PACKET_CAPTURED, row] = captured
    r.out[PACKET_LENGTH, row] = length if length > captured else captured
    r.out[PACKET_LINK, row] = r.clock[CLOCK_LINK, number] if number >= 0 else UNKNOWN
    r.out[PACKET_INTERFACE, row] = number
    r.row = row + 1
    return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def note_bad_packet(r: PcapngState, claimed: cython.longlong) -> cython.longlong:
    text = f"packet {r.packets} claims {claimed} bytes, which exceeds its block: not read"
    add_note(r, "damaged", text)
    return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def read_packet_block(
    r: PcapngState, number: cython.longlong, header: cython.longlong, total: cython.longlong
) -> cython.longlong:
    """An Enhanced Packet Block, or the obsolete Packet Block, which differs in its interface field only."""
    at: cython.longlong = r.at
    if total < header + 4:
        return note_bad_packet(r, total)
    captured: cython.longlong = u32(r, at + 20)
    if captured > total - header - 4:
        return note_bad_packet(r, captured)
    if number >= r.count - r.first:
        why = "beyond those that are kept" if r.many_interfaces else "not declared"
        add_note(r, "damaged", f"packet {r.packets} belongs to interface {number}, which is {why}")
        return write_packet(r, UNKNOWN, UNKNOWN, header, captured, u32(r, at + 24))
    number += r.first
    time: cython.longlong = packet_time(r, number, u32(r, at + 12), u32(r, at + 16))
    return write_packet(r, number, time, header, captured, u32(r, at + 24))


@cython.cfunc
@cython.exceptval(-1, check=False)
def read_simple_packet_block(r: PcapngState, total: cython.longlong) -> cython.longlong:
    """A Simple Packet Block: a packet of the section's first interface, without a time. Its captured length follows from the
    block's length and the snap length of the interface."""
    if total < 16:
        return note_bad_packet(r, total)
    length: cython.longlong = u32(r, r.at + 8)
    captured: cython.longlong = length
    if r.count == r.first:
        add_note(r, "damaged", f"packet {r.packets} comes before any interface is declared")
        return write_packet(r, UNKNOWN, UNKNOWN, 12, min(captured, total - 16), length)
    snaplen: cython.longlong = r.clock[CLOCK_SNAPLEN, r.first]
    if snaplen > 0 and snaplen < captured:
        captured = snaplen
    if captured > total - 16:
        captured = total - 16
    return write_packet(r, r.first, UNKNOWN, 12, captured, length)
