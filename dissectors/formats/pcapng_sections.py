"""Blocks that say something about packets: section headers, interfaces, statistics, decryption secrets."""

import struct

import cython

from dissectors.formats.capture_facts import Interface
from dissectors.formats.pcapng_codes import *
from dissectors.formats.pcapng_state import PcapngState, add_note
from dissectors.layout import *
from dissectors.matrix import new_matrix


def read_options(order, body, at):
    """Yields (code, value) of a list of options. A damaged option ends the list."""
    while at + 4 <= len(body):
        code, length = struct.unpack_from(order + "HH", body, at)
        if code == 0 or at + 4 + length > len(body):
            return
        yield code, body[at + 4 : at + 4 + length]
        at += 4 + length + (-length & 3)


@cython.cfunc
def keep_section(r: PcapngState, order, major, minor):
    """Writes a section header to the head. It replaces one that had no interfaces, so that a file of nothing but section
    headers cannot fill the memory; but the first one stays, as its version is known to be readable."""
    if r.bare and len(r.head_bytes) > SECTION_BYTES:
        del r.head_bytes[-SECTION_BYTES:]
    r.head_bytes += struct.pack(
        order + "IIIHHqI", SECTION, SECTION_BYTES, BYTE_ORDER_MAGIC, major, minor, -1, SECTION_BYTES
    )
    r.bare = True


@cython.cfunc
def read_section_header(r: PcapngState, order, body):
    major, minor = struct.unpack_from(order + "HH", body, 4)
    r.first = r.count
    r.ignored = major != 1
    if r.ignored:
        text = f"the section at byte {r.base + r.at} has the unknown version {major}.{minor}: not read"
        add_note(r, "skipped", text)
    keep_section(r, order, major, minor)


@cython.cfunc
def set_clock(r: PcapngState, interface):
    """Writes an interface's column of the clock table, such that no product of `packet_time` overflows an int64."""
    column = r.count
    if column == r.clock.shape[1]:
        larger = new_matrix(CLOCK_ROWS, 2 * column)
        for row in range(CLOCK_ROWS):
            for old in range(column):
                larger[row, old] = r.clock[row, old]
        r.clock = larger
    divisor = max(interface.ticks_per_second // 1_000_000_000, 1)
    factor = max(1_000_000_000 // interface.ticks_per_second, 1)
    exact = interface.ticks_per_second * factor == 1_000_000_000 * divisor and divisor < 2**62
    safe = exact and abs(interface.offset_seconds) < 4_000_000_000
    r.clock[CLOCK_LINK, column] = interface.link
    r.clock[CLOCK_SNAPLEN, column] = interface.snaplen_bytes
    r.clock[CLOCK_LIMIT, column] = 2**62 // factor if safe else -1
    r.clock[CLOCK_FACTOR, column] = factor if safe else 1
    r.clock[CLOCK_DIVISOR, column] = divisor if safe else 1
    r.clock[CLOCK_SHIFT, column] = interface.offset_seconds * 1_000_000_000 if safe else 0
    r.count = column + 1


def keep_interface(r: PcapngState, order, link, snaplen, clock):
    """Writes an interface description to the head. `clock` has its options if_tsresol and if_tsoffset, where it has them."""
    options = b"".join(
        struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) & 3) for code, value in clock.items()
    )
    total = 20 + len(options)
    r.head_bytes += struct.pack(order + "IIHHI", INTERFACE, total, link, 0, snaplen)
    r.head_bytes += options + struct.pack(order + "I", total)
    r.bare = False


@cython.cfunc
def read_interface_description(r: PcapngState, order, body):
    if r.count == MOST_INTERFACES:
        if not r.many_interfaces:
            add_note(r, "odd", f"more than {MOST_INTERFACES:,} interfaces: packets of those beyond are not read")
        r.many_interfaces = True
        return
    if len(body) < 8:
        add_note(r, "damaged", "an interface that cannot be read")
        return
    link, _, snaplen = struct.unpack_from(order + "HHI", body)
    interface = Interface(link, snaplen)
    clock = {}
    for code, value in read_options(order, body, 8):
        if code == IF_NAME:
            interface.name = value[:LONGEST_NAME_BYTES].decode("utf-8", "replace").rstrip("\0")
        elif code == IF_TSRESOL and value:
            clock[code] = value[:1]
            exponent = value[0] & 0x7F
            interface.ticks_per_second = 2**exponent if value[0] & 0x80 else 10**exponent
        elif code == IF_TSOFFSET and len(value) == 8:
            clock[code] = value
            interface.offset_seconds = struct.unpack(order + "q", value)[0]
    r.interfaces.append(interface)
    set_clock(r, interface)
    keep_interface(r, order, link, snaplen, clock)


@cython.cfunc
def read_interface_statistics(r: PcapngState, order, body):
    if len(body) < 12:
        return
    number = struct.unpack_from(order + "I", body)[0] + r.first
    if number >= r.count:
        return
    dropped = []
    for code, value in read_options(order, body, 12):
        if len(value) == 8 and code == ISB_IFRECV:
            r.interfaces[number].received = struct.unpack(order + "Q", value)[0]
        elif len(value) == 8 and code in (ISB_IFDROP, ISB_OSDROP):
            dropped.append(struct.unpack(order + "Q", value)[0])
    if dropped:
        r.interfaces[number].drops = sum(dropped)


@cython.cfunc
def read_decryption_secrets(r: PcapngState, order, body):
    if len(body) < 8:
        return
    kind, length = struct.unpack_from(order + "II", body)
    if length > len(body) - 8 or r.secret_bytes + length > MOST_SECRET_BYTES:
        add_note(r, "damaged", f"decryption secrets of {length} bytes cannot be read")
        return
    r.secret_bytes += length
    r.secrets.append((kind, body[8 : 8 + length]))
