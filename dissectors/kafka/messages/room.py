"""How large the tree of one message may become: a megabyte of empty names is half a gigabyte of Python objects.

Real messages stay far below: the Metadata of a cluster of 20,000 partitions has 300,000 values. What is beyond is left out,
and the error says where: everything before it is whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dissectors.errors import Limited

if TYPE_CHECKING:
    from dissectors.kafka.messages.wire import Wire

MOST_VALUES = 300_000
# Of text, bytes and tagged fields that the schema does not know; records count when they are read one by one.
MOST_CONTENT_BYTES = 32 << 20


class Room:
    """What is left for one message: `values` of its tree, `content_bytes` of text and bytes in them."""

    __slots__ = ("content_bytes", "values")

    def __init__(self, values: int = MOST_VALUES, content_bytes: int = MOST_CONTENT_BYTES) -> None:
        self.values = values
        self.content_bytes = content_bytes

    def take(self, wire: Wire, content_bytes: int = 0, values: int = 1) -> None:
        """Counts the value at which `wire` is. Raises Limited when there is no more room."""
        self.values -= values
        self.content_bytes -= content_bytes
        if self.values < 0 or self.content_bytes < 0:
            what = f"{MOST_VALUES:,} values" if self.values < 0 else f"{MOST_CONTENT_BYTES >> 20} MiB of text and bytes"
            raise Limited(wire.where(), wire.at, f"no more than {what}", f"more; {wire.left:,} bytes are left out")
