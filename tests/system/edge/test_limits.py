"""The three limits: each cuts what it says and nothing else, counts it and says so; memory stays within them.

Captures are made by hand, so that every number is known beforehand.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from made_capture import ACK, FILE_HEADER, PSH, START_US, SYN, Conversation, Packet, merged, pcap, segment
from paths import ROOT

from analyzer.base.options import Options
from analyzer.ingest import pipeline
from analyzer.run.local import open_dataset

MIB = 1 << 20
# Metadata v1 with a client id "limits", for all topics; a reply of one broker and no topic.
ASK = struct.pack(">hhih", 3, 1, 7, 6) + b"limits" + struct.pack(">i", -1)
ANSWER = struct.pack(">iiih", 7, 1, 1, 4) + b"host" + struct.pack(">ihii", 9092, -1, 1, 0)


def run(folder: Path, packets: Iterable[Packet], **options: Any) -> tuple[list[dict[str, Any]], dict[str, int], str]:
    """Exchanges in the order of time, problems by kind, the warnings as one text."""
    path = folder / "made.pcap"
    path.write_bytes(pcap(packets))
    with open_dataset([str(path)], Options(**options)) as dataset:
        rows = dataset.query("select * from exchanges order by request_time_ns")
        problems = dataset.query("select kind, count(*) as n from problems group by kind")
        return rows, {row["kind"]: row["n"] for row in problems}, "\n".join(dataset.warnings)


def produce(record_bytes: int, correlation: int) -> bytes:
    """Produce v2 with acks 1 for one partition, with so many bytes of nothing as its records."""
    head = struct.pack(">hhih", 0, 2, correlation, 6) + b"limits" + struct.pack(">hii", 1, 1000, 1)
    return head + struct.pack(">h", 5) + b"topic" + struct.pack(">iii", 1, 0, record_bytes) + bytes(record_bytes)


def produced(correlation: int) -> bytes:
    return struct.pack(">iih", correlation, 1, 5) + b"topic" + struct.pack(">iihqqi", 1, 0, 0, 5, -1, 0)


# ---- --max-frame ----


def test_max_frame_cuts_what_is_longer_and_nothing_else(tmp_path: Path) -> None:
    conversation = Conversation().shake()
    for correlation, size in enumerate((100, 9000, 100, 9000, 100), 1):
        conversation.exchange(produce(size, correlation), produced(correlation))
    whole, none, silent = run(tmp_path, conversation.packets)
    assert [row["request_decoded"] for row in whole] == ["full"] * 5
    assert (none, silent) == ({}, "")
    cut, problems, said = run(tmp_path, conversation.packets, max_frame_bytes=4096)
    assert [row["request_decoded"] for row in cut] == ["full", "truncated", "full", "truncated", "full"]
    kept = ("exchange", "request_bytes", "response_bytes", "request_end_ns", "response_time_ns", "status", "client_id")
    assert [[row[name] for name in kept] for row in cut] == [[row[name] for name in kept] for row in whole]
    assert {row["status"] for row in cut} == {"answered"}
    # What a limit cut is told: counted in the table, and in one line with the option's name.
    assert sum(problems.values()) == 2, problems
    assert "--max-frame" in said and "2" in said, said


def test_a_frame_of_exactly_the_limit_is_whole(tmp_path: Path) -> None:
    message = produce(1000, 1)
    packets = Conversation().shake().exchange(message, produced(1)).packets
    for limit, decoded in ((len(message) + 4, "full"), (len(message) + 3, "truncated")):
        rows, _, _ = run(tmp_path, packets, max_frame_bytes=limit)
        assert [row["request_decoded"] for row in rows] == [decoded], limit


# ---- --max-connections ----


def begun(port: int, start_us: int) -> Conversation:
    """A connection whose first request was answered and whose second one waits."""
    return Conversation(port=port, start_us=start_us).shake().exchange(ASK, ANSWER).frame(0, ASK)


def test_the_connection_idle_for_longest_goes_first(tmp_path: Path) -> None:
    """Three are followed; a fourth comes: the one that was heard of last longest ago gives way, though it began last."""
    old, busy, idle = begun(1, START_US), begun(2, START_US + 10_000), begun(3, START_US + 20_000)
    old.clock = busy.clock = START_US + 50_000
    old.frame(1, ANSWER)
    busy.clock += 1000
    busy.frame(1, ANSWER)
    newest = begun(4, START_US + 100_000)
    for each in (old, busy, idle, newest):
        each.clock = START_US + 200_000 + each.ends[1] * 1000
        each.exchange(ASK, ANSWER)
    rows, problems, said = run(tmp_path, merged([old, busy, idle, newest]), max_connections=3)
    assert problems.get("connection_evicted", 0) >= 1
    assert "--max-connections" in said
    # The idle one's waiting request had no reply when it was given up; those of the others are as without a limit.
    waiting = {(row["client_port"], row["status"]) for row in rows if row["status"] != "answered"}
    free, _, silent = run(tmp_path, merged([old, busy, idle, newest]))
    assert silent == ""
    for port in (1, 2):
        assert [row for row in rows if row["client_port"] == port] == [
            row for row in free if row["client_port"] == port
        ]
    assert (3, "pending") in waiting


def test_closed_connections_cost_nothing(tmp_path: Path) -> None:
    conversations = [begun(port, START_US + port * 10_000).frame(1, ANSWER).close() for port in range(1, 50)]
    rows, problems, said = run(tmp_path, merged(conversations), max_connections=2)
    assert len(rows) == 98
    assert {row["status"] for row in rows} == {"answered"}
    assert (problems, said) == ({}, "")


# ---- --max-reassembly ----


def holed(port: int, start_us: int, pieces: int) -> Conversation:
    """A connection that lacks the first segment of a long frame: all that follows waits for it."""
    conversation = Conversation(port=port, start_us=start_us).shake().exchange(ASK, ANSWER)
    message = produce(pieces * 1400, 9)
    before = len(conversation.packets)
    conversation.frame(0, message)
    del conversation.packets[before]
    return conversation


def test_max_reassembly_gives_up_holes_and_says_so(tmp_path: Path) -> None:
    packets = merged([holed(port, START_US + port, 100) for port in range(1, 21)])  # 20 x 140 kB wait
    after = Conversation(port=99, start_us=START_US + 10_000_000).shake().exchange(ASK, ANSWER)
    rows, problems, said = run(tmp_path, [*packets, *after.packets], max_reassembly_bytes=MIB)
    assert "--max-reassembly" in said, (said, problems)
    assert [row["status"] for row in rows if row["client_port"] == 99] == ["answered"]
    assert len([row for row in rows if row["status"] == "answered"]) == 21
    _, _, silent = run(tmp_path, [*packets, *after.packets])
    assert "--max-reassembly" not in silent


# ---- memory ----

PROGRAM = """
import resource, sys
from analyzer.cli.main import main
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
code = main(sys.argv[1:])
print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def measured(*arguments: str) -> tuple[int, int, str]:
    """Exit code, peak memory in bytes and stderr of a run in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, env=environment, timeout=300, check=True, text=True)
    code, memory = done.stderr.split()[-2:]
    return int(code), int(memory) * 1024, done.stderr


@pytest.fixture(scope="module")
def little(tmp_path_factory: pytest.TempPathFactory) -> int:
    """Peak memory of a run over nearly nothing."""
    path = tmp_path_factory.mktemp("limits") / "little.pcap"
    path.write_bytes(pcap(Conversation().shake().exchange(ASK, ANSWER).packets))
    return measured("report", str(path))[1]


def test_two_hundred_thousand_half_open_connections(tmp_path: Path, little: int) -> None:
    """A SYN each, and no more: at most --max-connections of them take memory at a time, and nothing is missing."""
    path, count = tmp_path / "syns.pcap", 200_000
    with path.open("wb") as file:
        file.write(FILE_HEADER)
        for number in range(count):
            packet = segment(
                (0x0A000000 + number, 1024 + number % 60_000, 0x0A0000FE, 9092), number, 0, SYN, b"", number
            )
            file.write(struct.pack("<IIII", 1_800_000_000 + number // 1000, number % 1000, len(packet), len(packet)))
            file.write(packet)
    code, memory, said = measured("report", str(path), "--max-connections", "10000", "--memory", "256MB")
    print(f"200,000 SYNs: {memory >> 20} MiB, {little >> 20} MiB without any")
    assert code == 0
    assert "--max-connections" not in said, said
    assert memory - little < 300 * MIB  # of which the SQL over 200,000 rows may take 256 MB


def test_huge_frames_of_many_connections(tmp_path: Path, little: int) -> None:
    """400 requests of 100 MB each that never end, 1 MB of each captured: the arena's size is the limit."""
    path = tmp_path / "huge.pcap"
    with path.open("wb") as file:
        file.write(FILE_HEADER)
        clock = START_US
        conversations = [Conversation(port=1024 + number).shake() for number in range(400)]
        head = struct.pack(">i", 100_000_000) + produce(99_999_900, 1)[:60]
        rest = bytes(16_000)
        for turn in range(64):
            for conversation in conversations:
                conversation.clock = clock = clock + 10
                conversation.put(0, PSH | ACK, head if turn == 0 else rest)
                for time, packet in conversation.packets:
                    size = struct.pack("<IIII", time // 1_000_000, time % 1_000_000, len(packet), len(packet))
                    file.write(size + packet)
                conversation.packets.clear()
    assert path.stat().st_size > 380 * MIB
    code, memory, said = measured("report", str(path), "--max-reassembly", "32MiB")
    print(f"400 MB of unfinished frames: {memory >> 20} MiB, {little >> 20} MiB without any")
    assert code == 0
    assert "--max-reassembly" in said, said
    assert memory - little < 200 * MIB


# ---- rows of one message ----


def test_rows_beyond_what_a_message_may_have_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten unknown topics: an error each, of which six are rows; the exchange counts all, and a line says that some are left out."""
    names = b"".join(struct.pack(">hh5sbi", 3, 5, b"topic", 0, 0) for _ in range(10))
    answer = struct.pack(">iii", 7, 0, 1) + struct.pack(">i", 10) + names
    packets = Conversation().shake().exchange(ASK, answer).packets

    def errors() -> tuple[int, int, str]:
        rows, _, said = run(tmp_path, packets)
        with open_dataset([str(tmp_path / "made.pcap")], Options()) as dataset:
            (found,) = dataset.query("select count(*) as n from errors")
        return rows[0]["error_count"], found["n"], said

    assert errors() == (10, 10, "")
    monkeypatch.setattr(pipeline, "MOST_ROWS_OF_A_MESSAGE", 6)
    counted, rows, said = errors()
    assert (counted, rows) == (10, 6)
    assert said.startswith("a message has more than") and "counts of them are too low" in said
