"""Seeds of the lab: what they draw, and captures that lack packets."""

from __future__ import annotations

import struct

import pytest

from lab.score import names
from lab.seeds.__main__ import KINDS
from lab.seeds.causes import CAUSES, draw
from lab.seeds.thin import thinned

_ROUNDS = 4
_SEEDS = range(len(CAUSES) * _ROUNDS)


def test_a_seed_means_the_same_every_time() -> None:
    assert [draw(seed) for seed in _SEEDS] == [draw(seed) for seed in _SEEDS]


@pytest.mark.parametrize("number", range(_ROUNDS))
def test_each_round_has_each_cause_once(number: int) -> None:
    drawn = [draw(number * len(CAUSES) + at).cause for at in range(len(CAUSES))]
    assert sorted(drawn) == sorted(CAUSES)


def test_rounds_and_seeds_differ() -> None:
    drawn = [draw(seed) for seed in _SEEDS]
    for name in ("library", "version", "place", "at_client", "late", "snap", "lost"):
        assert len({getattr(each, name) for each in drawn}) > 1, name
    assert [each.cause for each in drawn[: len(CAUSES)]] != [
        each.cause for each in drawn[len(CAUSES) : 2 * len(CAUSES)]
    ]


def test_strengths_stay_in_their_bounds() -> None:
    for each in map(draw, _SEEDS):
        assert CAUSES[each.cause].weakest <= each.strength <= CAUSES[each.cause].strongest


def test_some_of_what_is_swept_lies_below_what_must_be_told() -> None:
    for each in CAUSES.values():
        assert each.least < each.strongest, each.name


def test_every_kind_has_causes() -> None:
    homes = {each.do.__module__ for each in CAUSES.values()}
    assert homes == {kind.__name__ for kind in KINDS}


def test_no_seed_names_another() -> None:
    """A topic of a seed is no word of another's, so that a subject cannot be named by chance."""
    topics = [draw(seed).topic for seed in _SEEDS]
    assert not any(names(topic, other) for topic in topics[:40] for other in topics if topic != other)


@pytest.mark.parametrize(("lost", "least", "most"), [(0.0, 1000, 1000), (0.1, 850, 950), (1.0, 0, 0)])
def test_a_thinned_capture_has_whole_packets(lost: float, least: int, most: int) -> None:
    packets = [struct.pack("<IIII", at, 0, at % 7, at % 7) + bytes(at % 7) for at in range(1000)]
    data = b"H" * 24 + b"".join(packets)
    got = thinned(data, lost, seed=1)
    left, count = got[24:], 0
    for packet in packets:
        if left.startswith(packet):
            left, count = left[len(packet) :], count + 1
    assert (got[:24], left) == (b"H" * 24, b"")
    assert least <= count <= most
