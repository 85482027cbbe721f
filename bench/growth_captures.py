"""The captures of `growth.py`: for each axis one that grows along it.

Most hold one conversation of small requests (`_conversation`), some all at once, some of many messages in a packet, some with
packets out of their order. The same size gives the same bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import make_connections
import make_conversations
from make_captures import FILE_HEADER, PACKET, START_SECONDS

EXCHANGES = 100_000
STEP_US = 50
ENTRIES = 100_000
DISPLACED_EVERY = 7


class Axis(NamedTuple):
    """A name, what its sizes count, the sizes, how many units of work a size holds, and what writes a capture of a size into a
    folder and returns further words of the command line. `same_work`: all sizes hold the same units, in another shape."""

    name: str
    meaning: str
    sizes: tuple[int, ...]
    units: Callable[[int], int]
    make: Callable[[int, Path], list[str]]
    same_work: bool = False


def list_offsets(number: int, topic: bytes, client: bytes) -> tuple[bytes, bytes]:
    """ListOffsets v1 for one partition of a topic, and its reply, without their lengths."""
    header = struct.pack(f">hhih{len(client)}s", 2, 1, number, len(client), client)
    asked = struct.pack(f">iih{len(topic)}siiq", -1, 1, len(topic), topic, 1, 0, -1)
    told = struct.pack(f">iih{len(topic)}siihqq", number, 1, len(topic), topic, 1, 0, 0, -1, number)
    return header + asked, told


def fetch(number: int, partitions: int) -> tuple[bytes, bytes]:
    """Fetch v4 of so many partitions of one topic, and a reply without records."""
    wanted = b"".join(struct.pack(">iqi", place, number, 1 << 20) for place in range(partitions))
    header = struct.pack(">hhih3s", 1, 4, number, 3, b"app")
    asked = struct.pack(">iiiibih6si", -1, 500, 1, 1 << 20, 0, 1, 6, b"orders", partitions) + wanted
    told = b"".join(struct.pack(">ihqqii", place, 0, number, number, -1, 0) for place in range(partitions))
    return header + asked, struct.pack(">iiih6si", number, 0, 1, 6, b"orders", partitions) + told


def _conversation(exchanges: Iterable[tuple[bytes, bytes]], at_once: int = 1) -> Iterator[bytes]:
    """Packets of one connection: `at_once` requests, then their replies, each group in as few packets as hold them."""
    at = [1_000, 5_000]
    waiting: list[tuple[bytes, bytes]] = []
    for exchange in exchanges:
        waiting.append(exchange)
        if len(waiting) == at_once:
            yield from _group(waiting, at)
            waiting = []
    if waiting:
        yield from _group(waiting, at)


def _group(waiting: list[tuple[bytes, bytes]], at: list[int]) -> Iterator[bytes]:
    for side in (0, 1):
        framed = b"".join(struct.pack(">i", len(pair[side])) + pair[side] for pair in waiting)
        for begin in range(0, len(framed), make_conversations.SEGMENT_BYTES):
            piece = framed[begin : begin + make_conversations.SEGMENT_BYTES]
            yield make_conversations.packet(0, side, at[side], at[1 - side], piece)
            at[side] = (at[side] + len(piece)) & 0xFFFFFFFF


def write(packets: Iterable[bytes], folder: Path, files: int = 1, each: int = 0) -> list[str]:
    """One file of all packets, or `files` of `each` packets, in the order of their times."""
    iterator = enumerate(packets)
    for number in range(files):
        with (folder / f"{number:05}.pcap").open("wb", buffering=1 << 20) as file:
            file.write(FILE_HEADER)
            for place, packet in iterator:
                seconds, micros = divmod(STEP_US * place, 1_000_000)
                file.write(PACKET.pack(START_SECONDS + seconds, micros, len(packet), len(packet)) + packet)
                if each and (place + 1) % each == 0 and number + 1 < files:
                    break
    return []


def displaced(packets: Iterable[bytes], distance: int) -> Iterator[bytes]:
    """One packet in seven comes so many packets later."""
    late: list[tuple[int, bytes]] = []
    for place, packet in enumerate(packets):
        if distance and place % DISPLACED_EVERY == 3:
            late.append((place + distance, packet))
        else:
            yield packet
        while late and late[0][0] <= place:
            yield late.pop(0)[1]
    yield from (packet for _, packet in late)


def _plain(count: int) -> Iterator[tuple[bytes, bytes]]:
    return (list_offsets(number, b"orders", b"app") for number in range(count))


def connections(size: int, folder: Path) -> list[str]:
    make_connections.make("short", size, folder / "short.pcap")
    return []


def partitions(size: int, folder: Path) -> list[str]:
    return write(_conversation(fetch(number, size) for number in range(ENTRIES // size)), folder)


def topics(size: int, folder: Path) -> list[str]:
    named = (list_offsets(number, f"topic-{number % size:06}".encode(), b"app") for number in range(EXCHANGES))
    return write(_conversation(named), folder)


def clients(size: int, folder: Path) -> list[str]:
    named = (list_offsets(number, b"orders", f"client-{number % size:06}".encode()) for number in range(EXCHANGES))
    return write(_conversation(named), folder)


def frames(size: int, folder: Path) -> list[str]:
    return write(_conversation(_plain(EXCHANGES), at_once=size), folder)


def disorder(size: int, folder: Path) -> list[str]:
    return write(displaced(_conversation(_plain(EXCHANGES)), size), folder)


def files(size: int, folder: Path) -> list[str]:
    return write(_conversation(_plain(EXCHANGES)), folder, size, -(-2 * EXCHANGES // size))


def length(size: int, folder: Path) -> list[str]:
    return write(_conversation(_plain(size)), folder)


def jobs(size: int, folder: Path) -> list[str]:
    make_connections.make("short", EXCHANGES, folder / "short.pcap")
    return ["--jobs", str(size)]


def _itself(size: int) -> int:
    return size


def _always(units: int) -> Callable[[int], int]:
    return partial(max, units)


AXES = (
    Axis(
        "length", "Exchanges on one connection.", (1_000, 10_000, 100_000, 200_000, 400_000, 800_000), _itself, length
    ),
    Axis(
        "connections", "Short ones, one exchange each.", (10, 1_000, 10_000, 100_000, 1_000_000), _itself, connections
    ),
    Axis(
        "partitions a request",
        f"Fetches of so many partitions, {ENTRIES:,} entries in all.",
        (1, 10, 100, 1_000, 10_000),
        _always(ENTRIES),
        partitions,
        same_work=True,
    ),
    Axis(
        "topics",
        f"{EXCHANGES:,} exchanges about so many topics.",
        (1, 100, 10_000, 100_000),
        _always(EXCHANGES),
        topics,
        same_work=True,
    ),
    Axis(
        "clients",
        f"{EXCHANGES:,} exchanges of so many client ids.",
        (1, 100, 10_000, 100_000),
        _always(EXCHANGES),
        clients,
        same_work=True,
    ),
    Axis(
        "frames a packet",
        f"{EXCHANGES:,} exchanges, so many requests sent at once.",
        (1, 4, 16, 64),
        _always(EXCHANGES),
        frames,
        same_work=True,
    ),
    Axis(
        "disorder",
        f"{2 * EXCHANGES:,} packets, one in {DISPLACED_EVERY} so many packets late.",
        (1, 4, 16, 64, 256),
        _always(EXCHANGES),
        disorder,
        same_work=True,
    ),
    Axis(
        "files",
        f"{2 * EXCHANGES:,} packets in so many files.",
        (1, 10, 100, 1_000, 10_000),
        _always(EXCHANGES),
        files,
        same_work=True,
    ),
    Axis(
        "jobs",
        f"{EXCHANGES:,} short connections read by so many processes.",
        (1, 2, 4, 8, 16),
        _always(EXCHANGES),
        jobs,
        same_work=True,
    ),
)
