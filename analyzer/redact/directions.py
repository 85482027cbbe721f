"""What is known of one direction of a connection while it is redacted: where its bytes are, and what they are."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from analyzer.redact.rewriting_steps import Said

if TYPE_CHECKING:
    from analyzer.redact.tls_rewriting import TlsSide

LOW_32 = 0xFFFFFFFF

# (position of its first byte, bytes, place in the spool, number of its packet)
Held = tuple[int, int, int, int]


class Conversation:
    """What is known of one connection: what was said, and the requests whose replies may come (correlation id -> key, version)."""

    __slots__ = ("pending", "said")

    def __init__(self) -> None:
        self.said = Said()
        self.pending: OrderedDict[int, tuple[int, int]] = OrderedDict()


class Reader:
    """What one direction is: frames of Kafka from `boundary` on, of which the first bytes are in `tail`; or TLS."""

    __slots__ = ("boundary", "conversation", "end", "frames", "is_request", "recent", "tail", "tls")

    def __init__(self, boundary: int) -> None:
        self.boundary = boundary
        self.end = boundary
        self.tail = b""
        self.recent = b""
        self.frames = 0
        self.is_request: bool | None = None
        self.conversation: Conversation | None = None
        self.tls: TlsSide | None = None


class Direction:
    """One side of one connection. Positions count bytes of its stream, from 2^32 on."""

    __slots__ = ("begins", "end", "flow", "held", "longest", "newest", "reader")

    def __init__(self, flow: tuple[int, ...], seq: int) -> None:
        self.flow = flow
        self.held: list[Held] = []
        self.newest = seq + (1 << 32)
        self.end = self.newest
        self.longest = 0
        self.begins = False  # a SYN came before its first byte
        self.reader: Reader | None = None  # what the bytes are to whoever reads them

    def position(self, seq: int) -> int:
        """The position of a sequence number: the nearest one."""
        return self.newest + ((seq - self.newest + (1 << 31)) & LOW_32) - (1 << 31)
