"""What inputs are made of: messages of every API and version, record batches, packets of every layer, captures.

All of it is made by the project's own encoders or read from samples/, once, when it is first asked for.
"""

from __future__ import annotations

import json
from array import array
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

import random_batches
import random_messages
import transform
from encode import Length
from paths import SAMPLES
from transform import Packet

from dissectors import layout
from dissectors.formats.detection import HEAD_BYTES, open_reader
from dissectors.formats.pcap import MAGICS as PCAP_MAGICS
from dissectors.formats.pcapng import SECTION_MAGIC
from dissectors.matrix import new_matrix
from dissectors.packet.packets import Packets

CORPUS = Path(__file__).parent / "corpus"
MAGICS = {*PCAP_MAGICS, SECTION_MAGIC}


class Whole(NamedTuple):
    """A message as its writer meant it, and where its lengths are."""

    key: int
    version: int
    direction: str
    frame: bytes
    lengths: list[Length]


@cache
def messages() -> list[Whole]:
    """Three of every API, version and direction: one with every field, one at random, one with nulls everywhere."""
    found = []
    for seed, full, odd_nulls in ((1, True, False), (2, False, False), (3, False, True)):
        for sample in random_messages.one_of_each(seed, full, odd_nulls):
            found.append(Whole(*sample.kind, sample.frame, sample.lengths))
    return found


@cache
def pairs() -> list[tuple[Whole, Whole]]:
    """Requests with replies of the same API and version."""
    by_kind: dict[tuple[int, int], dict[str, list[Whole]]] = {}
    for each in messages():
        by_kind.setdefault((each.key, each.version), {}).setdefault(each.direction, []).append(each)
    return [
        pair
        for both in by_kind.values()
        for pair in zip(both["request"], both["response"], strict=True)
        if len(pair[0].frame) + len(pair[1].frame) < 3000
    ]


@cache
def batches() -> list[random_batches.Packed]:
    """Record batches and message sets of every magic and codec."""
    found = []
    for magic, codec in random_batches.FORMATS:
        for seed in range(6):
            chance = Random(f"batch {magic} {codec} {seed}")
            rows = random_batches.records(chance, magic, chance.choice((1, 1, 3, 12)))
            found.append(random_batches.batch(rows, magic, codec))
    return found


@cache
def layers() -> list[tuple[int, bytes]]:
    """(link type, packet) for every layer below TCP: corpus/layers.jsonl, which `write_layers.py` made."""
    rows = [json.loads(line) for line in (CORPUS / "layers.jsonl").read_text().splitlines()]
    return [(row["link"], bytes.fromhex(row["hex"])) for row in rows]


@cache
def captures() -> list[tuple[bytes, list[Packet]]]:
    """The samples: file header and packets."""
    return [transform.read_pcap(path) for path in sorted(SAMPLES.glob("*.pcap.zst"))]


class Segments(NamedTuple):
    """A sample as the packets stage sees it: its bytes, and one array per SEGMENT_ column."""

    block: bytes
    columns: list[array[int]]


@cache
def segments() -> list[Segments]:
    return [_segments(header, packets) for header, packets in captures()]


def _segments(header: bytes, packets: list[Packet]) -> Segments:
    data = bytearray(header)
    for packet in packets:
        data += transform.PACKET_HEADER.pack(packet.seconds, packet.fraction, len(packet.data), packet.wire_bytes)
        data += packet.data
    reader, stage = open_reader(bytes(data[:HEAD_BYTES])), Packets()
    rows = new_matrix(layout.PACKET_COLUMNS, len(packets) + 1)
    out = new_matrix(layout.SEGMENT_COLUMNS, len(packets) + 1)
    count, _, _ = reader.feed(data, 0, rows)
    _, found, _ = stage.feed(data, rows, count, 0, out)
    columns = [array("q", [out[column, row] for row in range(found)]) for column in range(layout.SEGMENT_COLUMNS)]
    return Segments(bytes(data), columns)
