"""No value of any field ends a run: each field of each API at its limits, through every verb."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import Any

import capture_tools as tools
import extreme_messages
import pytest
import random_messages
import transform
import verb_runs
from effort import LONG
from kanalyze_process import COMMAND
from kept_datasets import KeptDatasets
from made_capture import Conversation, pcap, reply, request

from dissectors import layout

# Formats show the rows of one answer, and ports change nothing here: where not all is asked each question is, for people, and
# the report for programs.
ALIKE = re.compile(r"^dump$|--ports|--format (json|jsonl|csv)\b")
LINES = [line for line in verb_runs.LINES if LONG or line == "report --format json" or not ALIKE.search(line)]


def newest() -> list[dict[int, int]]:
    """Key -> version: the newest of each API, then the one before, and so on; the newest only where not all is asked."""
    versions: dict[int, set[int]] = defaultdict(set)
    for kind in random_messages.kinds():
        versions[kind.key].add(kind.version)
    steps = range(max(map(len, versions.values())) if LONG else 1)
    return [
        {key: sorted(of_key)[-1 - step] for key, of_key in versions.items() if len(of_key) > step} for step in steps
    ]


def forget_new(folder: Path) -> None:
    new = folder / "new"
    rmtree(new) if new.is_dir() else new.unlink(missing_ok=True)


@pytest.mark.parametrize("step", range(len(newest())))
def test_no_value_of_a_field_ends_a_verb(tmp_path: Path, step: int) -> None:
    path, other = tmp_path / "extremes.pcap", tmp_path / "other.pcap"
    path.write_bytes(extreme_messages.capture(newest()[step]))
    other.write_bytes(pcap(Conversation().shake().exchange(request(1), reply(1)).packets))
    with KeptDatasets() as kept:
        exchange = verb_runs.largest_exchange(kept.run(["exchanges", "--format", "jsonl", path], tmp_path).stdout)
        for line in LINES:
            words = verb_runs.words(line, path, other, exchange, tmp_path)
            # Texts of 32 kB in each row are more than a question may take of a capture of this size.
            words += ["--memory", "2GiB"] if LONG and line.startswith("export") else []
            if verb_runs.STDIN in words:
                # Of the address space that it may take this process may have much.
                done = verb_runs.run(line, words, tmp_path, given=path, anew=LONG)
                code, told = done.code, done.err
            else:
                ran = kept.run(words, tmp_path)
                code, told = ran.returncode, ran.stderr.decode()
            assert code in ((0, 1, 3) if line.startswith("check") else (0,)), (line, code, told)
            forget_new(tmp_path)


# When packet i of n was captured, where it was at ns: all at the ends of the times that there are, half at each, years ahead, back.
YEARS_NS = 5 * 365 * 86_400 * 1_000_000_000
MOVED = {
    "1970": lambda times, place: times[place] - times[0],
    "2262": lambda times, place: times[place] - times[-1] + layout.LATEST_TIME,
    "1970 to 2262": lambda times, place: (
        times[place] - (times[0] if place < len(times) // 2 else times[-1] - layout.LATEST_TIME)
    ),
    "ahead": lambda times, place: times[place] + (YEARS_NS if place >= len(times) // 2 else 0),
    "back": lambda times, place: times[place] - (YEARS_NS if place >= len(times) // 2 else 0),
    "ahead and back": lambda times, place: times[place] + (YEARS_NS if 1 <= 3 * place // len(times) < 2 else 0),
    "to and fro": lambda times, place: times[place] + (YEARS_NS if place // 50 % 2 else 0),
}
# Where the clock jumps in these. Between two such places all is as it was.
JUMPS = {
    "1970 to 2262": lambda count: [count // 2],
    "ahead": lambda count: [count // 2],
    "back": lambda count: [count // 2],
    "ahead and back": lambda count: [-(-count // 3), -(-2 * count // 3)],
    "to and fro": lambda count: list(range(50, count, 50)),
}
REPORTS = ("report --format json", "exchanges --format jsonl")
TIMED = (
    *REPORTS, "report", "findings --format jsonl", "html -o NEW CAPTURE", "latency --every 87600h", "connections",
    "export --format parquet --to NEW", "redact --verify -o NEW CAPTURE", "extract --client * -o NEW CAPTURE",
    "trace -o NEW CAPTURE", "watch --format jsonl -",
)  # fmt: skip


@pytest.mark.parametrize("moved", MOVED)
def test_no_time_ends_a_verb(tmp_path: Path, samples: Path, moved: str) -> None:
    """A sample moved in time, or a clock that jumps in the middle of it: that is told, in one line, and what lasts from before to
    behind has no duration; all else lasts as long as it did."""
    plain = samples / "groups_classic.pcap.zst"
    _, packets = transform.read_pcap(plain)
    times = [packet.seconds * 1_000_000_000 + packet.fraction * 1000 for packet in packets]
    out = bytearray(tools.section() + tools.interface(options=tools.option(9, b"\x09")))
    for place, packet in enumerate(packets):
        out += tools.enhanced(packet.data, MOVED[moved](times, place))
    path = tmp_path / "moved.pcapng"
    path.write_bytes(out)
    with KeptDatasets() as kept:
        for line in TIMED if LONG or moved == "1970 to 2262" else REPORTS:
            words = verb_runs.words(line, path, path, "", tmp_path)
            if verb_runs.STDIN in words:
                done = verb_runs.run(line, words, tmp_path, given=path)
                assert done.code == 0, (line, done.err)
            else:
                ran = kept.run(words, tmp_path)
                assert ran.returncode == 0, (line, ran.stderr)
                if line == "report --format json":
                    assert_no_jump_in(json.loads(ran.stdout))
                if line.startswith("exchanges"):
                    jumps = JUMPS[moved](len(times)) if moved in JUMPS else []
                    told = [said for said in ran.stderr.decode().splitlines() if "the time jumps" in said]
                    assert len(told) == bool(jumps) and all(f"first at packet {jumps[0] + 1}:" in said for said in told)
                    usual = kept.run([*words[:-1], plain], tmp_path)
                    assert_lasting(ran.stdout, usual.stdout, jumps)
            forget_new(tmp_path)


def assert_no_jump_in(report: dict[str, Any]) -> None:
    """No finding speaks of the years of a jump, nor do rebalances and lives of connections last so long."""
    told = [(name, value) for row in report["findings"] for name, value in row.items() if name.endswith("_ns")]
    told += [("rebalancing", row["rebalancing_ns"]) for row in report["groups"]]
    told += [("life", row["median_life_ns"]) for row in report["clients"]]
    wrong = [
        each
        for each in told
        if not each[0].endswith(("_time_ns", "_date_ns")) and not 0 <= (each[1] or 0) < YEARS_NS // 2
    ]
    assert not wrong


DURATIONS = ("send_ns", "latency_ns", "receive_ns", "total_ns", "queue_ns", "service_ns", "broker_max_ns")


def assert_lasting(lines: bytes, usual: bytes, jumps: Sequence[int]) -> None:
    """Exchanges last as long as usual, but for those in which one of `jumps`, packets, is the last before a jump: their durations
    are not known. Of others the end of a reply may be behind it, and less is known of what they waited for."""
    rows, others = ([json.loads(line) for line in each.splitlines()] for each in (lines, usual))
    places = {(row["request_packet"], row["correlation_id"]): row for row in others}
    assert len(rows) == len(others)
    crossing = unknown = 0
    for row in rows:
        first, last = row["request_packet"], row["response_packet"]
        other = places[first, row["correlation_id"]]
        if None not in (first, last) and any(first <= jump < last for jump in jumps):
            crossing += 1
            assert all(row[name] is None for name in DURATIONS), row
        elif other["latency_ns"] is not None and row["latency_ns"] is None:
            unknown += 1
        else:
            assert row["latency_ns"] == other["latency_ns"]
            assert all(row[name] in (None, other[name]) for name in ("send_ns", "queue_ns", "service_ns"))
            assert (row["total_ns"] or 0) <= (other["total_ns"] or 0)
            assert row["broker_max_ns"] is None or row["broker_max_ns"] >= other["broker_max_ns"]
    assert (crossing > 0) == bool(jumps) and unknown <= len(jumps)


def test_compiled_or_not_the_rows_of_packets_without_times_are_the_same(tmp_path: Path, samples: Path) -> None:
    """In plain Python no difference of a time and of one that is not known wraps."""
    _, packets = transform.read_pcap(samples / "throttle.pcap.zst")
    out = bytearray(tools.section() + tools.interface(options=tools.option(9, b"\x09")))
    chance = Random(5)
    for packet in packets[:1_500]:
        time_ns = packet.seconds * 1_000_000_000 + packet.fraction * 1000
        out += tools.enhanced(packet.data, (1 << 64) - 1 if chance.random() < 0.3 else time_ns)
    path = tmp_path / "some_times.pcapng"
    path.write_bytes(out)
    found = [
        subprocess.run(
            [*COMMAND, "export", path, "--table", "exchanges", "--format", "jsonl"],
            env={**os.environ, **more},
            capture_output=True,
        )
        for more in ({}, {"KANALYZE_UNCOMPILED": "1"})
    ]
    assert [done.returncode for done in found] == [0, 0], found[1].stderr
    assert found[0].stdout and found[0].stdout == found[1].stdout


def test_a_count_of_dropped_packets_that_cannot_be_is_unknown(tmp_path: Path) -> None:
    """Interface statistics count in 64 bits without a sign."""
    packets = Conversation().shake().exchange(request(1), reply(1)).close().packets
    begin = tools.section() + tools.interface() + b"".join(tools.enhanced(data, time_us) for time_us, data in packets)
    counts = b"".join(tools.option(code, struct.pack("<Q", (1 << 64) - 1)) for code in (4, 5, 7))
    paths = [tmp_path / f"{number}.pcapng" for number in range(2)]
    for path in paths:
        path.write_bytes(begin + tools.block(5, bytes(12) + counts))
    with KeptDatasets() as kept:
        for line in ("report", "report --format json", "export --table captures --format jsonl"):
            done = kept.run([*line.split(), *paths], tmp_path)
            assert done.returncode == 0, (line, done.stderr)
        assert [json.loads(row)["dropped_packets"] for row in done.stdout.splitlines()] == [None, None]


@pytest.mark.parametrize("key", [-1, -32_768, 32_767])
def test_a_key_of_no_api_without_a_client_id(tmp_path: Path, key: int) -> None:
    """Behind a request that is believed, and answered; the connection is read on."""
    odd = struct.pack(">hhih", key, 0, 2, -1)
    told = Conversation().shake().exchange(request(1), reply(1)).exchange(odd, struct.pack(">i", 2))
    path = tmp_path / "key.pcap"
    path.write_bytes(pcap(told.exchange(request(3), reply(3)).close().packets))
    with KeptDatasets() as kept:
        for line in ("report", "clients", "errors", "readiness", "html -o NEW CAPTURE"):
            done = kept.run(verb_runs.words(line, path, path, "", tmp_path), tmp_path)
            assert done.returncode == 0, (line, done.stderr)
        rows = map(json.loads, kept.run(["exchanges", "--format", "jsonl", path], tmp_path).stdout.splitlines())
        assert {16} <= {row["api_key"] for row in rows} <= {16, key}
