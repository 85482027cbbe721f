"""Connections whose directions have tags of their own, or that were captured at two points, cut into tasks anywhere.

KANALYZE_CUTS: how many cuts of each capture, from seed KANALYZE_SEED (0) on.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from effort import also_long, one_in
from one_base import base
from tagged_captures import SEEN_TWICE, TAGGED, Frame, capture, stretched
from test_tasks_cut_anywhere import CUTS, SEED, compare
from translated_captures import PROXIES, TRANSLATED, passing


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", also_long(["vlan_of_requests_only"], ["vni_of_the_sender", "vlan_that_changes", "vlan_by_turns"])
)
def test_tagged_captures(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = [Frame(TAGGED[name](packet, n), stretched(packet)) for n, packet in enumerate(base())]
    raw = capture(tmp_path / "base.pcap", frames).read_bytes()
    for seed in range(SEED, SEED + -(-CUTS // one_in(3))):
        compare(raw, tmp_path / str(seed), seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", also_long(["plain_and_vxlan_each_way"], ["two_tunnels", "two_vlans_around_a_router"]))
def test_captures_of_two_points(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story, _ = SEEN_TWICE[name]
    frames = [frame for n, packet in enumerate(base()) for frame in story(packet, n)]
    raw = capture(tmp_path / "base.pcap", frames).read_bytes()
    for seed in range(SEED, SEED + -(-CUTS // one_in(3))):
        compare(raw, tmp_path / str(seed), seed, monkeypatch, apart=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", also_long(["both", "two_proxies"], ["dnat", "in_two_steps", "proxy"]))
def test_captures_of_both_sides_of_a_router_or_proxy(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = capture(tmp_path / "base.pcap", passing({**TRANSLATED, **PROXIES}[name], 20_000)).read_bytes()
    for seed in range(SEED, SEED + -(-CUTS // one_in(3))):
        compare(raw, tmp_path / str(seed), seed, monkeypatch, apart=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", also_long(["two_vlans_around_a_router"], ["plain_and_vxlan_each_way"]))
def test_captures_of_two_points_out_of_order(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each point has a thread that writes what it has collected, one after the other."""
    story, _ = SEEN_TWICE[name]
    frames = [frame for n, packet in enumerate(base()) for frame in story(packet, n)]
    for seed in range(SEED, SEED + -(-CUTS // one_in(3))):
        chance = Random(seed)
        by_turns: list[Frame] = []
        rest = frames
        while rest:
            count = 2 * chance.randint(1, 40)
            by_turns += rest[:count:2] + rest[1:count:2]
            rest = rest[count:]
        raw = capture(tmp_path / "base.pcap", by_turns).read_bytes()
        compare(raw, tmp_path / str(seed), seed, monkeypatch)
