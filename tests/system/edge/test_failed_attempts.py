"""Connection attempts that came to nothing, however many, are a line of the report: how many, from where, to where."""

from __future__ import annotations

import struct
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from kanalyze_process import COMMAND
from made_capture import START_US, SYN, pcap, segment
from paths import ROOT

import analyzer

HEADER_BYTES = 24  # of a pcap file


def made(path: Path, *kinds: tuple[str, int]) -> Path:
    """A capture of these kinds of connections, one after the other, each some seconds later."""
    script = ROOT / "bench" / "make_connections.py"
    found = b""
    for later, (kind, count) in enumerate(kinds):
        subprocess.run([sys.executable, str(script), kind, str(count), str(path)], check=True, capture_output=True)
        data = path.read_bytes()
        found = found or data[:HEADER_BYTES]
        for begin, end in pairwise(packets(data)):
            (second,) = struct.unpack_from("<I", data, begin)
            found += struct.pack("<I", second + 100 * later) + data[begin + 4 : end]
    path.write_bytes(found)
    return path


def packets(raw: bytes) -> list[int]:
    """Where the records of a pcap file begin, and its end."""
    starts = [HEADER_BYTES]
    while starts[-1] < len(raw):
        starts.append(starts[-1] + 16 + struct.unpack_from("<I", raw, starts[-1] + 8)[0])
    return starts


def report(path: Path, *arguments: str) -> str:
    """The report as one line."""
    command = [*COMMAND, str(path), "--jobs", "1", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stderr == ""
    return " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("flood", "3,000 connection attempts without an answer, from 3,000 addresses to 10.255.0.1:9092."),
        ("scan", "3,000 connection attempts refused, from 10.0.0.254 to 3,000 addresses and ports."),
    ],
)
def test_nothing_but_attempts(kind: str, words: str, tmp_path: Path) -> None:
    said = report(made(tmp_path / "made.pcap", (kind, 3000)))
    assert "No Kafka in this capture" in said
    assert words in said
    assert len(said) < 900, said  # no line for each port


def test_attempts_beside_kafka(tmp_path: Path) -> None:
    said = report(made(tmp_path / "made.pcap", ("idle", 50), ("flood", 3000), ("scan", 1000)))
    assert "50 connections, " in said and ", 50 requests" in said
    assert (
        "Also in the capture: 3,000 connection attempts without an answer, from 3,000 addresses to 10.255.0.1:9092; "
        "1,000 connection attempts refused, from 10.0.0.254 to 1,000 ports of 10.254.0.0." in said
    )


def test_a_flood_gives_up_itself(tmp_path: Path) -> None:
    """Beyond the limit too: what was opened and is idle stays."""
    path = made(tmp_path / "made.pcap", ("idle", 1000), ("flood", 3000))
    said = report(path, "--max-connections", "1500")
    assert "1,000 connections, " in said and ", 1,001 requests" in said
    assert "3,000 connection attempts without an answer" in said


def test_one_syn_tells_what_several_tell(tmp_path: Path) -> None:
    """Of the way of an attempt: what was sent twice has other packets, bytes and times, and nothing else."""
    frames = []
    for port, sent in ((40_000, 1), (40_001, 2)):
        syn = bytearray(segment((1, port, 2, 9092), 7, 0, SYN, b"\x02\x04\x05\xb4\x03\x03\x07\x00"))
        syn[46] = 0x70  # a header of 28 bytes: MSS 1460, window scale 7
        frames += [(START_US + port + 1_000_000 * again, bytes(syn)) for again in range(sent)]
    path = tmp_path / "made.pcap"
    path.write_bytes(pcap(sorted(frames)))
    with analyzer.read(str(path)) as read:
        once, twice = read.sql("SELECT * FROM connections ORDER BY client_port").to_pylist()
    assert (once["client_wscale"], once["mss"], once["client_data_packets"]) == (7, 1460, 0)
    differ = {name for name in once if once[name] != twice[name]}
    times = {"first_time", "first_time_ns", "last_time", "last_time_ns"}
    assert differ <= {"connection", "client_port", "client_packets", "client_wire_bytes", "client_filled", *times}
