"""Segments captured twice, connections captured at two points of their way, and SYNs that come late."""

from __future__ import annotations

import random

import pytest
from segment_rows import SYN, Conversation, Outcome, Segment, number_and_time, run

from dissectors import layout

PAIRS = {
    name: getattr(layout, f"PART_{name}") for name in ("PACKETS", "BYTES", "RETRANSMITTED", "DUPLICATES", "REORDERED")
}


def counts(out: Outcome, name: str, part: int = 0) -> tuple[int, int]:
    at = PAIRS[name]
    return out.parts[part][at], out.parts[part][at + 1]


def conversation() -> Conversation:
    """A handshake, three requests and replies, pure ACKs, and the end of both sides: 13 segments."""
    made = Conversation().shake()
    for n in range(3):
        made.c(10 * n, b"request %d." % n, ack=10 * n).b(10 * n, b"and reply!", ack=10 * (n + 1))
    made.c(30, ack=30)
    made.c(30, ack=30, flags=layout.TCP_FIN).b(30, ack=31, flags=layout.TCP_FIN).c(31, ack=31)
    return made


def copies(segments: list[Segment], **changes: int) -> list[Segment]:
    """The same packets again, as captured elsewhere; `time` is added to theirs."""
    again = []
    for one in segments:
        copy = Segment(one.src, one.dst, one.seq, one.ack, one.flags, one.data, one.captured, one.time, one.window)
        copy.ip_id = one.number if one.ip_id is None else one.ip_id
        copy.time += changes.get("time", 2_000)
        copy.interface = changes.get("interface", one.interface)
        copy.ttl = one.ttl + changes.get("ttl", 0) * (1 if one.src[2] == 40_000 else -1)
        again.append(copy)
    return again


def numbered(segments: list[Segment]) -> list[Segment]:
    for number, one in enumerate(segments, 1):
        if one.ip_id is None:
            one.ip_id = one.number
        one.number = number
    return segments


def mixed(first: list[Segment], second: list[Segment], run_length: int) -> list[Segment]:
    """Runs of the first capture, each followed by the same run of the second: buffers emptied in turn."""
    order: list[Segment] = []
    for at in range(0, len(first), run_length):
        order += first[at : at + run_length] + second[at : at + run_length]
    return numbered(order)


@pytest.mark.parametrize("run_length", [1, 2, 5, 100])
@pytest.mark.parametrize("interface", [0, 1])
def test_copies_count_as_duplicates_and_as_nothing_else(stage: str, run_length: int, interface: int) -> None:
    plain = run(number_and_time(conversation().segments, 100_000), stage=stage)
    once = number_and_time(conversation().segments, 100_000)
    out = run(mixed(once, copies(once, interface=interface), run_length), stage=stage)
    assert out.story() == plain.story()
    assert counts(out, "DUPLICATES") == counts(plain, "PACKETS") == (8, 5)
    for name in ("PACKETS", "BYTES", "RETRANSMITTED", "REORDERED"):
        assert counts(out, name) == counts(plain, name), name
    assert [event.time for event in out.events[0]] == [event.time for event in plain.events[0]]


def test_three_copies(stage: str) -> None:
    once = number_and_time(conversation().segments, 100_000)
    twice = mixed(once, copies(once), 1)
    out = run(numbered([*twice, *copies(once, time=4_000)]), stage=stage)
    assert sum(counts(out, "DUPLICATES")) == 2 * 13
    assert sum(counts(out, "PACKETS")) == 13


@pytest.mark.parametrize(
    ("ip_id", "interface", "time", "is_copy"),
    [
        (77, 0, 9_000_000, True),
        (77, 0, 11_000_000, False),  # ids come again
        (77, 1, 9_000_000, True),
        (-500, 0, 900_000, True),  # no id: an equal checksum, and too soon for a packet sent again
        (-500, 0, 2_000_000, False),
        (-500, 1, 9_000_000, True),  # another interface says it is a copy
        (-500, 1, 11_000_000, False),
        (layout.UNKNOWN, 0, 900_000, True),
        (layout.UNKNOWN, 0, 2_000_000, False),
    ],
)
def test_what_tells_a_copy_from_a_retransmission(
    stage: str, ip_id: int, interface: int, time: int, is_copy: bool
) -> None:
    made = Conversation().shake().c(0, b"request").segments
    number_and_time(made, 100_000)
    made[-1].ip_id = ip_id
    out = run(numbered([*made, *copies(made[-1:], interface=interface, time=time)]), stage=stage)
    assert counts(out, "DUPLICATES") == (int(is_copy), 0)
    assert counts(out, "RETRANSMITTED") == (int(not is_copy), 0)
    assert counts(out, "PACKETS") == (4 - is_copy, 1)


@pytest.mark.parametrize(("ip_id", "interface", "copies_found"), [(-500, 0, 0), (77, 0, 1), (-500, 1, 1)])
def test_equal_resets_of_a_closed_socket_are_no_copies(
    stage: str, ip_id: int, interface: int, copies_found: int
) -> None:
    made = number_and_time(Conversation().shake().c(0, b"request").b(0, flags=layout.TCP_RST).segments, 100_000)
    made[-1].ip_id = ip_id
    out = run(numbered([*made, *copies(made[-1:], interface=interface, time=100_000)]), stage=stage)
    assert counts(out, "DUPLICATES") == (0, copies_found)


def test_a_retransmission_has_another_id_or_another_checksum(stage: str) -> None:
    for one, other in ((77, 78), (-500, -501)):
        made = number_and_time(Conversation().shake().c(0, b"request").segments, 100_000)
        made[-1].ip_id = one
        again = copies(made[-1:])
        again[0].ip_id = other
        out = run(numbered([*made, *again]), stage=stage)
        assert counts(out, "DUPLICATES") == (0, 0)
        assert counts(out, "RETRANSMITTED") == (1, 0)


def test_copies_are_found_whatever_the_batches(stage: str) -> None:
    """The first copy may have come many batches earlier, and the search does not go further because it is in this one."""
    rng = random.Random(5)
    once = number_and_time(conversation().segments, 300_000)
    order = mixed(once, copies(once), 13)
    for _ in range(200):  # other traffic between
        order.insert(
            rng.randrange(13, len(order)),
            Conversation(client=(0, 9, rng.randrange(9))).c(0, time=order[-1].time).segments[0],
        )
    numbered(order)
    whole = run(order, stage=stage)
    for batch in (1, 7, 64):
        assert run(order, batch=batch, chunk_rows=8, stage=stage) == whole
    assert sum(sum(counts(whole, "DUPLICATES", part)) for part in whole.parts) >= 13


def test_the_search_ends_after_4096_segments(stage: str) -> None:
    made = number_and_time(Conversation().shake().c(0, b"request").segments, 1_000)
    for others, found in ((4_095, 1), (4_096, 0)):
        noise = Conversation(client=(0, 9, 9), broker=(0, 8, 8))
        for n in range(others):
            noise.c(n, b"x", time=made[-1].time + 1)
        out = run(numbered([*made, *noise.segments, *copies(made[-1:])]), stage=stage, max_connections=9)
        assert counts(out, "DUPLICATES") == (found, 0)


def views(out: Outcome) -> dict[int, list[object]]:
    return {out.parts[part][layout.PART_VIEW]: out.story(part) for part in out.parts}


@pytest.mark.parametrize("later", [25_000, 40_000_000, -25_000])
@pytest.mark.parametrize("mid_flight", [False, True])
def test_two_inputs_around_a_router_are_two_parts(stage: str, later: int, mid_flight: bool) -> None:
    """Whatever lies between their clocks: the input tells them apart, as the TTL does."""
    made = conversation().segments[3:] if mid_flight else conversation().segments
    near = number_and_time(made, 100_000)
    far = copies(near, time=later, interface=1 << 20, ttl=-1)
    alone = [run(numbered(copies(segments, time=0)), stage=stage) for segments in (near, far)]
    both = sorted([*near, *far], key=lambda one: one.time)
    out = run(numbered(both), stage=stage)
    assert len(out.parts) == 2
    for part, row in out.parts.items():
        point = row[layout.PART_ORIGIN] >> 20
        assert out.story(part) == alone[point].story()
        assert [event.time for event in out.events[part]] == [event.time for event in alone[point].events[0]]
        assert counts(out, "DUPLICATES", part) == (0, 0)
        for name in ("PACKETS", "BYTES", "RETRANSMITTED", "REORDERED"):
            assert counts(out, name, part) == counts(alone[point], name)
    assert sorted(row[layout.PART_VIEW] for row in out.parts.values()) == [0, 1]


def test_flows_of_two_views_have_ids_of_their_own(stage: str) -> None:
    near = number_and_time(conversation().segments, 100_000)
    out = run(mixed(near, copies(near, interface=1, ttl=-1), 1), stage=stage)
    flows = [next(event.seq for event in out.events[part]) for part in out.parts]
    assert len(set(flows)) == 2


def test_a_router_captured_on_all_its_interfaces_at_once(stage: str) -> None:
    """`-i any` says nothing of interfaces: a copy with another TTL gives the second point away. Requests leave one hop
    later than they came, and replies come one hop earlier: who saw the request last sees the reply first."""
    once = number_and_time(conversation().segments, 100_000)
    order: list[Segment] = []
    for one, other in zip(once, copies(once, ttl=-1), strict=True):
        first, second = (one, other) if one.src[2] == 40_000 else (other, one)
        second.time = first.time + 2_000
        order += [first, second]
    out = run(numbered(order), stage=stage)
    plain = run(number_and_time(conversation().segments, 100_000), stage=stage)
    assert views(out) == {0: plain.story(), 1: plain.story()}
    assert sorted(row[layout.PART_POINT] for row in out.parts.values()) == [0, 1]
    assert all(counts(out, "RETRANSMITTED", part) == (0, 0) for part in out.parts)


def test_a_change_of_the_way_is_no_second_point(stage: str) -> None:
    made = number_and_time(conversation().segments, 100_000)
    for n, one in enumerate(made):
        one.ttl = 64 - n % 3
    out = run(made, stage=stage)
    assert len(out.parts) == 1
    assert counts(out, "PACKETS") == (8, 5)


def test_each_direction_on_an_interface_of_its_own_is_one_part(stage: str) -> None:
    made = number_and_time(conversation().segments, 100_000)
    for one in made:
        one.interface, one.ttl = (0, 64) if one.src[2] == 40_000 else (1 << 20, 61)
    assert len(run(made, stage=stage).parts) == 1


def test_a_tuple_used_again_keeps_its_views(stage: str) -> None:
    first = conversation().segments
    again = Conversation(client_start=900_000, broker_start=70_000_000).shake().c(0, b"second").segments
    near = number_and_time(first + again, 100_000)
    out = run(mixed(near, copies(near, interface=1, ttl=-1), 1), stage=stage)
    assert sorted(row[layout.PART_VIEW] for row in out.parts.values()) == [0, 0, 1, 1]


# ---- SYNs that come late ----


@pytest.mark.parametrize("behind", [1, 2, 5, 20])
@pytest.mark.parametrize("lost", [0, 7])
def test_a_late_syn_belongs_to_its_own_connection(stage: str, behind: int, lost: int) -> None:
    """Behind its bytes, even when the first of them are missing from the capture."""
    made = Conversation().c(lost, b"request that came first", ack=0).b(0, b"reply", ack=lost + 23)
    for n in range(20):
        made.c(lost + 23 + n, b".", ack=5)
    made.segments.insert(behind, Conversation().c(-1, ack=None, flags=SYN).segments[0])
    out = made.run(stage=stage)
    assert len(out.parts) == 1
    assert out.stream(0) in (
        b"request that came first" + b"." * 20,
        b"?" * lost + b"request that came first" + b"." * 20,
    )
    assert out.stream(1) == b"reply"


def test_an_old_syn_again_changes_nothing(stage: str) -> None:
    made = conversation()
    made.segments[7:7] = Conversation().c(-1, ack=None, flags=SYN).b(-1, flags=SYN).segments
    out = made.run(stage=stage)
    assert len(out.parts) == 1
    assert out.story() == conversation().run(stage=stage).story()


def test_a_new_syn_is_another_connection(stage: str) -> None:
    """The numbers of a connection that follows at once lie elsewhere, as RFC 9293 wants."""
    made = Conversation().c(0, b"met in mid-flight", ack=0).idle(200)
    made.segments += Conversation(client_start=4_000_000_000).shake().c(0, b"next").segments
    out = made.run(stage=stage)
    assert len(out.parts) == 2
