"""One capture in many encapsulations: the base that every row of the table wraps, and what must be the same afterwards.

A row of a test makes a capture file of the base's packets (wrapped, reordered, changed) and asks `rows_of` and `tshark_counts`
of it. The base is the beginning of one of the samples, with checksums as they should be: a loopback capture leaves them unset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from capture_tools import pcap_file, read_packets, tshark, unpacked
from paths import SAMPLES
from program import Analysis, run_kanalyze
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from dissectors import layout

SAMPLE = SAMPLES / "transactions.pcap.zst"
PACKETS = 1_200  # some 300 exchanges
MACS = (b"\x02\x00\x00\x00\x00\x0a", b"\x02\x00\x00\x00\x00\x0b")
# Hashes of a connection's scope, and what counts bytes or names of the capture itself.
OTHERWISE = ("exchange", "connection")
# What the way of single packets tells: another way gives other values, or none.
OF_THE_WAY = ("broker_min_ns", "broker_max_ns", "broker_ns", "broker_evidence", "throttle_ns", "there_ns", "back_ns")


class Base(NamedTuple):
    """One packet of the base: an IP packet, its time in ns, and the side that sent it (0 the client)."""

    ip: bytes
    time: int
    side: int

    @property
    def ethernet(self) -> bytes:
        return MACS[1 - self.side] + MACS[self.side] + (b"\x86\xdd" if self.ip[0] >> 4 == 6 else b"\x08\x00") + self.ip


Row = dict[str, Any]


@cache
def base(six: bool = False) -> tuple[Base, ...]:
    """The packets of the base; `six`: the same segments between IPv6 addresses."""
    found = []
    for row in read_packets(unpacked(SAMPLE))[0][:PACKETS]:
        packet = Ether(row[layout.PACKET_OFFSET])[IP]
        side = 0 if packet.dport in (9092, 9093) else 1
        del packet.chksum, packet.payload.chksum
        if six:
            packet = IPv6(src="2001:db8::1", dst="2001:db8::1", hlim=packet.ttl) / packet.payload
        found.append(Base(bytes(packet), row[layout.PACKET_TIME], side))
    return tuple(found)


def write(path: Path, frames: Iterable[bytes], times: Iterable[int], link: int) -> Path:
    """A pcap file with times in ns."""
    split = [divmod(time, 1_000_000_000) for time in times]
    path.write_bytes(pcap_file(list(frames), link, times=split, nanoseconds=True))
    return path


def encapsulated(path: Path, wrap: Callable[[Base], bytes], link: int = 1, six: bool = False) -> Path:
    """The base, each of its packets wrapped."""
    packets = base(six)
    return write(path, map(wrap, packets), (packet.time for packet in packets), link)


def rows_of(path: Path, **options: Any) -> list[Row]:
    """The exchanges of a capture without their ids, in the order of their requests."""
    return rows_in(run_kanalyze([path], **options))


def rows_in(found: Analysis) -> list[Row]:
    """The same of a capture that was read."""
    left_out = (*OTHERWISE, *OF_THE_WAY)
    rows = [{name: value for name, value in row.items() if name not in left_out} for row in found.exchanges]
    return sorted(
        rows, key=lambda row: (row["request_packet"] or 0, row["correlation_id"], row["response_packet"] or 0)
    )


class Seen(NamedTuple):
    """What tshark finds: segments of TCP, frames of the capture that complete a message of Kafka, such messages."""

    segments: int
    kafka_frames: int
    messages: int


def tshark_counts(path: Path, *arguments: str) -> Seen:
    given = ["-d", "tcp.port==9093,kafka", "-E", "occurrence=a", *arguments]
    frames = tshark(path, ["frame.protocols", "tcp.len", "kafka.len"], *given)
    segments = sum("tcp" in frame["frame.protocols"].split(":") and frame["tcp.len"] != "" for frame in frames)
    messages = [len(frame["kafka.len"].split(",")) for frame in frames if frame["kafka.len"]]
    return Seen(segments, len(messages), sum(messages))
