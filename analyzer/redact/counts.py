"""What a redaction did, in numbers: they go into the manifest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counts:
    """`damaged_messages`: whole ones that are none of their API; they became zeros but for their ids. `left_bytes`: bytes behind
    the last field of the schema. `opaque_batches`: compressed batches whose content became zeros. `forgotten_beginnings`: of
    streams whose SYN was forgotten, what stood at their beginning became zeros."""

    packets: int = 0
    packet_bytes: int = 0
    without_time: int = 0
    bare_packets: int = 0
    other_packets: int = 0
    messages: int = 0
    cut_messages: int = 0
    damaged_messages: int = 0
    unknown_messages: int = 0
    unknown_replies: int = 0
    unknown_tags: int = 0
    too_long: int = 0
    left_bytes: int = 0
    tokens: int = 0
    batches: int = 0
    repacked_batches: int = 0
    opaque_batches: int = 0
    late_frames: int = 0
    tls_records: int = 0
    forgotten_beginnings: int = 0
    patched_bytes: int = 0
    payload_bytes: int = 0
