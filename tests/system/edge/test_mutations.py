"""The same conversations after everything that networks, hosts and capture programs do to packets: the rows are the base's."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from capture_tools import read_capture
from effort import one_in
from mutation_table import MUTATIONS, Mutation, nanoseconds
from mutations import plain, segments
from one_base import Row, rows_in, rows_of, tshark_counts
from program import run_kanalyze

from dissectors import layout

DEFRAGMENT = ("-o", "ip.defragment:TRUE", "-o", "ipv6.defragment:TRUE")
PLACES = ("request_packet", "response_packet")
SOME = [row for row in MUTATIONS if "garbage" in row.name or "checksums" in row.name]
SOME += [row for row in MUTATIONS if row not in SOME][:: one_in(9)]


def without(rows: Iterable[Row], names: Iterable[str]) -> list[str]:
    return sorted(str([(name, value) for name, value in row.items() if name not in names]) for row in rows)


def written(path: Path, row: Mutation) -> Path:
    path.write_bytes((row.write or nanoseconds)(row.make()))
    return path


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    path = tmp_path_factory.mktemp("base") / "base.pcap"
    path.write_bytes(nanoseconds(plain(segments())))
    rows = rows_of(path)
    assert len(rows) > 200
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("row", SOME, ids=lambda row: row.name)
def test_the_rows_are_those_of_the_base(row: Mutation, expected: list[Row], tmp_path: Path) -> None:
    path = written(tmp_path / "base.pcap", row)
    names = (*PLACES, *row.changes)
    times = 2 if row.name == "ports used again" else 1
    found = run_kanalyze([path])
    assert without(rows_in(found), names) == sorted(times * without(expected, names))
    assert sum(each["client_damaged"] + each["broker_damaged"] for each in found.connections) == row.damaged


@pytest.mark.slow
@pytest.mark.parametrize("row", SOME[:: one_in(4)], ids=lambda row: row.name)
def test_tshark_finds_the_same_segments(row: Mutation, tmp_path: Path) -> None:
    path = written(tmp_path / "base.pcap", row)
    ours = read_capture(path.read_bytes())
    assert len(ours.segments) == tshark_counts(path, *DEFRAGMENT).segments
    assert sum(ours.stage.outcomes()) == ours.stage.outcomes()[layout.SEEN_TCP]
