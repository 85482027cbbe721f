"""What is known of one direction of a connection while it is redacted: where its bytes are, and what they are."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from analyzer.redact.rewriting_steps import Said

if TYPE_CHECKING:
    from analyzer.redact.tls_rewriting import TlsSide

LOW_32 = 0xFFFFFFFF
# Of a frame that never ends so many bytes are read: enough for a header and what precedes large values.
MOST_OF_UNFINISHED = 512

# (position of its first byte, bytes, place in the spool, number of its packet)
Held = tuple[int, int, int, int]


class Conversation:
    """What is known of one connection: what was said, and the requests whose replies may come (correlation id -> key, version)."""

    __slots__ = ("pending", "said")

    def __init__(self) -> None:
        self.said = Said()
        self.pending: OrderedDict[int, tuple[int, int]] = OrderedDict()


class Reader:
    """What one direction is that is not known to be TLS: frames of Kafka from `boundary` on, whose first bytes are in `tail`.

    Frames are told behind all chunks of their batch, and what follows the last of them may be the beginning of one that
    never ends. So the chunks of a batch are kept (`recent`) until it is clear where its last frame ended."""

    __slots__ = ("boundary", "conversation", "frames", "is_request", "recent", "side", "tail")

    def __init__(self, boundary: int, side: int) -> None:
        self.boundary = boundary
        self.tail = b""
        self.recent: list[tuple[int, bytes]] | None = None
        self.frames = 0
        self.is_request: bool | None = None
        self.conversation: Conversation | None = None
        self.side = side

    def take(self, position: int, data: memoryview) -> bool:
        """Bytes of the stream, in order. Returns whether they are the first since it was settled."""
        is_first = self.recent is None
        if self.recent is None:
            self.recent = []
        self.recent.append((position, bytes(data)))
        return is_first

    def end_frame(self, end: int) -> None:
        """A frame ended at position `end`: what comes next is not known to belong to one."""
        behind = end - self.boundary
        self.tail = self.tail[behind:] if behind >= 0 else b""
        self.boundary = end

    def settle(self) -> None:
        """No frame of the newest batch is told any more."""
        for position, data in self.recent or ():
            first, room = self.boundary + len(self.tail) - position, MOST_OF_UNFINISHED - len(self.tail)
            if 0 <= first < len(data):
                self.tail += data[first : first + room]
        self.recent = None


class Direction:
    """One side of one connection. Positions count bytes of its stream, from 2^32 on."""

    __slots__ = ("begins", "end", "flow", "forgotten", "held", "longest", "newest", "reader")

    def __init__(self, flow: bytes, seq: int) -> None:
        self.flow = flow
        self.held: list[Held] = []
        self.newest = seq + (1 << 32)
        self.end = self.newest
        self.longest = 0
        self.begins = False  # a SYN came before its first byte
        self.forgotten = False  # so it did, but that is not known any more
        self.reader: Reader | TlsSide | None = None  # what the bytes are to whoever reads them

    def position(self, seq: int) -> int:
        """The position of a sequence number: the nearest one."""
        return self.newest + ((seq - self.newest + (1 << 31)) & LOW_32) - (1 << 31)
