"""Takes packets out of a capture, or moves and repeats them, and compares what is found with the untouched capture.

An injection says which packets are written and in what order, as their numbers in the untouched capture. Which packets a
message lies in is worked out here from the TCP headers: the packets that first brought its bytes. A message is *intact*
when all of those are still there; an exchange is when both its messages are.

`python tests/system/loss/inject.py CAPTURE...` prints the figures of every injection, and the rows that are missed.
"""

from __future__ import annotations

import random
import struct
import sys
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import transform  # noqa: E402
from program import Analysis, Row, run_kanalyze  # noqa: E402
from transform import Packet  # noqa: E402

# Numbers (from 0) of the packets to write. Brokers: address and port as in the packets.
Injection = Callable[[Sequence[Packet], random.Random, set[bytes]], list[int]]

NAME = ("client_port", "broker_port", "correlation_id", "api_key", "api_version")
REQUEST_COLUMNS = (
    *NAME,
    *("client_address", "broker_address", "client_id"),
    *("request_time_ns", "request_end_ns", "request_bytes", "request_decoded"),
)
REPLY_COLUMNS = ("response_time_ns", "response_end_ns", "response_bytes")
BOTH_COLUMNS = (*REQUEST_COLUMNS, *REPLY_COLUMNS, "response_decoded", "status", "throttle_time_ms", "error_code")


# ---- injections ----


def drop(share: float) -> Injection:
    """Every packet is lost with this probability."""
    return lambda packets, chance, _: [at for at in range(len(packets)) if chance.random() >= share]


def repeat(share: float, after: int) -> Injection:
    """Some packets come again, up to `after` packets later, with the time that they had."""

    def inject(packets: Sequence[Packet], chance: random.Random, _: set[bytes]) -> list[int]:
        places = [(float(at), at) for at in range(len(packets))]
        again = [(at + 0.5 + chance.randrange(after), at) for _, at in places if chance.random() < share]
        return [at for _, at in sorted(places + again)]

    return inject


def reorder(reach: int) -> Injection:
    """No packet goes further than `reach` places, nor past packets of another moment (transform.WINDOW_US), nor past a
    reset: that ends both ways at once, so what came before it cannot come after it."""

    def inject(packets: Sequence[Packet], chance: random.Random, _: set[bytes]) -> list[int]:
        order, start = list(range(len(packets))), 0
        while start < len(order):
            stop = start + 1
            while stop < min(len(order), start + reach + 1) and _near(packets[start], packets[stop]):
                stop += 1
            group = order[start:stop]
            if not any(_is_reset(packets[at]) for at in group):
                chance.shuffle(group)
            order[start:stop] = group
            start = stop
        return order

    return inject


def window(start: float, stop: float) -> Injection:
    """A capture begun late and stopped early, each anywhere within a tenth of the whole from the given share of it."""

    def inject(packets: Sequence[Packet], chance: random.Random, _: set[bytes]) -> list[int]:
        first = int(len(packets) * (start + chance.random() / 10 * (start > 0)))
        last = int(len(packets) * (stop - chance.random() / 10 * (stop < 1)))
        return list(range(first, last))

    return inject


def one_way(from_brokers: bool) -> Injection:
    """Only what brokers send, or only what they receive."""

    def inject(packets: Sequence[Packet], _: random.Random, brokers: set[bytes]) -> list[int]:
        ways = [transform.direction(packet) for packet in packets]
        return [at for at, way in enumerate(ways) if way and (way[0] in brokers) == from_brokers]

    return inject


def _near(first: Packet, second: Packet) -> bool:
    apart = (second.seconds - first.seconds) * 1_000_000 + second.fraction - first.fraction
    return abs(apart) <= transform.WINDOW_US


def _is_reset(packet: Packet) -> bool:
    at = transform.borders(packet)
    return at is not None and bool(packet.data[at.tcp + 13] & transform.RST)


INJECTIONS: dict[str, Injection] = {
    "drop 0.1 %": drop(0.001),
    "drop 1 %": drop(0.01),
    "drop 5 %": drop(0.05),
    "repeat 5 %": repeat(0.05, after=5),
    "reorder 3": reorder(3),
    "reorder 20": reorder(20),
    "begun late": window(0.4, 1),
    "stopped early": window(0, 0.6),
    "middle": window(0.3, 0.7),
    "to brokers only": one_way(from_brokers=False),
    "from brokers only": one_way(from_brokers=True),
}


# ---- where the messages lie ----


@dataclass
class Stream:
    """One way of a connection: its bytes, and the packet that first brought each one (-1: none)."""

    base: int
    data: bytearray = field(default_factory=bytearray)
    owner: array[int] = field(default_factory=lambda: array("i"))
    twice: list[tuple[int, int]] = field(default_factory=list)

    def add(self, at: int, payload: bytes, packet: int) -> None:
        hole = at - len(self.data)
        if hole > 0:
            self.data += bytes(hole)
            self.owner.extend([-1] * hole)
        end = at + len(payload)
        known = min(end, len(self.data))
        if any(owner >= 0 for owner in self.owner[at:known]):
            self.twice.append((at, known))
        for place in range(at, known):
            if self.owner[place] < 0:
                self.owner[place], self.data[place] = packet, payload[place - at]
        self.data += payload[known - at :]
        self.owner.extend([packet] * (end - known))


class Places:
    """All streams of a capture, and what part of which stream each packet carries."""

    def __init__(self, packets: Sequence[Packet]) -> None:
        self.of: dict[int, tuple[Stream, int, int]] = {}
        streams: dict[tuple[bytes, bytes], Stream] = {}
        for number, packet in enumerate(packets):
            way, at = transform.direction(packet), transform.borders(packet)
            if way is None or at is None:
                continue
            sequence = int.from_bytes(packet.data[at.tcp + 4 : at.tcp + 8], "big")
            syn = bool(packet.data[at.tcp + 13] & transform.SYN)
            base = (sequence + syn) & 0xFFFFFFFF
            if way not in streams or (syn and streams[way].base != base):
                streams[way] = Stream(base)
            stream = streams[way]
            start = ((base - stream.base + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)
            if at.end > at.payload and start >= 0:
                stream.add(start, packet.data[at.payload : at.end], number)
                self.of[number] = stream, start, start + at.end - at.payload

    def message(self, number: int, size: int, head: bytes) -> tuple[frozenset[int], bool] | None:
        """Packets of the message of `size` bytes that begins in packet `number` with `head`, and whether some of its
        bytes came twice; None when it is not there."""
        if number not in self.of:
            return None
        stream, start, end = self.of[number]
        at = stream.data.find(head, start, end + len(head) - 1)
        if at < 0 or at + size > len(stream.data):
            return None
        packets = frozenset(stream.owner[at : at + size])
        twice = any(first < at + size and at < last for first, last in stream.twice)
        return None if -1 in packets else (packets, twice)


@dataclass(frozen=True)
class Expected:
    """An exchange of the untouched capture and the packets of its messages; None: no such message, or not mapped."""

    row: Row
    request: frozenset[int] | None
    reply: frozenset[int] | None
    twice: bool


@dataclass
class Known:
    """A capture that was not touched."""

    header: bytes
    packets: list[Packet]
    analysis: Analysis
    expected: list[Expected]
    brokers: set[bytes]
    unmapped: int


def know(path: Path) -> Known:
    header, packets = transform.read_pcap(path)
    analysis = run_kanalyze([path])
    places = Places(packets)
    rows = [row for row in analysis.exchanges if row["kind"] != "sasl_token" and row["request_time_ns"] is not None]
    expected = [_expected(row, places) for row in rows]
    lost = sum(one.request is None or (one.row["response_bytes"] is not None and one.reply is None) for one in expected)
    brokers = {ip_address(r["broker_address"]).packed + r["broker_port"].to_bytes(2, "big") for r in rows}
    return Known(header, packets, analysis, expected, brokers, lost)


def _expected(row: Row, places: Places) -> Expected:
    head = struct.pack(">ihhi", row["request_bytes"] - 4, row["api_key"], row["api_version"], row["correlation_id"])
    request = places.message(row["request_packet"] - 1, row["request_bytes"], head)
    reply = None
    if row["response_bytes"] is not None:
        head = struct.pack(">ii", row["response_bytes"] - 4, row["correlation_id"])
        reply = places.message(row["response_packet"] - 1, row["response_bytes"], head)
    twice = (request is not None and request[1]) or (reply is not None and reply[1])
    return Expected(row, request and request[0], reply and reply[0], twice)


# ---- comparison ----


@dataclass
class Figures:
    """`intact` exchanges, `requests` and `replies` had all packets; those `_found` are right in every column."""

    intact: int = 0
    found: int = 0
    requests: int = 0
    requests_found: int = 0
    replies: int = 0
    replies_found: int = 0
    invented: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def __add__(self, other: Figures) -> Figures:
        return Figures(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def share(self) -> float:
        return self.found / self.intact if self.intact else 1.0

    def __str__(self) -> str:
        return (
            f"{self.found}/{self.intact} exchanges ({100 * self.share:.2f} %), {self.requests_found}/{self.requests} "
            f"requests, {self.replies_found}/{self.replies} replies, {len(self.invented)} invented"
        )


def measure(known: Known, injection: Injection, seed: int) -> tuple[Figures, Analysis]:
    order = injection(known.packets, random.Random(seed), known.brokers)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.pcap"
        transform.write_pcap(path, known.header, [known.packets[at] for at in order])
        found = run_kanalyze([path], damaged=True)
    moved = any(first > second for first, second in pairwise(order))
    return compare(known, found, set(order), moved), found


def compare(known: Known, found: Analysis, kept: set[int], moved: bool) -> Figures:
    figures = Figures(invented=list(invented(known.analysis.exchanges, found.exchanges)))
    requests = {row["exchange"]: row for row in found.exchanges if row["request_time_ns"] is not None}
    replies = Counter(_values(row, REPLY_COLUMNS) for row in found.exchanges)
    for one in known.expected:
        if moved and one.twice:  # which copy comes first, and gives the time, depends on the order
            continue
        request = one.request is not None and one.request <= kept
        reply = one.reply is not None and one.reply <= kept
        other = requests.get(one.row["exchange"])
        if reply:
            figures.replies += 1
            figures.replies_found += replies[_values(one.row, REPLY_COLUMNS)] > 0
        if request:
            figures.requests += 1
            figures.requests_found += other is not None and not _unequal(one.row, other, REQUEST_COLUMNS)
        if request and (reply or one.row["status"] == "no_reply_expected"):
            figures.intact += 1
            wrong = "not found" if other is None else _unequal(one.row, other, BOTH_COLUMNS)
            figures.found += not wrong
            if wrong:
                figures.missed.append(f"{_values(one.row, NAME)}: {wrong}; packets {_span(one)}")
    return figures


def invented(want: Sequence[Row], got: Sequence[Row]) -> Iterator[str]:
    """Requests, and replies without one, that the untouched capture does not have, counted."""
    asked = Counter(_values(row, NAME) for row in want)
    answered = Counter(_values(row, NAME[:3]) for row in want if row["response_time_ns"] is not None)
    ours = Counter(_values(row, NAME) for row in got if row["request_time_ns"] is not None)
    orphans = Counter(_values(row, NAME[:3]) for row in got if row["response_time_ns"] is not None)
    yield from (f"request {name}" for name in (ours - asked).elements())
    yield from (f"reply {name}" for name in (orphans - answered).elements())


def _values(row: Row, columns: Sequence[str]) -> tuple[object, ...]:
    return tuple(row[name] for name in columns)


def _unequal(want: Row, got: Row, columns: Sequence[str]) -> str:
    return ", ".join(f"{name} {want[name]} -> {got[name]}" for name in columns if want[name] != got[name])


def _span(one: Expected) -> str:
    numbers = sorted((one.request or frozenset()) | (one.reply or frozenset()))
    return f"{numbers[0] + 1}..{numbers[-1] + 1} ({len(numbers)})"


def main(paths: Sequence[str]) -> None:
    for path in paths:
        known = know(Path(path))
        print(f"{Path(path).name}: {len(known.expected)} exchanges, {known.unmapped} not mapped to packets")
        for name, injection in INJECTIONS.items():
            figures, _ = measure(known, injection, seed=1)
            print(f"  {name:18} {figures}")
            for line in [*figures.invented[:5], *figures.missed[:8]]:
                print("      ", line)


if __name__ == "__main__":
    main(sys.argv[1:])
