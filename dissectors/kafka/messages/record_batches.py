"""What record batches and their records say, whichever magic they have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dissectors.kafka.messages.codecs import CODECS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dissectors.errors import DissectError


@dataclass(slots=True)
class Record:
    """`offset` is absolute as far as the batch's is, `timestamp` epoch ms (-1: none); key and value may be null. An offset
    and a timestamp that no int64 holds are None: the batch lies.

    `control` says what a record of a control batch means (`control.control_of`).
    """

    offset: int | None
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]] = ()
    control: dict[str, Any] | None = None


@dataclass(slots=True)
class Batch:
    """What a batch says of itself. `start` is its place in the field, `size_bytes` includes offset and length.

    Of magic 0 and 1 an uncompressed message is a batch of one, a compressed one a batch of what it wraps; base offset
    and count are None when that cannot be opened. `base_timestamp` and what is below it exist from magic 2 on, else
    None; it holds the delete horizon when there is one. `records` is None unless asked for; with a `problem` it ends
    before the first that could not be read. `crc_ok` is None unless asked for. The last offset and sequence number are None where
    the header tells none that can be.
    """

    start: int
    size_bytes: int
    magic: int
    codec: str = "none"
    base_offset: int | None = None
    last_offset: int | None = 0
    crc: int = 0
    crc_ok: bool | None = None
    timestamp_type: str = "CreateTime"
    max_timestamp: int = -1
    count: int | None = None
    base_timestamp: int | None = None
    delete_horizon_ms: int | None = None
    partition_leader_epoch: int | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    base_sequence: int | None = None
    last_sequence: int | None = None
    transactional: bool | None = None
    control: bool | None = None
    records: list[Record] | None = field(default=None, repr=False)
    problem: DissectError | None = None

    def header(self) -> dict[str, Any]:
        """The fields that this magic has, by name; `crc_ok` only when it is known."""
        left_out = {"start", "records", "problem"}
        left_out |= {name for name in ("crc_ok", "delete_horizon_ms") if getattr(self, name) is None}
        names = list(self.__slots__)
        if self.magic < 2:
            names = names[: names.index("base_timestamp")]
        return {name: getattr(self, name) for name in names if name not in left_out}


@dataclass(slots=True)
class Records:
    """The batches of a field; bytes of a last one that is cut off; why reading stopped, if it stopped early."""

    batches: list[Batch]
    partial_bytes: int = 0
    problem: DissectError | None = None


def codec_name(attributes: int) -> str:
    """One that nobody knows is called by its number."""
    number = attributes & 7
    return CODECS[number] if number < len(CODECS) else f"unknown_{number}"


def last_sequence(base: int, last_offset_delta: int) -> int | None:
    """Sequence number of the last record; they go on at 0 after 2^31 - 1; -1: the producer uses none; None: no such number."""
    if base == -1:
        return -1
    return None if base < 0 or last_offset_delta < 0 else (base + last_offset_delta) & 0x7FFFFFFF


def fitting(number: int) -> int | None:
    """An offset, or a time, that was computed; None where no int64 holds it."""
    return number if -(1 << 63) <= number < 1 << 63 else None
