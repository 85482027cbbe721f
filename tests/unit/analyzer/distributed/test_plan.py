"""The plan: what is packed, cut and kept together; and that a wrong guess is found out and put right."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest
from capture_tools import block, enhanced, interface, option, pcap_file, section
from effort import also_long, in_turn, one_in

from analyzer.distributed.plan import Plan, plan
from analyzer.distributed.plan_repair import repaired
from analyzer.ingest.run_tables import by_file
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.engine import Engine
from analyzer.inputs.expansion import expand
from analyzer.inputs.readings import Reading
from analyzer.inputs.sources import InputError, Source
from dissectors import layout

SECOND = 1_000_000_000
START = 1_700_000_000


def packet(payload: bytes, port: int = 40_000) -> bytes:
    """A TCP segment in IPv4 in Ethernet."""
    tcp = struct.pack("!HHIIBBHHH", port, 9092, 1, 1, 5 << 4, 0x18, 512, 0, 0) + payload
    ip = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0, bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2))
    )
    return bytes(12) + b"\x08\x00" + ip + tcp


def some_packets(count: int, seed: int, most_bytes: int = 1_400) -> list[bytes]:
    chance = random.Random(seed)
    return [packet(chance.randbytes(chance.randrange(most_bytes)), 1_024 + chance.randrange(9)) for _ in range(count)]


def pcapng_file(packets: Sequence[bytes]) -> bytes:
    names = interface(options=option(2, b"eth0"))
    ticks = START * 1_000_000
    return section() + names + b"".join(enhanced(each, ticks + number) for number, each in enumerate(packets))


class Ran:
    """What reading a plan gave, and what it took: `rounds` of repair, `again` the tasks that were read again."""

    def __init__(self, todo: Plan, taps: Sequence[tuple[str, str]] = ()) -> None:
        self.rounds, self.again = 0, 0
        done: dict[int, tuple[list[Reading], list[tuple[int, int, bytes]]]] = {}
        wanted = {task.number for task in todo.tasks}
        while wanted:
            for task in todo.tasks:
                if task.number in wanted:
                    done[task.number] = self._read(task, taps)
            done = {task.number: done[task.number] for task in todo.tasks}
            todo, wanted = repaired(todo, [reading for readings, _ in done.values() for reading in readings])
            self.again += len(wanted)
            self.rounds += bool(wanted)
        self.plan = todo
        self.splits = [reading for readings, _ in done.values() for reading in readings]
        self.files = by_file(self.splits)
        self.segments = [segment for _, segments in done.values() for segment in segments]

    @staticmethod
    def _read(task, taps):
        segments = []

        def take(data: memoryview, rows: memoryview, count: int) -> None:
            for row in range(count):
                at, size = rows[layout.SEGMENT_OFFSET, row], rows[layout.SEGMENT_CAPTURED, row]
                segments.append(
                    (rows[layout.SEGMENT_NUMBER, row], rows[layout.SEGMENT_TIME, row], bytes(data[at : at + size]))
                )

        return Engine(take, taps=taps).read_pieces(task.pieces, task.capture_points), segments

    def placed(self) -> list[tuple[int, int, int, bytes]]:
        """Segments by file and by their number in the file."""
        before, file = {}, {}
        counts: dict[int, int] = {}
        for reading in sorted(self.splits, key=lambda reading: reading.split):
            file[reading.split] = reading.file
            before[reading.split] = counts.get(reading.file, 0)
            counts[reading.file] = before[reading.split] + reading.numbers
        return sorted(
            (file[number >> 40], (number & (1 << 40) - 1) + before[number >> 40], time, payload)
            for number, time, payload in self.segments
        )


def facts(reading: Reading) -> dict:
    """All that a table or a person hears of a file."""
    names = (
        "format",
        "bytes",
        "numbers",
        "outcomes",
        "link_types",
        "first_time_ns",
        "last_time_ns",
        "drops",
        "snap_bytes",
    )
    return {name: getattr(reading, name) for name in (*names, "notes", "capture_point", "failure")}


def same_as_whole(paths: Sequence[Path], target_bytes: int) -> Ran:
    """Reads files by plan and compares with reading each as a whole."""
    sources = in_time_order(expand([str(path) for path in paths]).sources)
    ran = Ran(plan(sources, target_bytes))
    whole = Ran(plan(sources, 1 << 60))
    assert not whole.again
    assert ran.placed() == whole.placed()
    assert [facts(reading) for reading in ran.files] == [facts(reading) for reading in whole.files]
    return ran


@pytest.mark.parametrize("kind", [{}, {"order": ">"}, {"nanoseconds": True}, {"modified": True}, {"version": (2, 3)}])
def test_pcap_of_every_kind_is_cut_where_records_begin(kind: dict, tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file(some_packets(500, 1), **kind))
    ran = same_as_whole([path], 20_000)
    assert len(ran.plan.tasks) > 15 and ran.again == 0


def test_pcapng_is_cut_where_blocks_begin(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    path.write_bytes(pcapng_file(some_packets(500, 2)))
    ran = same_as_whole([path], 20_000)
    assert len(ran.plan.tasks) > 15 and ran.again == 0


@pytest.mark.parametrize(("count", "target_bytes"), also_long([(6, 500)], [(30, 3_000)]))
def test_pieces_in_which_no_record_begins(count: int, target_bytes: int, tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file(some_packets(count, 3, 30_000)))
    ran = same_as_whole([path], target_bytes)
    assert sum(not reading.numbers for reading in ran.splits) > len(ran.splits) // 2


@pytest.mark.parametrize("whole_packets", [True, False])
def test_a_capture_inside_a_capture_is_found_out(whole_packets: bool, tmp_path: Path) -> None:
    """Payloads hold records that lead to one another: guesses go wrong, and are refuted."""
    inner = pcap_file(some_packets(600, 4, 80))[24:]
    payloads = [inner[at : at + 60_000] for at in range(0, len(inner) if whole_packets else 60_000, 60_000)] * 5
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file([packet(payload) for payload in payloads]))
    ran = same_as_whole([path], 40_000)
    assert ran.again > 0


def test_blocks_inside_blocks_are_found_out(tmp_path: Path) -> None:
    inner = pcapng_file(some_packets(600, 5, 80))
    payloads = [bytes(2) + inner[at : at + 40_000] for at in range(0, len(inner), 40_000)] * 5  # aligned as blocks are
    path = tmp_path / "a.pcapng"
    path.write_bytes(pcapng_file([packet(payload) for payload in payloads]))
    ran = same_as_whole([path], 30_000)
    assert ran.again > 0


def test_interfaces_and_sections_in_the_middle_reach_the_pieces_behind(tmp_path: Path) -> None:
    packets = some_packets(400, 6)
    ticks = START * 1_000_000
    parts = [section(), interface(options=option(2, b"one"))]
    for number, each in enumerate(packets):
        if number == 100:
            parts.append(interface(snaplen=9_000, options=option(2, b"two") + option(9, b"\x09")))
        if number == 200:
            parts += [section(">"), interface(options=option(2, b"three", ">"), order=">")]
        if number % 20 == 10:
            parts.append(block(0x0BAD, bytes(40), "<" if number < 200 else ">"))  # numbered, as in Wireshark
        order = "<" if number < 200 else ">"
        late = 100 <= number < 200
        parts.append(enhanced(each, (ticks + number) * (1000 if late else 1), int(late), order))
    drops = struct.pack(">III", 0, 0, 0) + option(5, struct.pack(">Q", 7), ">")
    parts.append(block(5, drops, ">"))
    path = tmp_path / "a.pcapng"
    path.write_bytes(b"".join(parts))
    ran = same_as_whole([path], 20_000)
    assert ran.again > 0
    assert ran.files[0].drops == {2: 7}


@pytest.mark.parametrize(("suffix", "damage"), in_turn(("pcap", "pcapng"), ("cut", "zeros", "noise", "long"), every=2))
def test_damage_ends_a_file_for_all_its_pieces(suffix: str, damage: str, tmp_path: Path) -> None:
    make = pcap_file if suffix == "pcap" else pcapng_file
    data = bytearray(make(some_packets(400, 7)))
    middle = len(make(some_packets(400, 7)[:200]))
    if damage == "cut":
        del data[-700:]
    elif damage == "zeros":
        data[middle : middle + 3_000] = bytes(3_000)
    elif damage == "noise":
        data[middle : middle + 3_000] = random.Random(8).randbytes(3_000)
    else:
        data[middle + 4 : middle + 16] = b"\xff" * 12
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(data)
    ran = same_as_whole([path], 20_000)
    assert ran.files[0].notes


@pytest.mark.parametrize("inner", [False, True])
def test_nothing_counts_behind_a_part_that_cannot_be_read(
    inner: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packets behind it would have wrong numbers. Those before it count, also where the cut was a wrong guess."""
    packets = some_packets(400, 7)
    if inner:
        packets = [packet(pcap_file(some_packets(60, number, 80))[24:]) for number in range(60)]
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file(packets))
    sources = expand([str(path)]).sources
    made = plan(sources, 20_000)
    (_, broken), cut = made.tasks[4:6], made.tasks[5].pieces[0].source.begin
    fill = Source.fill

    def failing(self: Source, buffer: bytearray) -> object:
        if self.end == broken.pieces[0].source.end and self.begin:
            raise InputError(f"{self.name}: no answer")
        return fill(self, buffer)

    whole = Ran(plan(sources, 1 << 60)).placed()
    monkeypatch.setattr(Source, "fill", failing)
    ran = Ran(made)
    found = ran.placed()
    assert ran.files[0].failure == f"{path}: no answer"
    assert found == whole[: len(found)]
    ends, at = [], 24
    for each in packets:
        ends.append(at)
        at += 16 + len(each)
    assert len(found) == sum(begin < cut for begin in ends)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30 // one_in(5)))
def test_damage_anywhere_is_the_same_damage(seed: int, tmp_path: Path) -> None:
    """Random bytes overwritten, cut out, doubled: a file in pieces tells what the file in one tells."""
    chance = random.Random(seed)
    make = chance.choice((pcap_file, pcapng_file))
    packets = some_packets(60, seed)
    data = bytearray(make(packets) + (pcapng_file(packets) if make is pcapng_file else b""))
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(100, len(data) - 100)
        size = chance.choice((1, 4, 60, 2_000))
        kind = chance.randrange(3)
        data[at : at + size] = chance.randbytes(size) if kind == 0 else b"" if kind == 1 else data[at : at + size] * 2
    path = tmp_path / "a"
    path.write_bytes(data)
    same_as_whole([path], chance.choice((700, 3_000, 20_000)))


def test_a_section_after_damage_is_read_again(tmp_path: Path) -> None:
    broken = bytearray(pcapng_file(some_packets(300, 9)))
    broken[100_000:100_400] = random.Random(9).randbytes(400)
    path = tmp_path / "a.pcapng"
    path.write_bytes(bytes(broken) + pcapng_file(some_packets(300, 10)))
    ran = same_as_whole([path], 20_000)
    assert ran.files[0].numbers > 300


def test_small_files_are_packed_in_the_order_of_time(tmp_path: Path) -> None:
    paths = []
    for number in range(10):
        times = [(START + 100 * number + k, 0) for k in range(50)]
        path = tmp_path / f"{9 - number}.pcap"
        path.write_bytes(pcap_file(some_packets(50, number), times=times))
        paths.append(path)
    size = sum(path.stat().st_size for path in paths) // 10
    ran = same_as_whole(paths, 3 * size + size // 2)
    assert [len(task.pieces) for task in ran.plan.tasks] == [3, 3, 3, 1]
    assert [piece.number for task in ran.plan.tasks for piece in task.pieces] == list(range(10))
    assert ran.again == 0


def test_files_of_the_same_time_stay_together(tmp_path: Path) -> None:
    paths = []
    for number in range(4):
        times = [(START + 10 * (number // 2) + k // 20, k % 20 * 10 + number) for k in range(100)]
        path = tmp_path / f"cpu{number % 2}.{number // 2}.pcap"
        path.write_bytes(pcap_file(some_packets(100, number), times=times))
        paths.append(path)
    ran = same_as_whole(paths, 30_000)
    assert [len(task.pieces) for task in ran.plan.tasks] == [2, 2]
    assert "cover the same time" in "\n".join(ran.plan.lines())


def test_files_of_several_named_places_are_read_apart(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"tap{number % 2}.{number}.pcap").write_bytes(pcap_file(some_packets(100, number)))
    sources = in_time_order(expand([str(tmp_path)]).sources)
    made = plan(sources, 30_000, [("a", "tap0*"), ("b", "tap1*")])
    assert {len({made.taps[piece.file] for piece in task.pieces}) for task in made.tasks} == {1}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_times_that_were_not_known_are_put_right(order: tuple[int, int], tmp_path: Path) -> None:
    """The end of a compressed file is known when it is read: files of the same time are read again together."""
    import gzip

    paths = []
    for number in range(6):
        pair, member = divmod(number, 2)
        late = order[member] ^ pair & 1  # sometimes the one begins first, sometimes the other: names tell which it is
        times = [(START + 10 * pair + k // 20, k % 20 * 10 + late) for k in range(100)]
        path = tmp_path / f"cpu{member}.{pair}.pcap.gz"
        path.write_bytes(gzip.compress(pcap_file(some_packets(100, number), times=times)))
        paths.append(path)
    ran = same_as_whole(paths, 30_000)
    assert [len(task.pieces) for task in ran.plan.tasks] == [2, 2, 2]
    assert ran.rounds >= 2  # times, then places


def test_a_cut_file_with_an_odd_time_is_made_whole_again(tmp_path: Path) -> None:
    """A packet of tomorrow in the middle of a large file: what follows overlaps with it, as a run over all sees it too."""
    times = [(START + k, 0) for k in range(300)]
    times[150] = (START + 86_400, 0)
    (tmp_path / "a.pcap").write_bytes(pcap_file(some_packets(300, 11, 4_000), times=times))
    late = [(START + 1_000 + k, 0) for k in range(100)]
    (tmp_path / "b.pcap").write_bytes(pcap_file(some_packets(100, 12), times=late))
    ran = same_as_whole([tmp_path / "a.pcap", tmp_path / "b.pcap"], 20_000)
    assert ran.again > 0
    assert [(piece.file, piece.source.begin, piece.source.end) for task in ran.plan.tasks for piece in task.pieces] == [
        (0, 0, None),
        (1, 0, None),
    ]


def test_a_datagram_whose_fragments_lie_in_two_tasks(tmp_path: Path) -> None:
    packets = []
    for number in range(40):
        whole = packet(random.Random(number).randbytes(1_500 + 30 * number))
        tcp = whole[34:]
        for at in range(0, len(tcp), 600):
            piece = tcp[at : at + 600]
            place = at // 8 | (0x2000 if at + 600 < len(tcp) else 0)
            head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(piece), number, place, 64, 6, 0)
            packets.append(whole[:14] + head + whole[26:34] + piece)
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file(packets))
    ran = same_as_whole([path], 9_000)
    assert ran.again > 0
    assert len(ran.segments) == 40
    assert len(ran.plan.tasks) > 3


def test_compressed_files_are_told_of(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "a.pcap.gz"
    path.write_bytes(gzip.compress(pcap_file(some_packets(300, 12))))
    made = plan([Source(str(path), path, path.stat().st_size)], 1_000)
    assert len(made.tasks) == 1
    assert "is compressed: one task whatever its size" in "\n".join(made.lines())


def test_a_file_that_begins_without_packets_is_told_of(tmp_path: Path) -> None:
    """It is not compressed, and counts as large as it is."""
    comments = b"".join(block(0x0BAD, bytes(60_000)) for _ in range(20))
    path = tmp_path / "a.pcapng"
    path.write_bytes(section() + interface() + comments + pcapng_file(some_packets(300, 12)))
    size = path.stat().st_size
    source = Source(str(path), path, size)
    lines = "\n".join(plan([source], size - 1).lines())
    assert "has no packet in its first megabyte: it cannot be split, one task" in lines
    assert "compress" not in lines
    assert not plan([source], size).notes


def test_pipes_and_nothing() -> None:
    made = plan([Source("-")], 1_000)
    assert [piece.source.name for task in made.tasks for piece in task.pieces] == ["-"]
    assert "cannot be read twice" in "\n".join(made.lines())
    assert plan([], 1_000).tasks == ()
