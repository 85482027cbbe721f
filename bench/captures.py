"""The captures that benches measure, by name: what is not there yet is written.

`chatty` and `mixed` are copies of lab captures (`make_captures.py`); `bulk` has messages of 1 MB, `metadata` replies about 12,000
partitions; `connections` are 100,000 short ones; `lossy` is a part of chatty without one packet in a hundred, `small` is its
first 100 kB. The same sources give the same bytes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import make_connections
import make_conversations
from make_captures import FILE_HEADER, PACKET, RECIPES, make

PORT = 9092
PART_BYTES = 200_000_000
SMALL_BYTES = 100_000
SHORT_CONNECTIONS = 100_000
LOSS = 0.01


class Capture(NamedTuple):
    """A capture on disk, and the ports of its brokers, by which tshark finds Kafka."""

    name: str
    path: Path
    ports: tuple[int, ...]


def chatty(folder: Path, size: int | None = None) -> Capture:
    """`chatty`, or one like it of another size."""
    recipe = RECIPES[0]
    if size is not None and size < recipe.bytes:
        path = folder / f"{recipe.name}_{size // 1_000_000}.pcap"
        return Capture(path.stem, _once(path, lambda to: cut(make(recipe, folder), to, size)), recipe.ports)
    if size is not None:
        recipe = replace(recipe, name=f"{recipe.name}_{size // 1_000_000}", bytes=size)
    return Capture(recipe.name, make(recipe, folder), recipe.ports)


def _mixed(folder: Path) -> Capture:
    return Capture(RECIPES[1].name, make(RECIPES[1], folder), RECIPES[1].ports)


def _bulk(folder: Path) -> Capture:
    exchange = make_conversations.produce(make_conversations.BULK_BYTES)
    path = _once(folder / "bulk.pcap", lambda to: make_conversations.write(to, exchange, PART_BYTES))
    return Capture("bulk", path, (PORT,))


def _metadata(folder: Path) -> Capture:
    exchange = make_conversations.metadata()
    path = _once(folder / "metadata.pcap", lambda to: make_conversations.write(to, exchange, PART_BYTES))
    return Capture("metadata", path, (PORT,))


def _connections(folder: Path) -> Capture:
    path = _once(folder / "connections.pcap", lambda to: make_connections.make("short", SHORT_CONNECTIONS, to))
    return Capture("connections", path, (PORT,))


def _lossy(folder: Path) -> Capture:
    whole = chatty(folder)
    path = _once(folder / "lossy.pcap", lambda to: cut(whole.path, to, PART_BYTES, LOSS))
    return Capture("lossy", path, whole.ports)


def _small(folder: Path) -> Capture:
    whole = chatty(folder)
    return Capture("small", _once(folder / "small.pcap", lambda to: cut(whole.path, to, SMALL_BYTES)), whole.ports)


MAKERS: dict[str, Callable[[Path], Capture]] = {
    "chatty": chatty,
    "mixed": _mixed,
    "bulk": _bulk,
    "connections": _connections,
    "lossy": _lossy,
    "metadata": _metadata,
    "small": _small,
}


def cut(source: Path, target: Path, size: int, lost: float = 0.0) -> None:
    """The first `size` bytes of a capture, as whole packets, of which this share is lost."""
    chance = random.Random(1)
    with source.open("rb", buffering=1 << 20) as taken, target.open("wb", buffering=1 << 20) as given:
        given.write(taken.read(len(FILE_HEADER)))
        while taken.tell() < size and (head := taken.read(PACKET.size)):
            packet = taken.read(PACKET.unpack(head)[2])
            if not lost or chance.random() >= lost:
                given.write(head + packet)


def _once(path: Path, write: Callable[[Path], object]) -> Path:
    """A file that is there is whole, because it is renamed at the end."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        write(unfinished)
        unfinished.rename(path)
    return path


def count_packets(path: Path) -> int:
    """Walks the packet headers of a pcap file."""
    packets, at, size = 0, len(FILE_HEADER), path.stat().st_size
    with path.open("rb", buffering=1 << 20) as file:
        while at < size:
            file.seek(at + 8)
            at += PACKET.size + int.from_bytes(file.read(4), "little")
            packets += 1
    return packets
