"""Reader of pcapng files (draft-ietf-opsawg-pcapng), both byte orders, any number of sections.

Sans-IO: the caller feeds blocks of the file and prepends what was not consumed to the next one.
"""

import struct

import cython

from dissectors.errors import Malformed, Truncated, Unsupported
from dissectors.formats.capture_facts import Interface, Note, cut_note, keep_note
from dissectors.layout import *
from dissectors.matrix import new_matrix

SECTION_MAGIC = b"\x0a\x0d\x0d\x0a"
# A block that must be read as a whole may be this long; a longer one is passed over without being held in memory.
LONGEST_BLOCK_BYTES = 16 * 1024 * 1024
# A section header with more comments than this is not believed while we look for one in damaged bytes.
LONGEST_SOUGHT_BYTES = 65_536
MOST_INTERFACES = 65_536
# So much of an interface's name is held.
LONGEST_NAME_BYTES = 256
# A section header without options.
SECTION_BYTES = 28
MOST_SECRET_BYTES = 64 * 1024 * 1024
# So many blocks in a row are believed to be blocks, or so few before the end of what is known.
CHAIN = cython.declare(cython.longlong, 16)
SHORT_CHAIN = cython.declare(cython.longlong, 2)
NO_END = 1 << 62

# Block types, as C values. Custom and journal blocks are no packets, but Wireshark numbers them like packets.
SECTION = cython.declare(cython.longlong, 0x0A0D0D0A)
INTERFACE = cython.declare(cython.longlong, 1)
OLD_PACKET = cython.declare(cython.longlong, 2)
SIMPLE_PACKET = cython.declare(cython.longlong, 3)
NAMES = cython.declare(cython.longlong, 4)
STATISTICS = cython.declare(cython.longlong, 5)
PACKET = cython.declare(cython.longlong, 6)
JOURNAL = cython.declare(cython.longlong, 9)
SECRETS = cython.declare(cython.longlong, 10)
CUSTOM = cython.declare(cython.longlong, 0x0BAD)
CUSTOM_PRIVATE = cython.declare(cython.longlong, 0x40000BAD)

# What `_read_block` did, as C values.
USED = cython.declare(cython.longlong, 1)
WANTS_MORE = cython.declare(cython.longlong, 2)
FULL = cython.declare(cython.longlong, 3)
LOST = cython.declare(cython.longlong, 4)

# Rows of the clock table, one column per interface.
CLOCK_LINK = cython.declare(cython.longlong, 0)
CLOCK_SNAPLEN = cython.declare(cython.longlong, 1)
CLOCK_LIMIT = cython.declare(cython.longlong, 2)  # ticks up to which int64 arithmetic is exact; -1: never
CLOCK_FACTOR = cython.declare(cython.longlong, 3)  # ns = ticks * factor // divisor + shift
CLOCK_DIVISOR = cython.declare(cython.longlong, 4)
CLOCK_SHIFT = cython.declare(cython.longlong, 5)
CLOCK_ROWS = 6


@cython.cclass
class PcapngReader:
    """Turns the bytes of one pcapng file into rows of the packets matrix.

    `packets` counts as Wireshark numbers frames, `offset` is the place in the file up to which all is read.
    `interfaces`, `notes`, `secrets` (pairs of type and bytes, from Decryption Secrets Blocks) and `drops` (packets lost
    while capturing, None when nothing says) grow as the file is read. `stopped` stays False: after damage the reader
    looks for the next section.

    A part of a file can be read alone: a reader is fed the `head` of the one before it (its sections and interfaces so
    far), `guess` finds a block, `enter` begins there, and a block that begins at `until` or behind is not read: `ended`.
    """

    packets = cython.declare(cython.longlong, visibility="readonly")
    offset = cython.declare(cython.longlong, visibility="readonly")
    stopped = cython.declare(cython.bint, visibility="readonly")
    interfaces = cython.declare(list, visibility="readonly")
    notes = cython.declare(list, visibility="readonly")
    secrets = cython.declare(list, visibility="readonly")
    until = cython.declare(cython.longlong, visibility="public")
    ended = cython.declare(cython.bint, visibility="readonly")
    kept: bytearray  # the head, which ends with a section without interfaces when `bare`
    bare: cython.bint
    block: cython.const[cython.uchar][::1]
    out: cython.longlong[:, ::1]
    clock: cython.longlong[:, ::1]
    big: cython.bint
    lost: cython.bint  # damaged: looking for the next section header
    ignored: cython.bint  # this section is of a version that we do not know
    skip: cython.longlong  # bytes of a block that are still to be passed over
    base: cython.longlong  # file offset minus block offset, during feed
    at: cython.longlong
    size: cython.longlong
    row: cython.longlong
    first: cython.longlong  # interfaces before this section
    count: cython.longlong
    secret_bytes: cython.longlong
    odd_times: cython.bint

    def __init__(self, head: bytes):
        """Raises `Truncated`, `Malformed` or `Unsupported` when the first section header cannot be read."""
        if len(head) < 28:
            raise Truncated("pcapng section header", 0, "28 bytes", f"{len(head)}")
        order = _byte_order(head[8:12])
        if not order:
            raise Malformed("pcapng section header", 8, "a byte-order magic", head[8:12].hex(" "))
        total, _, major, minor = struct.unpack_from(order + "IIHH", head, 4)
        if total < 28 or total % 4 or total > LONGEST_BLOCK_BYTES:
            raise Malformed("pcapng section header", 4, "a block length", str(total))
        if major != 1:
            raise Unsupported("pcapng section header", 12, "version 1", f"version {major}.{minor}")
        self.interfaces = []
        self.notes = []
        self.secrets = []
        self.packets = 0
        self.offset = 0
        self.stopped = False
        self.until = NO_END
        self.ended = False
        self.kept = bytearray()
        self.bare = False
        self.block = b""
        self.clock = new_matrix(CLOCK_ROWS, 16)
        self.out = new_matrix(1, 1)
        self.big = order == ">"
        self.lost = False
        self.ignored = False
        self.skip = 0
        self.first = 0
        self.count = 0
        self.secret_bytes = 0
        self.odd_times = False

    @property
    def head(self):
        """The section headers and interfaces so far: what a reader must be fed to go on from here. Written anew, with what
        rows are made from and nothing else: names and comments could be as long as the file."""
        return bytes(self.kept)

    def enter(self, offset):
        """Goes on at a block that begins at byte `offset` of the file, with the sections and interfaces known so far."""
        self.offset = offset
        self.packets = 0
        self.notes = []

    def guess(self, block: cython.const[cython.uchar][::1], start: cython.longlong, stop: cython.longlong):
        """The first place of `block[start:stop]`, in steps of four bytes, from which lengths lead from block to block: CHAIN of
        them, SHORT_CHAIN before the end of `block`, or exactly to it; -1 when there is none. Only a guess: payloads may hold
        such a chain."""
        at: cython.longlong = start
        found: cython.longlong = -1
        order: cython.bint = self.big
        self.block = block
        stop = min(stop, len(block) - 11)
        while at < stop:
            if self._leads_on(at):
                found = at
                break
            at += 4
        self.big = order
        self.block = b""
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _leads_on(self, at: cython.longlong) -> cython.longlong:
        size: cython.longlong = len(self.block)
        links: cython.longlong = 0
        total: cython.longlong
        order: cython.bint = self.big
        while links < CHAIN and at + 12 <= size:
            total = self._likely_block(at, size)
            if total == 0:
                break
            at += total
            if at <= size:
                links += 1
        self.big = order
        if links == CHAIN or (links > 0 and at == size):
            return 1
        return links >= SHORT_CHAIN and at + 12 > size

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _likely_block(self, at: cython.longlong, size: cython.longlong) -> cython.longlong:
        """The length of what looks like a block at `at`, 0 when nothing does. A section sets the byte order."""
        kind: cython.longlong = self._u32(at)
        if kind == SECTION:  # the same in both byte orders
            self.big = self.block[at + 8] == 0x1A
        elif kind not in (CUSTOM, CUSTOM_PRIVATE) and not 1 <= kind <= SECRETS:
            return 0
        total: cython.longlong = self._u32(at + 4)
        total += -total & 3
        if total < 12 or total > LONGEST_BLOCK_BYTES:
            return 0
        if at + total <= size and self._u32(at + total - 4) + 3 & -4 != total:
            return 0
        if kind == PACKET and at + 28 <= size and self._u32(at + 20) > total - 32:
            return 0
        return total

    def feed(self, block: cython.const[cython.uchar][::1], start: cython.longlong, out: cython.longlong[:, ::1]):
        """Reads whole blocks of `block[start:]` into `out[PACKET_, row]`; offsets count from the block's start.

        Returns (rows, consumed, why): `block[:consumed]` is used up; WHY_DONE wants more input, WHY_OUTPUT_FULL a call
        with `start=consumed` and an empty `out`. A packet without a time (Simple Packet Block) has PACKET_TIME UNKNOWN;
        one of an undeclared interface has link and interface UNKNOWN too. Never raises for what is in the file.
        """
        why: cython.longlong = WHY_DONE
        did: cython.longlong = USED
        self.block = block
        self.out = out
        self.at = start
        self.size = len(block)
        self.base = self.offset - start
        self.row = 0
        while did == USED:
            if self.skip > 0:
                self._pass_over()
            if self.lost:
                did = self._seek_section(bytes(block[self.at :]))
            elif self.skip == 0 and self.base + self.at >= self.until:
                self.ended = True
                break
            else:
                did = self._read_block()
                if did == LOST:
                    self.lost = True
                    did = USED
        if did == FULL:
            why = WHY_OUTPUT_FULL
        self.block = b""  # or the caller could not resize its buffer
        self.offset = self.base + self.at
        return self.row, self.at, why

    def finish(self, leftover_bytes):
        """What is wrong with the end of the file, as a `Note`, or None: `leftover_bytes` were never consumed."""
        if self.lost or (leftover_bytes == 0 and self.skip == 0):
            return None
        return cut_note(self.offset, self.packets, leftover_bytes)

    @property
    def drops(self):
        """Packets that the capturing machine lost, over all interfaces; None when the file does not say."""
        known = [interface.drops for interface in self.interfaces if interface.drops is not None]
        return sum(known) if known else None

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=False)
    @cython.boundscheck(False)
    def _u32(self, at: cython.longlong) -> cython.longlong:
        if at < 0 or at + 4 > len(self.block):
            raise IndexError("a record points outside its block")
        a: cython.longlong = self.block[at]
        b: cython.longlong = self.block[at + 1]
        c: cython.longlong = self.block[at + 2]
        d: cython.longlong = self.block[at + 3]
        if self.big:
            return a << 24 | b << 16 | c << 8 | d
        return d << 24 | c << 16 | b << 8 | a

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _read_block(self) -> cython.longlong:
        """Reads the block at `at` and moves on, or says why not."""
        at: cython.longlong = self.at
        left: cython.longlong = self.size - at
        if left < 12:
            return WANTS_MORE
        kind: cython.longlong = self._u32(at)
        if kind == SECTION:
            # The length of a section header is in the byte order that the header itself announces.
            order = _byte_order(bytes(self.block[at + 8 : at + 12]))
            if not order:
                return self._damage("a section header without byte-order magic")
            self.big = order == ">"
        total: cython.longlong = self._u32(at + 4)
        total += -total & 3  # a writer that forgot the padding in its sum (Wireshark reads it like this)
        if total < 12 or (kind == SECTION and total < 28):
            return self._damage(f"a block of {total} bytes")
        if total > LONGEST_BLOCK_BYTES:
            return self._too_long(kind, total)
        if left < total:
            return WANTS_MORE
        if self._u32(at + total - 4) + 3 & -4 != total:
            return self._damage(f"a block whose two lengths differ ({total} and {self._u32(at + total - 4)})")
        if not self.ignored and kind in (PACKET, OLD_PACKET, SIMPLE_PACKET):
            if self.row == self.out.shape[1]:
                return FULL
            self.packets += 1
            if kind == PACKET:
                self._packet(self._u32(at + 8), 28, total)
            elif kind == OLD_PACKET:
                self._packet(self._old_interface(at + 8), 28, total)
            else:
                self._simple_packet(total)
        elif kind == SECTION or not self.ignored:
            self._other_block(kind, total)
        self.at = at + total
        return USED

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _old_interface(self, at: cython.longlong) -> cython.longlong:
        first: cython.longlong = self.block[at]
        second: cython.longlong = self.block[at + 1]
        return first << 8 | second if self.big else second << 8 | first

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _packet(self, number: cython.longlong, header: cython.longlong, total: cython.longlong) -> cython.longlong:
        """A packet with time stamp: Enhanced Packet Block and its predecessor differ in the interface field only."""
        at: cython.longlong = self.at
        if total < header + 4:
            return self._bad_packet(total)
        captured: cython.longlong = self._u32(at + 20)
        if captured > total - header - 4:
            return self._bad_packet(captured)
        if number >= self.count - self.first:
            self._note("damaged", f"packet {self.packets} is of interface {number}, never declared")
            return self._row(UNKNOWN, UNKNOWN, header, captured, self._u32(at + 24))
        number += self.first
        time: cython.longlong = self._time(number, self._u32(at + 12), self._u32(at + 16))
        return self._row(number, time, header, captured, self._u32(at + 24))

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _simple_packet(self, total: cython.longlong) -> cython.longlong:
        """A packet of the section's first interface: no time, and its captured length only by arithmetic."""
        if total < 16:
            return self._bad_packet(total)
        length: cython.longlong = self._u32(self.at + 8)
        captured: cython.longlong = length
        if self.count == self.first:
            self._note("damaged", f"packet {self.packets} comes before any interface is declared")
            return self._row(UNKNOWN, UNKNOWN, 12, min(captured, total - 16), length)
        snaplen: cython.longlong = self.clock[CLOCK_SNAPLEN, self.first]
        if snaplen > 0 and snaplen < captured:
            captured = snaplen
        if captured > total - 16:
            captured = total - 16
        return self._row(self.first, UNKNOWN, 12, captured, length)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _row(
        self,
        number: cython.longlong,
        time: cython.longlong,
        header: cython.longlong,
        captured: cython.longlong,
        length: cython.longlong,
    ) -> cython.longlong:
        row: cython.longlong = self.row
        self.out[PACKET_NUMBER, row] = self.packets
        self.out[PACKET_TIME, row] = time
        self.out[PACKET_OFFSET, row] = self.at + header
        self.out[PACKET_CAPTURED, row] = captured
        self.out[PACKET_LENGTH, row] = length if length > captured else captured
        self.out[PACKET_LINK, row] = self.clock[CLOCK_LINK, number] if number >= 0 else UNKNOWN
        self.out[PACKET_INTERFACE, row] = number
        self.row = row + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _bad_packet(self, claimed: cython.longlong) -> cython.longlong:
        text = f"packet {self.packets} claims {claimed} bytes, which its block does not hold: not read"
        self._note("damaged", text)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _time(self, number: cython.longlong, high: cython.longlong, low: cython.longlong) -> cython.longlong:
        """Exact ns, cut (not rounded) below one; UNKNOWN for what no int64 holds."""
        if high < 0x7FFFFFFF:
            ticks: cython.longlong = high << 32 | low
            if ticks <= self.clock[CLOCK_LIMIT, number]:
                time: cython.longlong = ticks * self.clock[CLOCK_FACTOR, number]
                divisor: cython.longlong = self.clock[CLOCK_DIVISOR, number]
                if divisor != 1:  # a division costs as much as all the rest of this function
                    time //= divisor
                return time + self.clock[CLOCK_SHIFT, number]
        return self._slow_time(number, high, low)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _pass_over(self) -> cython.longlong:
        step: cython.longlong = min(self.skip, self.size - self.at)
        self.skip -= step
        self.at += step
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _too_long(self, kind: cython.longlong, total: cython.longlong) -> cython.longlong:
        """A block that nobody should hold in memory is passed over; of an unknown type, it is none but damage."""
        if kind not in (OLD_PACKET, SIMPLE_PACKET, PACKET, NAMES, JOURNAL, SECRETS, CUSTOM, CUSTOM_PRIVATE):
            return self._damage(f"a block of type {kind} and {total} bytes")
        if not self.ignored and _is_numbered(kind):
            self.packets += 1
        self._note("skipped", f"block of type {kind} and {total} bytes: too long, not read")
        self.skip = total
        return USED

    def _other_block(self, kind, total):
        """Everything that is rare: Python objects are fine here."""
        body = bytes(self.block[self.at + 8 : self.at + total - 4])
        order = ">" if self.big else "<"
        if kind == SECTION:
            self._section(order, body)
        elif kind == INTERFACE:
            self._interface(order, body)
        elif kind == STATISTICS:
            self._statistics(order, body)
        elif kind == SECRETS:
            self._secret(order, body)
        elif _is_numbered(kind):
            self.packets += 1

    def _keep_section(self, order, major, minor):
        """Of a section without interfaces the next one takes the place, so that a file of nothing but sections cannot fill
        the memory. The file's first one stays: it is of a version that can be read."""
        if self.bare and len(self.kept) > SECTION_BYTES:
            del self.kept[-SECTION_BYTES:]
        self.kept += struct.pack(order + "IIIHHqI", SECTION, SECTION_BYTES, 0x1A2B3C4D, major, minor, -1, SECTION_BYTES)
        self.bare = True

    def _keep_interface(self, order, link, snaplen, clock):
        """Only of an interface that was taken, or there would be no end of them. `clock` has options 9 and 14, if any."""
        options = b"".join(
            struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) & 3)
            for code, value in clock.items()
        )
        total = 20 + len(options)
        self.kept += struct.pack(order + "IIHHI", INTERFACE, total, link, 0, snaplen)
        self.kept += options + struct.pack(order + "I", total)
        self.bare = False

    def _slow_time(self, number, high, low):
        """The time of any resolution and offset, in integers without limit."""
        interface = self.interfaces[number]
        ticks = high << 32 | low
        time = ticks * 1_000_000_000 // interface.ticks_per_second + interface.offset_seconds * 1_000_000_000
        if -(2**63) < time < 2**63:
            return time
        if not self.odd_times:
            self._note("odd", f"packet {self.packets} has a time beyond all calendars: it and others like it have none")
        self.odd_times = True
        return UNKNOWN

    def _section(self, order, body):
        major, minor = struct.unpack_from(order + "HH", body, 4)
        self.first = self.count
        self.ignored = major != 1
        if self.ignored:
            text = (
                f"the section at byte {self.base + self.at} is of version {major}.{minor}, which nobody knows: not read"
            )
            self._note("skipped", text)
        self._keep_section(order, major, minor)

    def _interface(self, order, body):
        if len(body) < 8 or self.count == MOST_INTERFACES:
            self._note("damaged", "an interface that cannot be read")
            return
        link, _, snaplen = struct.unpack_from(order + "HHI", body)
        interface = Interface(link, snaplen)
        clock = {}
        for code, value in _options(order, body, 8):
            if code == 2:
                interface.name = value[:LONGEST_NAME_BYTES].decode("utf-8", "replace").rstrip("\0")
            elif code == 9 and value:
                clock[code] = value[:1]
                exponent = value[0] & 0x7F
                interface.ticks_per_second = 2**exponent if value[0] & 0x80 else 10**exponent
            elif code == 14 and len(value) == 8:
                clock[code] = value
                interface.offset_seconds = struct.unpack(order + "q", value)[0]
        self.interfaces.append(interface)
        self._set_clock(interface)
        self._keep_interface(order, link, snaplen, clock)

    def _set_clock(self, interface):
        """Writes the interface's arithmetic, such that no product of `_time` can leave int64."""
        column = self.count
        if column == self.clock.shape[1]:
            larger = new_matrix(CLOCK_ROWS, 2 * column)
            for row in range(CLOCK_ROWS):
                for old in range(column):
                    larger[row, old] = self.clock[row, old]
            self.clock = larger
        divisor = max(interface.ticks_per_second // 1_000_000_000, 1)
        factor = max(1_000_000_000 // interface.ticks_per_second, 1)
        exact = interface.ticks_per_second * factor == 1_000_000_000 * divisor and divisor < 2**62
        safe = exact and abs(interface.offset_seconds) < 4_000_000_000
        self.clock[CLOCK_LINK, column] = interface.link
        self.clock[CLOCK_SNAPLEN, column] = interface.snaplen_bytes
        self.clock[CLOCK_LIMIT, column] = 2**62 // factor if safe else -1
        self.clock[CLOCK_FACTOR, column] = factor if safe else 1
        self.clock[CLOCK_DIVISOR, column] = divisor if safe else 1
        self.clock[CLOCK_SHIFT, column] = interface.offset_seconds * 1_000_000_000 if safe else 0
        self.count = column + 1

    def _statistics(self, order, body):
        if len(body) < 12:
            return
        number = struct.unpack_from(order + "I", body)[0] + self.first
        if number >= self.count:
            return
        dropped = []
        for code, value in _options(order, body, 12):
            if len(value) == 8 and code == 4:
                self.interfaces[number].received = struct.unpack(order + "Q", value)[0]
            elif len(value) == 8 and code in (5, 7):  # by the interface, by the operating system
                dropped.append(struct.unpack(order + "Q", value)[0])
        if dropped:
            self.interfaces[number].drops = sum(dropped)

    def _secret(self, order, body):
        if len(body) < 8:
            return
        kind, length = struct.unpack_from(order + "II", body)
        if length > len(body) - 8 or self.secret_bytes + length > MOST_SECRET_BYTES:
            self._note("damaged", f"decryption secrets of {length} bytes cannot be read")
            return
        self.secret_bytes += length
        self.secrets.append((kind, body[8 : 8 + length]))

    def _damage(self, what):
        """Notes that the block at `at` is none, and steps over its first byte to look for the next section."""
        where = f"damaged at byte {self.base + self.at}, after packet {self.packets}"
        self._note("damaged", f"{where}: {what}; the rest of the section is lost")
        self.at += 1
        return LOST

    def _seek_section(self, rest):
        """Moves to the next believable section header in `rest`, the unread part of the block."""
        at = rest.find(SECTION_MAGIC)
        while at >= 0:
            order = _byte_order(rest[at + 8 : at + 12])
            if len(rest) - at < 12:
                break
            if order:
                total = struct.unpack_from(order + "I", rest, at + 4)[0]
                if 28 <= total <= LONGEST_SOUGHT_BYTES and total % 4 == 0:
                    if at + total > len(rest):
                        break
                    if struct.unpack_from(order + "I", rest, at + total - 4)[0] == total:
                        self.lost = False
                        self.at += at
                        return USED
            at = rest.find(SECTION_MAGIC, at + 1)
        self.at += at if at >= 0 else max(len(rest) - 3, 0)
        return WANTS_MORE

    def _note(self, kind, text):
        keep_note(self.notes, Note(kind, self.base + self.at, self.packets, text))


def _byte_order(magic):
    """The struct letter of a section's byte order, empty when `magic` is none."""
    return {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}.get(bytes(magic), "")


def _is_numbered(kind):
    """Whether Wireshark gives a block of this type a frame number."""
    return kind in (OLD_PACKET, SIMPLE_PACKET, PACKET, JOURNAL, CUSTOM, CUSTOM_PRIVATE)


def _options(order, body, at):
    """Yields (code, value) of an option list; a broken one ends the list, for nothing behind it can be trusted."""
    while at + 4 <= len(body):
        code, length = struct.unpack_from(order + "HH", body, at)
        if code == 0 or at + 4 + length > len(body):
            return
        yield code, body[at + 4 : at + 4 + length]
        at += 4 + length + (-length & 3)
