"""Several inputs of one time: merged by time, each packet with the number of its own file."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from capture_tools import pcap_file
from effort import in_turn
from scapy.layers.inet import IP, TCP
from scapy.packet import Raw

from analyzer.inputs import engine
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.engine import Engine
from analyzer.inputs.expansion import expand
from analyzer.inputs.sources import Source
from dissectors import layout
from dissectors.layout import SPLIT_SHIFT

Row = tuple[int, int, int, bytes]  # time, place, (input, packet) number, payload


def packet(number: int, size: int = 20) -> bytes:
    data = struct.pack(">I", number) * (size // 4)
    return bytes(IP(src="10.0.0.1", dst="10.0.0.2", id=number + 1) / TCP(sport=1, dport=2, seq=number) / Raw(data))


def write(folder: Path, name: str, moments: Sequence[int], size: int = 20) -> str:
    """A capture with a packet at each of the moments (microseconds)."""
    times = [(1_700_000_000 + moment // 10**6, moment % 10**6) for moment in moments]
    packets = [packet(moment & 0xFFFF, size) for moment in moments]
    path = folder / name
    path.write_bytes(pcap_file(packets, 101, times=times))
    return str(path)


def read(paths: Sequence[str], make: Callable[[list[Source]], list[Source]] = in_time_order) -> list[Row]:
    rows: list[Row] = []

    def sink(block: memoryview, segments: memoryview, count: int) -> None:
        for row in range(count):
            at, size = segments[layout.SEGMENT_OFFSET, row], segments[layout.SEGMENT_CAPTURED, row]
            number = segments[layout.SEGMENT_NUMBER, row]
            place = segments[layout.SEGMENT_INTERFACE, row] >> 20
            assert segments[layout.SEGMENT_SEQ, row] == struct.unpack(">I", block[at : at + 4])[0]
            time = segments[layout.SEGMENT_TIME, row] // 1_000 - 1_700_000_000 * 10**6
            rows.append((time, place, number, bytes(block[at : at + size])))

    Engine(sink, 4096).read_all(make(expand(paths).sources))
    return rows


def test_rotated_files_in_any_order(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"{n}.pcap", range(100 * n, 100 * n + 100)) for n in range(5)]
    rows = read(random.Random(1).sample(paths, 5))
    assert [row[0] for row in rows] == list(range(500))
    assert {row[1] for row in rows} == {0}  # one place
    assert [row[2] & (1 << SPLIT_SHIFT) - 1 for row in rows] == list(range(1, 101)) * 5


@pytest.mark.slow
@pytest.mark.parametrize(("files", "size"), in_turn((2, 3, 9), (4, 1400, 60_000), every=3))
def test_files_that_overlap_are_merged(tmp_path: Path, files: int, size: int) -> None:
    chance = random.Random(files)
    moments: list[list[int]] = [[] for _ in range(files)]
    for moment in range(60 if size > 9_000 else 2_000):
        chance.choice(moments).append(moment)
    paths = [write(tmp_path, f"{n}.pcap", sorted(chosen), size) for n, chosen in enumerate(moments)]
    rows = read(paths)
    assert [row[0] for row in rows] == list(range(len(rows)))
    assert {len(row[3]) for row in rows} == {size}
    assert len({row[1] for row in rows}) == files


@pytest.mark.slow
def test_a_file_that_ends_makes_room_for_the_next_of_its_kind(tmp_path: Path) -> None:
    """Two hosts, each with rotated files: the files of a host stay at its place."""
    paths = [write(tmp_path, f"broker.{n}.pcap", range(200 * n, 200 * n + 200, 2)) for n in range(4)]
    paths += [write(tmp_path, f"client.{n}.pcap", range(200 * n + 1, 200 * n + 200, 2)) for n in range(4)]
    rows = read(paths)
    assert [row[0] for row in rows] == list(range(800))
    assert all(row[1] == row[0] % 2 for row in rows)


def test_a_clock_that_jumps_ahead_for_one_packet_holds_nothing_up(tmp_path: Path) -> None:
    moments = [*range(0, 50, 2), 900_000_000, *range(50, 100, 2)]
    rows = read(
        [write(tmp_path, "a", moments), write(tmp_path, "b", range(1, 100, 2)), write(tmp_path, "c", range(200, 300))]
    )
    kept = [row[0] for row in rows if row[0] != 900_000_000]
    assert kept == [*range(100), *range(200, 300)]


@pytest.mark.slow
def test_a_clock_that_runs_back_loses_nothing(tmp_path: Path) -> None:
    chance = random.Random(2)
    moments = [chance.randrange(1_000) for _ in range(500)]
    paths = [write(tmp_path, "a", moments), write(tmp_path, "b", moments[::-1]), write(tmp_path, "c", [5, 4, 3])]
    rows = read(paths)
    assert sorted(row[0] for row in rows) == sorted([*moments, *moments, 5, 4, 3])
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)


def test_no_more_inputs_at_once_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MOST_AT_ONCE", 3)
    paths = [write(tmp_path, str(n), range(n, 100, 10)) for n in range(10)]
    rows = read(paths)
    assert sorted(row[0] for row in rows) == list(range(100))
    assert max(row[1] for row in rows) == 2


def test_without_times_inputs_follow_each_other(tmp_path: Path) -> None:
    """As with standard input, which nobody can look into beforehand."""
    paths = [write(tmp_path, "a", range(0, 100, 2)), write(tmp_path, "b", range(1, 100, 2))]
    rows = read(paths, make=list)
    assert [row[0] for row in rows] == [*range(0, 100, 2), *range(1, 100, 2)]
