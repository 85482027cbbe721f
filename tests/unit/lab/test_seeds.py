"""Seeds of the lab: what they draw, and captures that lack packets."""

from __future__ import annotations

import struct

import pytest

from lab.seeds import HEALTHY, STRENGTHS, draw, thinned

_SEEDS = range(1, 201)


def test_a_seed_means_the_same_every_time() -> None:
    assert [draw(seed) for seed in _SEEDS] == [draw(seed) for seed in _SEEDS]


def test_seeds_differ() -> None:
    drawn = [draw(seed) for seed in _SEEDS]
    assert {each.cause for each in drawn} == set(STRENGTHS)
    for name in ("library", "version", "brokers", "at_client", "snap", "lost"):
        assert len({getattr(each, name) for each in drawn}) > 1, name


@pytest.mark.parametrize("cause", [cause for cause in STRENGTHS if cause != HEALTHY])
def test_strengths_stay_in_their_bounds(cause: str) -> None:
    weakest, strongest, least, most = STRENGTHS[cause]
    drawn = [draw(seed) for seed in _SEEDS if draw(seed).cause == cause]
    assert all(weakest <= each.strength <= strongest for each in drawn)
    assert all(each.above == (least <= each.strength <= most) for each in drawn)


def test_nothing_must_be_told_of_a_healthy_day() -> None:
    assert not any(draw(seed).above for seed in _SEEDS if draw(seed).cause == HEALTHY)


def test_the_first_broker_is_left_alone() -> None:
    """It is the controller too."""
    assert all(2 <= draw(seed).place <= draw(seed).brokers for seed in _SEEDS)


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
