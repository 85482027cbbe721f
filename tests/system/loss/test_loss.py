"""Captures that lost, repeated or moved packets, and captures of a part: what is left whole is found, and nothing else.

The other side of the comparison is the same program on the untouched capture, which other tests hold against the broker's
log; which packets a message lies in is worked out by inject.py from the TCP headers.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import inject
import pytest
from effort import also_long, in_turn
from inject import Figures, Known
from paths import SAMPLES

NAMES = sorted(path.name for path in SAMPLES.glob("*.pcap.zst"))
LAB = ("shape_full.pcap.zst", "old_others.pcap", "groups_848.pcap", "sweep_39.pcap")
SEED = 20
GOAL = 0.99
_known: dict[Path, Known] = {}


def known(path: Path) -> Known:
    if path not in _known:
        _known[path] = inject.know(path)
    return _known[path]


def assert_found(path: Path, name: str) -> Figures:
    """Runs one injection, prints its figures, and holds them against the goal."""
    figures, analysis = inject.measure(known(path), inject.INJECTIONS[name], SEED)
    print(f"{path.name.split('.')[0]:16} {name:18} {figures}")
    assert not figures.invented, figures.invented[:5]
    assert figures.share >= GOAL, figures.missed[:5]
    assert figures.requests_found >= GOAL * figures.requests
    assert figures.replies_found >= GOAL * figures.replies, "those without their request"
    for row in analysis.connections:
        for side in ("client", "broker"):
            skipped = sum(size for column, size in row.items() if column.startswith(f"{side}_skipped_"))
            assert not row["is_kafka"] or row[f"{side}_stream_bytes"] == row[f"{side}_framed_bytes"] + skipped, row
    return figures


@pytest.mark.parametrize("file", NAMES)
def test_the_packets_of_every_message_are_known(file: str) -> None:
    """Else the figures would say little: the maps of inject.py hold what the program found in the untouched capture."""
    whole = known(SAMPLES / file)
    assert len(whole.expected) > 300
    assert whole.unmapped <= len(whole.expected) / 100


@pytest.mark.parametrize(("name", "file"), in_turn(inject.INJECTIONS, NAMES, every=len(NAMES)))
def test_sample(name: str, file: str) -> None:
    assert_found(SAMPLES / file, name)


@pytest.mark.parametrize(
    ("name", "file"), in_turn(["drop 1 %", "drop 5 %", "middle", "from brokers only"], LAB, every=4)
)
def test_lab_capture(name: str, file: str, shared: Path) -> None:
    assert_found(shared / "captures" / "lab" / file, name)


@pytest.mark.parametrize("name", also_long(["drop 5 %", "to brokers only"], ["drop 1 %"]))
def test_bare_tokens(name: str, shared: Path) -> None:
    """Where SASL tokens have no header, what is left of a login must not read as requests or replies. (Replies alone cannot
    be told from the tokens between them: that way is not asked for.)"""
    assert_found(shared / "captures" / "lab" / "sasl_old.pcap", name)


def test_every_lab_capture(shared: Path) -> None:
    """KANALYZE_LONG_LOSS=SEEDS: every injection with so many seeds on every capture that is complete. An hour and more."""
    seeds = int(os.environ.get("KANALYZE_LONG_LOSS", "0"))
    if not seeds:
        pytest.skip("long: set KANALYZE_LONG_LOSS to a number of seeds")
    sums: dict[str, Figures] = {}
    for path in complete_captures(shared / "captures" / "lab"):
        for name, injection in inject.INJECTIONS.items():
            for seed in range(1, seeds + 1):
                figures, _ = inject.measure(known(path), injection, seed)
                sums[name] = sums.get(name, Figures()) + figures
                assert not figures.invented, (path.name, name, seed, figures.invented[:5])
        del _known[path]
    for name, figures in sums.items():
        print(f"{name:18} {figures}")
        assert figures.share >= GOAL
        assert figures.requests_found >= GOAL * figures.requests
        assert figures.replies_found >= GOAL * figures.replies


def complete_captures(folder: Path) -> list[Path]:
    """Captures in one file without loss of their own, neither encrypted nor another form of `shape_full`."""
    files = (path for path in sorted(folder.iterdir()) if re.fullmatch(r"[^.]+\.pcap(\.zst)?", path.name))
    return [path for path in files if not re.match(r"shape_(?!full)|routed_|tls", path.name)]
