"""Reader of pcapng files (draft-ietf-opsawg-pcapng), both byte orders, any number of sections.

Sans-IO: the caller feeds chunks of the file and prepends what was not consumed to the next chunk.
"""

import struct

import cython

from dissectors.errors import Malformed, Truncated, Unsupported
from dissectors.formats.capture_facts import cut_note
from dissectors.formats.pcapng_blocks import read_block
from dissectors.formats.pcapng_codes import *
from dissectors.formats.pcapng_damage import begins_chain, seek_section_header, skip_bytes
from dissectors.formats.pcapng_state import SECTION_MAGIC, PcapngState, byte_order
from dissectors.layout import *
from dissectors.matrix import new_matrix

__all__ = ["SECTION_MAGIC", "PcapngReader"]


@cython.final
@cython.cclass
class PcapngReader(PcapngState):
    """Turns the bytes of one pcapng file into rows of the packets matrix.

    `packets` counts packets as Wireshark numbers frames; `offset` is the offset in the file up to which all is read.
    `interfaces`, `notes`, `secrets` (pairs of type and bytes, from decryption secrets blocks) and `drops` (packets that the
    capturing host lost, None when the file does not say) grow as the file is read. `stopped` stays False: after damage the
    reader looks for the next section.

    To read a piece of a file, feed a new reader the `head` of the reader of the piece before, find a block by `guess`, and
    `enter` there. A block that begins at offset `until` or behind is not read; then `ended` is True.
    """

    def __init__(self, head: bytes):
        """Raises `Truncated`, `Malformed` or `Unsupported` when the first section header cannot be read."""
        if len(head) < SECTION_BYTES:
            raise Truncated("pcapng section header", 0, "28 bytes", f"{len(head)}")
        order = byte_order(head[8:12])
        if not order:
            raise Malformed("pcapng section header", 8, "a byte-order magic", head[8:12].hex(" "))
        total, _, major, minor = struct.unpack_from(order + "IIHH", head, 4)
        if total < SECTION_BYTES or total % 4 or total > LONGEST_BLOCK_BYTES:
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
        self.head_bytes = bytearray()
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
        self.many_interfaces = False

    @property
    def head(self):
        """The section headers and interface descriptions so far, as a pcapng file: what the reader of a later piece must be fed.
        Names and comments are left out, as they could be as long as the file."""
        return bytes(self.head_bytes)

    def enter(self, offset):
        """Goes on at the block at byte `offset` of the file, with the sections and interfaces known so far."""
        self.offset = offset
        self.packets = 0
        self.notes = []

    def guess(self, block: cython.const[cython.uchar][::1], start: cython.longlong, stop: cython.longlong):
        """The first offset in `block[start:stop]`, in steps of four bytes, at which blocks seem to begin; -1 when there is none.

        Lengths must lead from block to block CHAIN times, or SHORT_CHAIN times up to the last bytes of `block`, or exactly to
        its end. It is a guess: the payload of a packet may look like that."""
        at: cython.longlong = start
        found: cython.longlong = -1
        order: cython.bint = self.big
        self.block = block
        stop = min(stop, len(block) - 11)
        while at < stop:
            if begins_chain(self, at):
                found = at
                break
            at += 4
        self.big = order
        self.block = b""
        return found

    def feed(self, block: cython.const[cython.uchar][::1], start: cython.longlong, out: cython.longlong[:, ::1]):
        """Reads whole blocks of `block[start:]` into `out[PACKET_, row]`; offsets count from the block's start.

        Returns (rows, consumed, why): `block[:consumed]` is used up. After WHY_DONE feed more bytes, after WHY_OUTPUT_FULL
        call again with `start=consumed` and an empty `out`. A packet without a time (Simple Packet Block) has PACKET_TIME
        UNKNOWN; one of an undeclared interface has link and interface UNKNOWN too. Never raises for what is in the file.
        """
        why: cython.longlong = WHY_DONE
        did: cython.longlong = USED
        self.ended = False
        self.block = block
        self.out = out
        self.at = start
        self.size = len(block)
        self.base = self.offset - start
        self.row = 0
        while did == USED:
            if self.skip > 0:
                skip_bytes(self)
            if self.lost:
                did = seek_section_header(self, bytes(block[self.at :]))
            elif self.skip == 0 and self.base + self.at >= self.until:
                self.ended = True
                break
            else:
                did = read_block(self)
                if did == LOST:
                    self.lost = True
                    did = USED
        if did == FULL:
            why = WHY_OUTPUT_FULL
        self.block = b""  # releases the buffer, so that the caller can resize it
        self.offset = self.base + self.at
        return self.row, self.at, why

    def finish(self, leftover_bytes):
        """A `Note` when the file ends within a block, else None. `leftover_bytes` were never consumed."""
        if self.lost or (leftover_bytes == 0 and self.skip == 0):
            return None
        return cut_note(self.offset, self.packets, leftover_bytes)

    @property
    def drops(self):
        """Packets that the capturing host lost, over all interfaces; None when the file does not say."""
        known = [interface.drops for interface in self.interfaces if interface.drops is not None]
        return sum(known) if known else None
