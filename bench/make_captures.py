"""Writes the two large captures that `run.py` measures, by replicating lab captures over many addresses.

`chatty`: small frames, as heartbeats, commits, small produces and empty fetches make them. `mixed`: everything, large
frames and replication included. A copy of the chosen traffic gets a /24 of its own (10.x.y.0) and begins one `step`
after the copy before it, so that dozens run at once and time never goes back. Ports stay, because tshark finds Kafka by
port. Checksums are not mended: capturing hosts with offload have wrong ones too. The same sources give the same bytes.
"""

from __future__ import annotations

import argparse
import os
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import cramjam

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "bench" / "data"
SHARED = Path(os.environ.get("KANALYZE_SHARED", ROOT.parent / "shared"))
SOURCES = (SHARED / "captures" / "lab", ROOT / "samples")

FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)
TIME = struct.Struct("<II")
PACKET = struct.Struct("<IIII")
IP = 14  # an Ethernet header before it; lab captures on a loopback have no VLAN tags
START_SECONDS = 1_800_000_000


@dataclass(frozen=True)
class Recipe:
    """What a capture is made of. `ports` are those of the brokers; `small` takes only connections that say little at a
    time; `step_us` lies between the beginnings of two copies."""

    name: str
    sources: tuple[str, ...]
    ports: tuple[int, ...]
    small: bool
    step_us: int
    bytes: int


RECIPES = (
    Recipe(
        "chatty",
        ("groups_848", "groups_classic", "groups_share", "sweep_43", "basics", "transactions"),
        (9092, 9093),
        small=True,
        step_us=500_000,
        bytes=560_000_000,
    ),
    Recipe(
        "mixed",
        ("basics", "cluster", "shape_full", "throttle", "versions", "groups_classic", "transactions"),
        (9092, 9093, 9292, 9392),
        small=False,
        step_us=2_000_000,
        bytes=510_000_000,
    ),
)

# A connection that says little at a time: enough packets with data, and few bytes of the file for each of them.
SMALL_PACKETS, SMALL_BYTES = 20, 260


class Packet(NamedTuple):
    """A packet of a source: µs since the source began, the bytes as captured, addresses and ports, payload size."""

    time_us: int
    data: bytes
    wire_bytes: int
    source: tuple[bytes, bytes]
    target: tuple[bytes, bytes]
    payload_bytes: int


class Part(NamedTuple):
    """A packet ready to be copied: `step` and `rest_us` are its time, `hosts` the last bytes of both addresses."""

    rest_us: int
    step: int
    before: bytes
    source_host: bytes
    target_host: bytes
    after: bytes


def read_packets(paths: Iterable[Path]) -> Iterator[Packet]:
    """The IPv4 TCP packets of one capture in little-endian pcap files with µs."""
    began: int | None = None
    for path in paths:
        data = path.read_bytes()
        if path.suffix == ".zst":
            data = bytes(cramjam.zstd.decompress(data))
        at = len(FILE_HEADER)
        while at < len(data):
            seconds, micros, captured, wire_bytes = PACKET.unpack_from(data, at)
            packet = data[at + PACKET.size : at + PACKET.size + captured]
            at += PACKET.size + captured
            if packet[12:14] != b"\x08\x00" or packet[IP + 9] != 6:
                continue
            time_us = seconds * 1_000_000 + micros
            began = time_us if began is None else began
            tcp = IP + 4 * (packet[IP] & 15)
            payload = int.from_bytes(packet[IP + 2 : IP + 4], "big") + IP - tcp - 4 * (packet[tcp + 12] >> 4)
            source = (packet[IP + 12 : IP + 16], packet[tcp : tcp + 2])
            target = (packet[IP + 16 : IP + 20], packet[tcp + 2 : tcp + 4])
            yield Packet(max(0, time_us - began), packet, wire_bytes, source, target, payload)


def only_small(packets: list[Packet]) -> list[Packet]:
    """The packets of connections that say little at a time."""
    count: dict[frozenset[tuple[bytes, bytes]], list[int]] = {}
    for packet in packets:
        seen = count.setdefault(frozenset((packet.source, packet.target)), [0, 0])
        seen[0] += packet.payload_bytes > 0
        seen[1] += PACKET.size + len(packet.data)
    small = {key for key, (many, size) in count.items() if many >= SMALL_PACKETS and size <= SMALL_BYTES * many}
    return [packet for packet in packets if frozenset((packet.source, packet.target)) in small]


def find_source(name: str) -> list[Path]:
    """The files of a lab capture in order, from the lab or from the samples; empty when neither has it."""
    for folder in SOURCES:
        found = sorted(folder.glob(f"{name}.pcap*")) or sorted(folder.glob(f"{name}.[0-9][0-9].pcap*"))
        if found:
            return found
    return []


def parts_of(recipe: Recipe) -> list[Part]:
    """All packets of all sources, ordered by their time within a step; every address of a source gets a host number."""
    hosts: dict[tuple[str, bytes], bytes] = {}
    parts: list[Part] = []
    for name in recipe.sources:
        files = find_source(name)
        if not files:
            print(
                f"make_captures: no capture {name} in the lab or the samples: {recipe.name} goes without",
                file=sys.stderr,
            )
        packets = list(read_packets(files))
        for packet in only_small(packets) if recipe.small else packets:
            step, rest_us = divmod(packet.time_us, recipe.step_us)
            ends = [hosts.setdefault((name, end[0]), bytes([len(hosts) + 1])) for end in (packet.source, packet.target)]
            sizes = struct.pack("<II", len(packet.data), packet.wire_bytes)
            parts.append(Part(rest_us, step, sizes + packet.data[: IP + 12], *ends, packet.data[IP + 20 :]))
    # Stable: packets of one moment stay in the order of the capture.
    return sorted(parts, key=lambda part: part.rest_us)


def copies(parts: list[Part], count: int, step_us: int) -> Iterator[bytes]:
    """`count` copies of the packets, interleaved in the order of time, one step at a time.

    In step s the packet of step b belongs to the copy s - b: so one walk over all packets writes a step of all copies.
    """
    nets = [bytes([10, copy >> 8, copy & 255]) for copy in range(count)]
    for now in range(count + max(part.step for part in parts)):
        began_us = START_SECONDS * 1_000_000 + now * step_us
        pieces: list[bytes] = []
        for rest_us, step, before, source_host, target_host, after in parts:
            copy = now - step
            if 0 <= copy < count:
                net = nets[copy]
                time = TIME.pack(*divmod(began_us + rest_us, 1_000_000))
                pieces += (time, before, net, source_host, net, target_host, after)
        yield b"".join(pieces)


def make(recipe: Recipe, folder: Path) -> Path:
    """Writes `folder/NAME.pcap` unless it is there; a file that is there is whole, because it is renamed at the end."""
    target = folder / f"{recipe.name}.pcap"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    parts = parts_of(recipe)
    if not parts:
        raise SystemExit(f"make_captures: nothing to make {recipe.name} of: neither lab captures nor samples are here")
    one_copy = sum(TIME.size + len(part.before) + 8 + len(part.after) for part in parts)
    unfinished = target.with_suffix(".part")
    with unfinished.open("wb") as file:
        file.write(FILE_HEADER)
        for block in copies(parts, -(-recipe.bytes // one_copy), recipe.step_us):
            file.write(block)
    return unfinished.rename(target)


def main() -> None:
    asked = argparse.ArgumentParser(description="Write the captures that bench/run.py measures.")
    asked.add_argument("--folder", type=Path, default=DATA)
    folder = asked.parse_args().folder
    for recipe in RECIPES:
        path = make(recipe, folder)
        print(f"{path}  {path.stat().st_size / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
