"""Reader of classic pcap files: draft-ietf-opsawg-pcap, and the variants that libpcap reads too.

Sans-IO: the caller feeds chunks of the file and prepends what was not consumed to the next chunk.
"""

import struct

import cython

from dissectors.errors import Malformed, Truncated
from dissectors.formats.capture_facts import Interface, Note, cut_note, keep_note
from dissectors.formats.pcap_limits import *
from dissectors.layout import *
from dissectors.matrix import check_room

# magic -> (byte order, ticks per second, bytes of a record header). The third pair is Kuznetsov's patched libpcap, the fourth
# netsniff-ng's own one (Borkmann), which no other program reads.
MAGICS = {
    b"\xa1\xb2\xc3\xd4": (">", 1_000_000, 16),
    b"\xd4\xc3\xb2\xa1": ("<", 1_000_000, 16),
    b"\xa1\xb2\x3c\x4d": (">", 1_000_000_000, 16),
    b"\x4d\x3c\xb2\xa1": ("<", 1_000_000_000, 16),
    b"\xa1\xb2\xcd\x34": (">", 1_000_000, 24),
    b"\x34\xcd\xb2\xa1": ("<", 1_000_000, 24),
    b"\xa1\xe2\xcb\x12": (">", 1_000_000_000, 24),
    b"\x12\xcb\xe2\xa1": ("<", 1_000_000_000, 24),
}
# Writers that have the magic of others, but longer headers of records (Nokia's IPSO, RedHat 6.1; SuSE 6.3): bytes of a record's
# header by magic -> what it may be instead. A magic of ours, in no file, names the variant in the `head` for pieces of a file.
_VARIANTS = {
    b"\xa1\xb2\xc3\xd4": ((20, b"\xa1\xb2\xc3\x14"), (24, b"\xa1\xb2\xc3\x18")),
    b"\xd4\xc3\xb2\xa1": ((20, b"\x14\xc3\xb2\xa1"), (24, b"\x18\xc3\xb2\xa1")),
    b"\xa1\xb2\xcd\x34": ((28, b"\xa1\xb2\xcd\x1c"),),
    b"\x34\xcd\xb2\xa1": ((28, b"\x1c\xcd\xb2\xa1"),),
}
MAGICS |= {ours: (*MAGICS[magic][:2], record) for magic, variants in _VARIANTS.items() for record, ours in variants}


@cython.cclass
class PcapReader:
    """Turns the bytes of one pcap file into rows of the packets matrix.

    `packets` counts the rows so far; `offset` is the offset in the file up to which all is read; `stopped` says that the
    rest of the file cannot be read (the newest note says why). `interfaces` has one element; `secrets` stays empty.

    To read a piece of a file, make a new reader with the `head` of another, find a record by `guess`, and `enter` there. A
    record that begins at offset `until` or behind is not read; then `ended` is True.
    """

    packets = cython.declare(cython.longlong, visibility="readonly")
    offset = cython.declare(cython.longlong, visibility="readonly")
    stopped = cython.declare(cython.bint, visibility="readonly")
    interfaces = cython.declare(list, visibility="readonly")
    notes = cython.declare(list, visibility="readonly")
    secrets = cython.declare(list, visibility="readonly")
    drops = cython.declare(object, visibility="readonly")
    head = cython.declare(bytes, visibility="readonly")
    until = cython.declare(cython.longlong, visibility="public")
    ended = cython.declare(cython.bint, visibility="readonly")
    block: cython.const[cython.uchar][::1]
    big: cython.bint
    swapped: (
        cython.longlong
    )  # 1: the two lengths of a record are swapped; 2: the smaller one is the captured length; else 0
    record: cython.longlong  # bytes of a record's header
    has_begun: cython.bint  # a record was seen, and so `record` is sure
    tick: cython.longlong  # ns
    ticks: cython.longlong  # per second
    link: cython.longlong
    ceiling: cython.longlong  # the longest packet that is believed, in bytes

    def __init__(self, head: bytes):
        """Raises `Truncated` for an unfinished file header and `Malformed` for a version that no reader knows."""
        if len(head) < FILE_HEADER_BYTES:
            raise Truncated("pcap file header", 0, f"{FILE_HEADER_BYTES} bytes", f"{len(head)}")
        order, ticks_per_second, self.record = MAGICS[bytes(head[:4])]
        major, minor, _, _, snaplen, network = struct.unpack_from(order + "HHiIII", head, 4)
        if major < 2 or (major > 2 and (major, minor) != (543, 0)):
            raise Malformed("pcap file header", 4, "version 2", f"version {major}.{minor}")
        self.notes = []
        self.big = order == ">"
        self.tick = 1_000_000_000 // ticks_per_second
        self.ticks = ticks_per_second
        # The order of the two lengths changed with version 2.3; some writers of 2.3 kept the old one (DG/UX writes 543.0).
        self.swapped = 1 if major == 543 or minor < 3 else 2 if minor == 3 else 0
        self.link = network & 0xFFFF
        self.ceiling = min(max(snaplen, USUAL_CEILING_BYTES), HIGHEST_CEILING_BYTES)
        self.interfaces = [Interface(self.link, snaplen, ticks_per_second=ticks_per_second)]
        self.secrets = []
        self.drops = None
        self.packets = 0
        self.offset = 0
        self.stopped = False
        self.head = bytes(head[:FILE_HEADER_BYTES])
        self.until = NO_END
        self.ended = False
        self.has_begun = False
        self.block = b""
        if network & 0x03FF0000:
            self._note(
                "odd", 20, f"reserved bits of the link type field are set (0x{network:08x}): taken as {self.link}"
            )

    def enter(self, offset):
        """Goes on at the record at byte `offset` of the file, as if it were the first one."""
        self.offset = offset
        self.packets = 0
        self.notes = []
        self.has_begun = True

    def guess(self, block: cython.const[cython.uchar][::1], start: cython.longlong, stop: cython.longlong):
        """The first offset in `block[start:stop]` at which records seem to begin; -1 when there is none.

        Headers must lead from record to record CHAIN times, or SHORT_CHAIN times up to the last bytes of `block`, or exactly
        to its end. It is a guess: the payload of a packet may look like that."""
        at: cython.longlong = start
        found: cython.longlong = -1
        self.block = block
        stop = min(stop, len(block) - self.record + 1)
        while at < stop:
            if self._begins_chain(at, 1):
                found = at
                break
            at += 1
        self.block = b""
        return found

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begins_chain(self, at: cython.longlong, to_the_end: cython.longlong) -> cython.longlong:
        """Whether headers lead from `at` from record to record, at least `to_the_end` times where the last one ends with the block.
        Neighbours are captured within a day of each other."""
        size: cython.longlong = len(self.block)
        links: cython.longlong = 0
        seconds: cython.longlong
        before: cython.longlong = 0
        captured: cython.longlong
        length: cython.longlong
        while links < CHAIN and at + self.record <= size:
            captured = self._u32(at + 8)
            length = self._u32(at + 12)
            if self.swapped != 0 and (self.swapped == 1 or captured > length):
                captured, length = length, captured
            if length == 0 or captured > length or captured > self.ceiling or length > HIGHEST_CEILING_BYTES:
                return 0
            seconds = self._u32(at)
            if self._u32(at + 4) >= self.ticks or (links > 0 and abs(seconds - before) > DAY_SECONDS):
                return 0
            before = seconds
            at += self.record + captured
            if at <= size:
                links += 1
        return links == CHAIN or links >= SHORT_CHAIN or (links >= to_the_end and at == size)

    @cython.boundscheck(False)
    def feed(self, block: cython.const[cython.uchar][::1], start: cython.longlong, out: cython.longlong[:, ::1]):
        """Reads whole records of `block[start:]` into `out[PACKET_, row]`; offsets count from the block's start.

        Returns (rows, consumed, why): `block[:consumed]` is used up. After WHY_DONE feed more bytes, after WHY_OUTPUT_FULL
        call again with `start=consumed` and an empty `out`. Never raises for what is in the file.
        """
        at: cython.longlong = start
        size: cython.longlong = len(block)
        row: cython.longlong = 0
        rows: cython.longlong = out.shape[1]
        why: cython.longlong = WHY_DONE
        captured: cython.longlong
        length: cython.longlong
        seconds: cython.longlong
        fraction: cython.longlong
        last: cython.longlong = self.until - self.offset + start
        if self.offset == 0:
            if size - at < FILE_HEADER_BYTES:
                return 0, start, WHY_DONE
            at += FILE_HEADER_BYTES
        check_room(out, PACKET_COLUMNS, 0)
        self.ended = False
        self.block = block
        if not self.has_begun and at + self.record <= size:
            self._choose_variant(at)
        while not self.stopped and at < last and at + self.record <= size:
            if row == rows:
                why = WHY_OUTPUT_FULL
                break
            seconds = self._u32(at)
            fraction = self._u32(at + 4)
            captured = self._u32(at + 8)
            length = self._u32(at + 12)
            if self.swapped != 0 and (self.swapped == 1 or captured > length):
                captured, length = length, captured
            if captured > self.ceiling or (captured == 0 and length == 0 and seconds == 0 and fraction == 0):
                self.packets += row
                self._stop(self.offset + at - start, captured)
                self.packets -= row
                break
            if at + self.record + captured > size:
                break
            out[PACKET_NUMBER, row] = self.packets + row + 1
            out[PACKET_TIME, row] = seconds * 1_000_000_000 + fraction * self.tick
            out[PACKET_OFFSET, row] = at + self.record
            out[PACKET_CAPTURED, row] = captured
            out[PACKET_LENGTH, row] = length if length > captured else captured
            out[PACKET_LINK, row] = self.link
            out[PACKET_INTERFACE, row] = 0
            row += 1
            at += self.record + captured
        self.block = b""  # releases the buffer, so that the caller can resize it
        if self.stopped:
            at = size
        elif at >= last:
            self.ended = True
        self.packets += row
        self.offset += at - start
        return row, at, why

    def _choose_variant(self, at):
        """Another length of the headers of records, if they lead from record to record with it alone."""
        usual: cython.longlong = self.record
        self.has_begun = True
        if self._begins_chain(at, 1):
            return
        for record, ours in _VARIANTS.get(self.head[:4], ()):
            self.record = record
            if self._begins_chain(at, SHORT_CHAIN):
                self.head = ours + self.head[4:]
                return
        self.record = usual

    def finish(self, leftover_bytes):
        """A `Note` when the file ends within a record, else None. `leftover_bytes` were never consumed."""
        if leftover_bytes == 0 or self.stopped:
            return None
        return cut_note(self.offset, self.packets, leftover_bytes)

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

    def _stop(self, offset, captured):
        """Gives up: once the header of a record is wrong, nothing says where the next record begins."""
        self.stopped = True
        why = f"a packet of {captured} bytes" if captured else "nothing but zero bytes"
        text = f"damaged at byte {offset}, after packet {self.packets}: the file claims {why}; the rest is not read"
        self._note("damaged", offset, text)

    def _note(self, kind, offset, text):
        keep_note(self.notes, Note(kind, offset, self.packets, text))
