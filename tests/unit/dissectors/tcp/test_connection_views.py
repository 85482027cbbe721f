"""One 4-tuple in several scopes (VLANs, tunnels): one connection, several views of one, or connections of several networks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from segment_rows import SYN, Conversation, Outcome, Segment, number_and_time, run
from test_reassembly_duplicates import conversation, copies, counts, mixed, numbered

from dissectors import layout

# What the scope of the n-th packet is, from the client or not, as tunnels and mirrors do it.
TAGS: dict[str, Callable[[bool, int], int]] = {
    "one tag": lambda *_: 5,
    "a tag each way": lambda is_request, _: 5 if is_request else 6,
    "a tag one way only": lambda is_request, _: 5 if is_request else 0,
    "a tag the other way only": lambda is_request, _: 0 if is_request else 6,
    "another tag for each packet": lambda _, n: n % 3,
    "another tag after some packets": lambda _, n: 5 if n < 7 else 6,
}


def connections(out: Outcome) -> list[tuple[int, int]]:
    """(network, view) of each part."""
    return sorted((row[layout.PART_NETWORK], row[layout.PART_VIEW]) for row in out.parts.values())


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("begin", [0, 1, 2, 3, 4])
def test_a_tag_does_not_split_a_conversation(stage: str, tag: str, begin: int) -> None:
    """Wherever the capture begins: in the handshake or behind it."""
    made = number_and_time(conversation().segments, 100_000)[begin:]
    plain = run(numbered(made), stage=stage)
    for n, one in enumerate(made):
        one.scope = TAGS[tag](one.src[2] == 40_000, n)
    out = run(made, stage=stage)
    assert connections(out) == [(0, 0)]
    assert out.story() == plain.story()
    for name in ("PACKETS", "BYTES", "RETRANSMITTED", "DUPLICATES"):
        assert counts(out, name) == counts(plain, name), name


def test_a_packet_sent_again_with_another_tag_is_a_retransmission(stage: str) -> None:
    made = number_and_time(conversation().segments, 100_000)
    again = copies(made[5:6], time=300_000_000)
    again[0].ip_id, again[0].scope = 999, 5
    out = run(numbered([*made[:6], *again, *made[6:]]), stage=stage)
    assert connections(out) == [(0, 0)]
    assert sum(counts(out, "RETRANSMITTED")) == 1


@pytest.mark.parametrize("run_length", [1, 3, 8])
@pytest.mark.parametrize("begin", [0, 3])
def test_two_networks_with_the_same_addresses(stage: str, run_length: int, begin: int) -> None:
    """Alive at the same time, with sequence numbers that cannot be of one stream."""
    one = number_and_time(conversation().segments, 100_000)[begin:]
    other = Conversation(client_start=2_000_000_000, broker_start=3_000_000_000).shake()
    for n in range(4):
        other.c(8 * n, b"question", ack=6 * n).b(6 * n, b"answer", ack=8 * (n + 1))
    two = number_and_time(other.segments, 100_000)[begin:]
    alone = [run(numbered(copies(segments, time=0)), stage=stage) for segments in (one, two)]
    for segment in two:
        segment.scope = 5 if segment.src[2] == 40_000 else 6
    out = run(mixed(one, two, run_length), stage=stage)
    assert connections(out) == [(0, 0), (1, 0)]
    assert [out.story(part) for part in out.parts] == [whole.story() for whole in alone]
    flows = [next(event.seq for event in out.events[part]) for part in out.parts]
    assert len(set(flows)) == 2


@pytest.mark.parametrize("run_length", [1, 2, 5])
@pytest.mark.parametrize("begin", [0, 3])
@pytest.mark.parametrize("inner", [(5, 5), (5, 6)])
def test_the_same_packets_plain_and_in_a_tunnel(
    stage: str, run_length: int, begin: int, inner: tuple[int, int]
) -> None:
    """Two views of one connection, each with all its bytes: a node sees packets plain and in VXLAN."""
    once = number_and_time(conversation().segments, 100_000)[begin:]
    plain = run(numbered(copies(once, time=0)), stage=stage)
    other = copies(once)
    for one in other:
        one.scope = inner[0] if one.src[2] == 40_000 else inner[1]
    out = run(mixed(once, other, run_length), stage=stage)
    assert connections(out) == [(0, 0), (0, 1)]
    for part in out.parts:
        assert out.story(part) == plain.story()
        for name in ("PACKETS", "BYTES", "RETRANSMITTED", "DUPLICATES"):
            assert counts(out, name, part) == counts(plain, name), name


@pytest.mark.parametrize("later", [2_000, 40_000_000, 900_000_000])
def test_two_vlans_around_a_router(stage: str, later: int) -> None:
    """Captured on one interface: the tag and a TTL less tell the points apart, the first copy of a packet gives them away."""
    near = number_and_time(conversation().segments, 100_000)
    far = copies(near, time=later, ttl=-1)
    for segments, scope in ((near, 5), (far, 6)):
        for one in segments:
            one.scope = scope
    out = run(numbered(sorted([*near, *far], key=lambda one: one.time)), stage=stage)
    assert connections(out) == [(0, 0), (0, 1)]
    plain = run(number_and_time(conversation().segments, 100_000), stage=stage)
    assert [out.story(part) for part in out.parts] == [plain.story()] * 2


def test_clocks_seconds_apart_make_no_retransmissions(stage: str) -> None:
    """Two inputs in two VLANs, one of which is 5 s late."""
    near = number_and_time(conversation().segments, 100_000)
    far = copies(near, time=5_000_000_000, interface=1 << 20, ttl=-1)
    for one in far:
        one.scope = 6
    out = run(numbered([*near[:-4], *far]), stage=stage)
    assert connections(out) == [(0, 0), (0, 1)]
    assert all(counts(out, "RETRANSMITTED", part) == (0, 0) for part in out.parts)


def test_a_tuple_used_again_with_another_tag(stage: str) -> None:
    """A new connection of the same network: the one before it has ended."""
    again = Conversation(client_start=900_000, broker_start=70_000_000).shake().c(0, b"second")
    for one in again.segments:
        one.scope = 5
    out = run(number_and_time(conversation().segments + again.segments, 100_000), stage=stage)
    assert connections(out) == [(0, 0), (0, 0)]


@pytest.mark.parametrize("old_view", [0, 1])
def test_a_full_output_does_not_choose_another_view(stage: str, old_view: int) -> None:
    """One view of two begins anew, and the output is full as its old slot goes: it stays that view, and the other goes on."""
    once = number_and_time(conversation().segments[:-3], 100_000)
    twice = copies(once)
    again = number_and_time(Conversation(client_start=900_000_000, broker_start=70_000_000).shake().segments)
    for one in [*twice, *(again if old_view else [])]:
        one.scope = 5
    made = mixed(once, twice, 1) + again
    roomy = run(numbered(made), stage=stage)
    assert connections(roomy) == sorted([(0, 0), (0, 1), (0, old_view)])
    for rows in range(4, 20):
        assert run(made, stage=stage, chunk_rows=rows).parts == roomy.parts, rows


def test_a_scan_of_many_networks_stays_cheap(stage: str) -> None:
    """A SYN with other numbers in each of 300 scopes: a connection each, none joined to another."""
    segments = []
    for n in range(300):
        one = Segment((0, 7, 40_000), (0, 8, 9092), 10_000_000 * n, flags=SYN, scope=n)
        segments.append(one)
    out = run(number_and_time(segments), stage=stage)
    assert connections(out) == [(n, 0) for n in range(300)]
