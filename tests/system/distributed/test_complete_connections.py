"""Connections that live and die inside one task do not travel; what comes of their flow elsewhere may refute that."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from made_capture import ACK, FIN, PSH, RST, START_US, SYN, Conversation, Packet, merged, pcap, reply, request, segment
from parts_of_captures import Told, cut, same_rows

from analyzer.base.options import Options
from analyzer.distributed.plan import Task
from analyzer.run import local

SECOND = 1_000_000
OTHER = 50_000  # the port of a client that is there all the time


def conversation(at: float, replies: int = 5, port: int = 40_000) -> Conversation:
    """A conversation that begins so many seconds behind the start, from its SYN to before its end."""
    made = Conversation(port=port, start_us=START_US + round(at * SECOND)).shake()
    for number in range(replies):
        made.exchange(request(number), reply(number))
    return made


def always(seconds: int) -> list[Packet]:
    """Another connection, of which something comes every tenth of a second."""
    other = Conversation(port=OTHER).shake()
    for number in range(10 * seconds):
        other.clock = START_US + number * SECOND // 10 + 2_000
        other.exchange(request(number), reply(number))
    return other.packets


def tasks_of(parts: Sequence[Sequence[Packet]], folder: Path) -> tuple[bytes, list[Task]]:
    """The capture of these packets, a task for each of its parts."""
    raw = pcap(packet for part in parts for packet in part)
    cuts = list(accumulate(len(part) for part in parts[:-1]))
    return raw, cut(raw, folder, cuts)


def cut_at(found: Sequence[Packet], *seconds: float) -> list[list[Packet]]:
    """Packets in the order of time, cut at these times."""
    edges = [START_US + round(each * SECOND) for each in (-1, *seconds, 1_000)]
    return [
        sorted((each for each in found if begin <= each[0] < end), key=lambda each: each[0])
        for begin, end in pairwise(edges)
    ]


def told(parts: Sequence[Sequence[Packet]], folder: Path, options: Options | None = None) -> Told:
    raw, tasks = tasks_of(parts, folder)
    return same_rows(raw, tasks, folder, 2, options or Options())


def refuted(found: Told) -> set[int]:
    return {task for task, _ in found.refuted}


def with_ttl(packet: bytes, ttl: int) -> bytes:
    return packet[:22] + bytes([ttl]) + packet[23:]


def ends(made: Conversation, side: int) -> tuple[int, int, int, int]:
    return made.ends if side == 0 else made.ends[2:] + made.ends[:2]


def moved(made: Conversation, by: int) -> list[Packet]:
    """The same packets with other sequence numbers."""
    return [
        (time, packet[:38] + struct.pack(">I", struct.unpack(">I", packet[38:42])[0] + by) + packet[42:])
        for time, packet in made.packets
    ]


def test_a_connection_that_is_over_well_inside_a_task_does_not_travel(tmp_path: Path) -> None:
    """Ended by both sides, by a reset, and refused."""
    refused = Conversation(port=41_002, start_us=START_US + 7 * SECOND).put(0, SYN).put(1, RST | ACK)
    made = [
        conversation(1).close(),
        conversation(2, port=41_000).put(0, RST | ACK),
        conversation(6, port=41_001).close(),
        refused,
    ]
    found = told(cut_at([*merged(made), *always(9)], 4.5), tmp_path)
    assert (found.wholes, found.refuted) == (4, set())


@pytest.mark.parametrize("close", [True, False])
def test_near_the_edges_of_a_task_connections_travel(close: bool, tmp_path: Path) -> None:
    """One begins with the second task, the other is over just before the first one ends; a third has no end."""
    made = [conversation(2.005).close(), conversation(1.95, port=41_000).close()]
    if not close:
        made = [conversation(1)]
    found = told(cut_at([*merged(made), *always(3)], 2.0), tmp_path)
    assert (found.wholes, found.refuted) == (0, set())


def test_a_port_used_again_in_another_task_is_another_connection(tmp_path: Path) -> None:
    """Both are whole; before them it was used by one that has no end, and behind them by one more."""
    open_one = conversation(0.5)
    again = [packet for at in (2, 2.5, 4) for packet in moved(conversation(at).close(), round(10_000 * at))]
    found = told(cut_at([*open_one.packets, *again, *conversation(7).packets, *always(8)], 1.5, 3.5, 6), tmp_path)
    assert (found.wholes, found.refuted) == (3, set())


def test_an_end_that_is_repeated_in_the_next_task_refutes(tmp_path: Path) -> None:
    made = conversation(1).close()
    made.clock = START_US + 3 * SECOND
    made.next[1] -= 1
    made.put(1, FIN | ACK)
    found = told(cut_at([*made.packets, *always(4)], 2), tmp_path)
    assert refuted(found) == {0}


def test_an_end_that_came_another_way_refutes(tmp_path: Path) -> None:
    """Its TTL is another one: it might have been captured elsewhere."""
    made = conversation(1).close()
    late = (START_US + 3 * SECOND, with_ttl(segment(ends(made, 1), made.next[1] - 1, made.next[0], FIN | ACK), 60))
    found = told(cut_at([*made.packets, late, *always(4)], 2), tmp_path)
    assert refuted(found) == {0}


def test_what_follows_refutes_the_last_of_several(tmp_path: Path) -> None:
    """The first one has no end and travels; the one behind it is whole, and a segment of it comes in a third task."""
    made = conversation(2.5).close()
    made.next[1] -= 1
    made.clock = START_US + 5 * SECOND
    made.put(1, FIN | ACK)
    first = Conversation(start_us=START_US + SECOND)
    first.next = [900_000, 900_000]
    first.shake().exchange(request(1), reply(1))
    found = told(cut_at([*first.packets, *made.packets, *always(6)], 2, 4), tmp_path)
    assert refuted(found) == {1}


def test_a_syn_that_an_earlier_task_has_seen_refutes(tmp_path: Path) -> None:
    """It got lost and was sent again: the connection began with the first one."""
    made = conversation(2.5).close()
    lost = (START_US + SECOND, made.packets[0][1])
    found = told(cut_at([lost, *made.packets, *always(4)], 2), tmp_path)
    assert refuted(found) == {1}


def test_copies_of_it_may_come_behind_the_next_connection(tmp_path: Path) -> None:
    """The clock of the second task runs back to when the connection ended; a copy of its last segment comes there."""
    made = conversation(1).close()
    last, packet = made.packets[-1]
    again = Conversation(start_us=last + 3_000)
    again.next = [500_000, 500_000]
    again.put(0, SYN)
    again.packets.append((last + 4_000, packet))
    again.clock += 1_000
    again.put(1, SYN | ACK).put(0, ACK).exchange(request(1), reply(1))
    first, second = cut_at([*made.packets, *always(6)], 4)
    found = told([first, [*again.packets, *second]], tmp_path)
    assert refuted(found) == {0}


def test_it_may_have_copies_of_what_was_before(tmp_path: Path) -> None:
    """The same for a connection that travelled: the copy comes within the next one, which is whole in the second task."""
    before = conversation(1)
    last, packet = before.packets[-1]
    made = Conversation(start_us=last + 3_000)
    made.next = [500_000, 500_000]
    made.shake()
    made.packets.append((made.clock, packet))
    made.clock += 500
    made.exchange(request(1), reply(1)).close()
    early = [(START_US + SECOND - 900_000, each) for _, each in always(1)[-2:]]
    first, second = cut_at([*before.packets, *always(6)], 4)
    found = told([first, [*early, *made.packets, *second]], tmp_path)
    assert refuted(found) == {1}


def test_a_connection_captured_at_two_points_travels(tmp_path: Path) -> None:
    made = conversation(1).close()
    routed = [(time + 100, with_ttl(packet, 63)) for time, packet in made.packets]
    found = told(cut_at([*made.packets, *routed, *always(4)], 2), tmp_path)
    assert (found.wholes, found.refuted) == (0, set())


def test_replies_alone_are_believed_as_another_task_proves_the_broker(tmp_path: Path) -> None:
    """Of one connection only the replies were captured: few of them, which another connection makes believable."""
    made = conversation(1).close()
    made.packets = [each for each in made.packets if not (each[1][36:38] == b"\x23\x84" and len(each[1]) > 60)]
    idle = Conversation(port=OTHER).shake()
    idle.clock = START_US + 1_900_000
    idle.put(0, ACK)
    raw, tasks = tasks_of(cut_at([*made.packets, *conversation(3, port=41_000).packets, *idle.packets], 2), tmp_path)
    found = same_rows(raw, tasks, tmp_path, 2, Options())
    assert found.wholes == 1
    with local.open_dataset([str(tmp_path / "whole.pcap")], Options()) as whole:
        assert len(whole.query("SELECT 1 FROM exchanges WHERE status = 'orphan_reply'")) == 5


def test_problems_of_whole_connections_are_told_once(tmp_path: Path) -> None:
    """One ends within a frame."""
    made = conversation(1).put(0, PSH | ACK, struct.pack(">i", 400) + request(9)).close()
    raw, tasks = tasks_of(cut_at([*made.packets, *always(4)], 2), tmp_path)
    assert same_rows(raw, tasks, tmp_path, 2, Options()).wholes == 1
    with local.open_dataset([str(tmp_path / "whole.pcap")], Options()) as whole:
        assert [row["kind"] for row in whole.query("SELECT kind FROM problems")] == ["unfinished_frame"]


def test_connections_with_more_problems_than_are_listed_travel(tmp_path: Path) -> None:
    """How many were left out is for the stitch to tell."""
    made = conversation(1).close()
    for _ in range(6):
        made.put(0, PSH | ACK, b"late")
    found = told(cut_at([*made.packets, *always(4)], 2), tmp_path)
    assert (found.wholes, found.refuted) == (0, set())


def test_copies_in_whole_connections_are_counted(tmp_path: Path) -> None:
    made = conversation(1).close()
    made.packets += [(time + 10, packet) for time, packet in made.packets[3:]]
    raw, tasks = tasks_of(cut_at([*made.packets, *always(4)], 2), tmp_path)
    assert same_rows(raw, tasks, tmp_path, 2, Options()).wholes == 1
    with local.open_dataset([str(tmp_path / "whole.pcap")], Options()) as whole:
        assert (
            whole.query("SELECT duplicate_packets FROM captures")[0]["duplicate_packets"] == len(made.packets) // 2 - 1
        )


def test_one_may_have_copies_of_another_before_it(tmp_path: Path) -> None:
    """Both are whole in their tasks; the clock of the second runs back to where the first ended."""
    made = conversation(1).close()
    again = Conversation(start_us=made.clock + 3_000)
    again.next = [500_000, 500_000]
    again.shake().exchange(request(1), reply(1)).close()
    early = [(START_US + SECOND - 900_000, each) for _, each in always(1)[-2:]]
    first, second = cut_at([*made.packets, *always(6)], 4)
    found = told([first, [*early, *again.packets, *second]], tmp_path)
    assert refuted(found) == {0, 1}


def test_what_began_in_an_earlier_task_is_not_whole(tmp_path: Path) -> None:
    made = conversation(1)
    made.clock += 2 * SECOND
    made.exchange(request(9), reply(9)).close()
    found = told(cut_at([*made.packets, *always(4)], 2), tmp_path)
    assert (found.wholes, found.refuted) == (0, set())


def test_a_single_request_that_makes_sense_is_kafka(tmp_path: Path) -> None:
    made = Conversation(start_us=START_US + SECOND).shake().frame(0, request(1)).close()
    idle = Conversation(port=OTHER).shake()
    idle.clock = START_US + 3 * SECOND
    raw, tasks = tasks_of(cut_at([*made.packets, *idle.put(0, ACK).packets], 2), tmp_path)
    assert same_rows(raw, tasks, tmp_path, 2, Options()).wholes == 0, "too near to the end of its task"
    raw, tasks = tasks_of(cut_at([*made.packets, *idle.packets], 4), tmp_path)
    assert same_rows(raw, tasks, tmp_path, 2, Options()).wholes == 1
    with local.open_dataset([str(tmp_path / "whole.pcap")], Options()) as whole:
        assert len(whole.query("SELECT 1 FROM exchanges")) == 1


@pytest.mark.parametrize(("ahead", "again"), [(1 << 24, set[int]()), (-5, {0})])
def test_bytes_far_from_its_own_are_of_another_connection(ahead: int, again: set[int], tmp_path: Path) -> None:
    """`ahead` of its last byte, and of those that count as its own."""
    made = conversation(1).close()
    sent = made.next[0] - 1
    late = (START_US + 3 * SECOND, segment(ends(made, 0), sent + (1 << 24) + ahead, made.next[1], PSH | ACK, b"data"))
    found = told(cut_at([*made.packets, late, *always(4)], 2), tmp_path)
    assert refuted(found) == again


@pytest.mark.parametrize("ttl", [64, 63])
def test_a_connection_behind_one_captured_at_two_points_refutes(ttl: int, tmp_path: Path) -> None:
    """It may be at either of them."""
    before = conversation(1)
    routed = [(time + 100, with_ttl(packet, 63)) for time, packet in before.packets]
    made = conversation(3).close()
    again = [(time, with_ttl(packet, ttl)) for time, packet in moved(made, 100_000)]
    found = told(cut_at([*before.packets, *routed, *again, *always(5)], 2), tmp_path)
    assert refuted(found) == {1}


def test_one_flow_says_nothing_of_another(tmp_path: Path) -> None:
    """The second task has the time of the first one, and the rows of some flows come right behind those of another."""
    idle = Conversation(port=OTHER).shake()
    idle.clock = START_US + 2 * SECOND
    idle.put(0, ACK)
    later = Conversation(start_us=START_US + 5 * SECOND)
    later.next = [500_000, 500_000]
    later.shake().exchange(request(1), reply(1))
    second: list[Packet] = []
    for port in range(41_000, 41_006):
        opened = Conversation(port=port, start_us=START_US + SECOND // 5)
        opened.next = [500_000, 500_000]
        second += [*opened.shake().packets, *conversation(1.003, port=port).close().packets]
    late = [(START_US + 3 * SECOND, packet) for _, packet in idle.packets[-1:]]
    first = merged([conversation(1).close(), idle])
    raw, tasks = tasks_of([first, [*sorted(second), *late], later.packets], tmp_path)
    found = same_rows(raw, tasks, tmp_path, 1, Options())
    assert (found.wholes, found.refuted) == (7, set())
