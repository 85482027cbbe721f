"""One capture told in many ways: in blocks of any size, out of order, twice, in other segments. The exchanges stay."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import transform
from effort import also_long, in_turn, one_in
from kanalyze_process import COMMAND
from one_base import OF_THE_WAY
from paths import ROOT, SAMPLES
from program import Analyse, Analysis, Row
from transform import Packet

Change = Callable[[Sequence[Packet]], Iterable[Packet]]

# Where a frame lies in the file is the one thing that a rewritten file changes.
PLACES = {"request_packet", "response_packet", "request_file", "response_file"}
NAMES = ("throttle", "groups_classic", "ipv6", "old_java")
CHANGES: dict[str, Change] = {
    "shuffled each way": lambda packets: transform.shuffled_each_way(packets, seed=11),
    "shuffled": lambda packets: transform.shuffled(packets, seed=12),
    "doubled": transform.doubled,
    "sent again": transform.sent_again,
    "overlapping": lambda packets: transform.overlapping(packets, seed=13),
    "overlapping and shuffled": lambda packets: transform.shuffled_each_way(
        list(transform.overlapping(packets, seed=14)), seed=15
    ),
}


def told(found: Analysis) -> list[Row]:
    """The exchanges in an order of their own."""
    return sorted(found.exchanges, key=lambda row: row["exchange"])


def told_anywhere(found: Analysis) -> list[Row]:
    """The exchanges without their places in the file; a connection goes by its first exchange, not its first packet."""
    rows = told(found)
    first = {row["connection"]: row["exchange"] for row in reversed(rows)}
    kept = [{name: value for name, value in row.items() if name not in (*PLACES, *OF_THE_WAY)} for row in rows]
    return [{**row, "connection": first[row["connection"]]} for row in kept]


def sample(name: str) -> Path:
    return SAMPLES / f"{name}.pcap.zst"


# One in five: each capture in one size.
@pytest.mark.parametrize(("name", "block_bytes"), list(product(NAMES, (17, 4096, 65_537, 1 << 20)))[:: one_in(5)])
def test_in_blocks_of_any_size(name: str, block_bytes: int, analyse: Analyse) -> None:
    whole = analyse([sample(name)])
    assert told(analyse([sample(name)], block_bytes=block_bytes)) == told(whole)


def test_byte_by_byte(tmp_path: Path, analyse: Analyse) -> None:
    """The first packets of a sample, as a feed of one byte at a time costs a call each."""
    header, packets = transform.read_pcap(sample("ipv6"))
    start = transform.write_pcap(tmp_path / "start.pcap", header, packets[:150])
    whole = told(analyse([start]))
    assert whole
    assert told(analyse([start], block_bytes=1)) == whole


@pytest.mark.parametrize(("name", "change"), in_turn(NAMES, CHANGES, every=3))
def test_rewritten(name: str, change: str, tmp_path: Path, analyse: Analyse) -> None:
    header, packets = transform.read_pcap(sample(name))
    other = transform.write_pcap(tmp_path / "other.pcap", header, CHANGES[change](packets))
    assert differences(told_anywhere(analyse([sample(name)])), told_anywhere(analyse([other]))) == []


def differences(want: list[Row], got: list[Row]) -> list[Any]:
    """The first few columns that differ, so that a failure can be read."""
    found: list[Any] = [] if len(want) == len(got) else [("exchanges", len(want), len(got))]
    theirs = {row["exchange"]: row for row in got}
    for row in want:
        other = theirs.get(row["exchange"], {})
        found += [(row["exchange"], name, row[name], other.get(name)) for name in row if row[name] != other.get(name)]
    return found[:10]


def exported(capture: Path, **environment: str) -> list[dict[str, Any]]:
    """The exchanges as the command line prints them, from a process of its own."""
    done = subprocess.run(
        [*COMMAND, "export", str(capture), "--table", "exchanges", "--format", "jsonl"],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", also_long(["old_java"], ["sweep_43"]))
def test_compiled_or_not(name: str, analyse: Analyse) -> None:
    """The same files run as plain Python; and the command line tells what the tables hold."""
    plain = exported(sample(name), KANALYZE_UNCOMPILED="1")
    assert plain == exported(sample(name))
    assert len(plain) == len(analyse([sample(name)]).exchanges)
