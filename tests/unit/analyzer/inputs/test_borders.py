"""A capture out of order in parts: the parts, one behind the other, are the order of the whole capture."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from capture_tools import enhanced, interface, pcap_file, section
from effort import in_turn, one_in
from hypothesis import given
from hypothesis import strategies as st

from analyzer.ingest.clock_jumps import jumps
from analyzer.inputs import sources
from analyzer.inputs.borders import Packets, border_in_order, border_of
from analyzer.inputs.packet_rows import PacketRows
from analyzer.inputs.readings import Reading
from analyzer.inputs.sources import Cuts, Source
from dissectors import layout
from dissectors.formats.time_order_limits import WIDE_BYTES, WINDOW_NS
from dissectors.matrix import new_matrix

START = 1_700_000_000


def read(source: Source, block_bytes: int = 1 << 20) -> tuple[list[tuple[int, int]], Reading]:
    """(time in us, size) of the packets of a source."""
    reading = Reading(0, source, file=0)
    found = []
    for data, packets, row, rows in PacketRows(reading, new_matrix(layout.PACKET_COLUMNS, 300), block_bytes).batches():
        for at in range(row, rows):
            place = packets[layout.PACKET_OFFSET, at]
            assert int.from_bytes(data[place : place + 4], "big") == packets[layout.PACKET_CAPTURED, at]
            found.append(
                (packets[layout.PACKET_TIME, at] // 1_000 - START * 10**6, packets[layout.PACKET_CAPTURED, at])
            )
    return found, reading


def written(path: Path, kind: str, times: list[int]) -> tuple[bytes, bytes]:
    """A capture of packets of many sizes, which no other packet has; and its head."""
    data = [(60 + n % 3_000).to_bytes(4, "big") + bytes(56 + n % 3_000) for n in range(len(times))]
    if kind == "pcap":
        raw = pcap_file(data, times=[(START + time // 10**6, time % 10**6) for time in times])
        path.write_bytes(raw)
        return raw, raw[:24]
    head = section() + interface()
    ticks = [START * 10**6 + time for time in times]
    raw = head + b"".join(enhanced(each, tick) for each, tick in zip(data, ticks, strict=True))
    path.write_bytes(raw)
    return raw, head


def parts_of(path: Path, size: int, head: bytes, cuts: list[int]) -> list[Source]:
    found = []
    for number, (begin, end) in enumerate(pairwise([0, *cuts, None])):
        behind = tuple(cut for cut in cuts[number:] if end is not None and cut < end + WIDE_BYTES)
        source = Source(str(path), path, size, begin=begin or 0, end=end, head=head if begin else b"")
        source.cuts = Cuts(begin or 0, behind, head)
        found.append(source)
    return found


@pytest.mark.parametrize(("kind", "seed"), in_turn(("pcap", "pcapng"), range(10), every=2))
def test_parts_are_the_order_of_the_whole(kind: str, seed: int, tmp_path: Path) -> None:
    """Cut anywhere, also within records, out of order by up to some hundred packets; in small blocks too."""
    chance = random.Random(seed)
    by = chance.choice([2, 20, 300])
    times = sorted(range(0, 1_500_000, 1_500), key=lambda time: time + chance.uniform(0, by * 1_500))
    raw, head = written(tmp_path / "a", kind, times)
    whole, told = read(Source("a", tmp_path / "a", len(raw)))
    assert [time for time, _ in whole] == sorted(times)
    cuts = sorted({place & -4 for place in chance.sample(range(200, len(raw)), chance.choice([1, 3, 12]))})
    found: list[tuple[int, int]] = []
    numbers, offset = 0, 0
    for part in parts_of(tmp_path / "a", len(raw), head, cuts):
        packets, reading = read(part, chance.choice([700, 1 << 16, 1 << 20]))
        found += packets
        if reading.first_offset is None:
            continue  # no record begins in it
        assert reading.first_offset == offset, "not for this capture: a wrong guess"
        numbers, offset = numbers + reading.numbers, reading.end_offset or 0
        assert (reading.late_packets, reading.steps_back) == (0, 0)
    assert found == whole
    assert numbers == told.numbers == len(times)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 20, one_in(10)))
def test_a_clock_that_was_set_back_is_so_in_parts_too(seed: int, tmp_path: Path) -> None:
    """Cut anywhere, also between two steps back: none is lost, and nothing is moved across one, though its time would fit."""
    chance = random.Random(seed)
    times, clock = [], 10_000_000
    for n in range(900):
        clock += 8_000 if n % 90 else -chance.randrange(2_400_000, 3_500_000)
        times.append(clock + chance.choice((0, chance.randrange(20_000))))
    raw, head = written(tmp_path / "a", "pcap", times)
    whole, told = read(Source("a", tmp_path / "a", len(raw)))
    assert told.steps_back == 9
    starts = [24, *ends_of(raw)[:-1]]
    cuts = sorted(chance.sample(starts[1:], chance.choice([1, 3, 12, 100])))
    parts = parts_of(tmp_path / "a", len(raw), head, cuts)
    for part in parts:
        part.exact = True
    read_parts = [read(part) for part in parts]
    assert [packet for packets, _ in read_parts for packet in packets] == whole
    assert sum(reading.steps_back for _, reading in read_parts) == told.steps_back
    before = accumulate((reading.numbers for _, reading in read_parts), initial=0)
    steps = [
        (numbers + packet, *times)
        for numbers, (_, reading) in zip(before, read_parts, strict=False)
        for packet, *times in reading.steps
    ]
    assert jumps(steps, 0) == jumps(told.steps, 0) and len(told.steps) == 9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 40, one_in(4)))
def test_single_packets_far_ahead_stay_in_their_places_in_parts_too(seed: int, tmp_path: Path) -> None:
    """At any pace, between packets out of order, beside packets without disorder, first, last and at cuts."""
    chance = random.Random(seed)
    pace, by = chance.choice([1_000, 50_000, 900_000]), chance.choice([0, 3])
    usual = sorted(range(0, 300 * pace, pace), key=lambda time: time + chance.uniform(0, by * min(pace, 600_000)))
    ahead = {*chance.sample(range(300), 6), *chance.choice([(), (0,), (299,)])}
    ahead -= {n for n in ahead if n + 1 in ahead or n - 1 in ahead}
    times = [time + chance.randrange(6_000_000, 20_000_000) * (n in ahead) for n, time in enumerate(usual)]
    raw, head = written(tmp_path / "a", "pcap", times)
    whole, told = read(Source("a", tmp_path / "a", len(raw)))
    sizes = [size for _, size in whole]
    assert all(sizes.index(60 + n) == n for n in ahead if not by)
    assert sorted(time for time in times if time in usual) == [time for time, _ in whole if time in usual]
    assert (told.late_packets, told.steps_back) == (0, 0)
    starts = [24, *ends_of(raw)[:-1]]
    near = sorted({n + by for n in ahead for by in (-1, 0, 1, 2)} & set(range(1, 300)))
    cuts = sorted(starts[n] for n in chance.sample(near, chance.choice([1, 3, 8])))
    parts = parts_of(tmp_path / "a", len(raw), head, cuts)
    for part in parts:
        part.exact = True
    read_parts = [read(part) for part in parts]
    assert [packet for packets, _ in read_parts for packet in packets] == whole
    assert sum(reading.far_ahead for _, reading in read_parts) == told.far_ahead == len(ahead - {299})


def test_an_input_that_breaks_off_gives_what_came_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packets that waited for earlier ones are not lost with the rest."""
    raw, _ = written(tmp_path / "a", "pcap", list(range(0, 100_000, 1_000)))
    source = Source("a", tmp_path / "a", len(raw))
    real = sources._Opened.readinto
    given = [0]

    def readinto(opened: sources._Opened, view: memoryview) -> int:
        before = given[0]
        if given[0] > 6_000:
            raise sources.InputError("a: gone")
        given[0] += real(opened, view[:2_000])
        return given[0] - before

    monkeypatch.setattr(sources._Opened, "readinto", readinto)
    reading = Reading(0, source, file=0)
    rows = PacketRows(reading, new_matrix(layout.PACKET_COLUMNS, 300), 1 << 20).batches()
    found = 0
    with pytest.raises(sources.InputError):
        for _, _, row, rows_end in rows:
            found += rows_end - row
    assert found == sum(end <= given[0] for end in ends_of(raw))


def ends_of(raw: bytes) -> list[int]:
    found, at = [], 24
    while at < len(raw):
        at += 16 + int.from_bytes(raw[at + 8 : at + 12], "little")
        found.append(at)
    return found


@given(
    st.lists(st.sampled_from((0, 0, 1, 5, 10**6, WINDOW_NS - 1, WINDOW_NS, WINDOW_NS + 1, 5 * WINDOW_NS)), max_size=12),
    st.data(),
)
def test_of_packets_in_order_the_short_way_finds_the_same(steps: list[int], data: st.DataObject) -> None:
    times = list(accumulate(steps, initial=START * 10**9))[data.draw(st.integers(0, 1)) :]
    read = Packets(times, [100 * number for number in range(len(times))], data.draw(st.integers(0, len(times))))
    assert read.are_in_order
    assert border_in_order(read, 7_000) == border_of(read, 7_000)


@pytest.mark.parametrize("times", [[2, 1], [layout.UNKNOWN], [layout.UNKNOWN, 1], [1, layout.UNKNOWN]])
def test_packets_without_a_time_are_not_in_order(times: list[int]) -> None:
    assert not Packets(times, times, 0).are_in_order
