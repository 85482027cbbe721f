"""Every verb in every format on hostile files: no exit code 70, no law broken, memory within its limit.

`make test` takes a part of the pairs, each file and each command line at least once; with KANALYZE_LONG all of them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import hostile
import hostile_apart
import pytest
import verb_runs
from effort import LONG, one_in

# Of files that differ by a seed or a resolution only, `make test` takes two or three.
ALIKE = re.compile(r"(mutated|messages)_([2-9]|1\d)$|resolution_(0|18|63|128|138|191|192)$")
NAMES = [name for name in hostile.CASES if LONG or not ALIKE.search(name)]
EVERY = one_in(len(verb_runs.LINES))
GROUPS = 6


@pytest.mark.parametrize("group", range(GROUPS))
def test_no_verb_breaks_a_law_on_a_hostile_file(tmp_path: Path, group: int) -> None:
    numbers = range(group, len(NAMES), GROUPS)
    asked = {NAMES[number]: hostile.chosen(verb_runs.LINES, number, EVERY) for number in numbers}
    for name, done, problem in hostile_apart.runs_of(asked, tmp_path):
        assert problem is None, (name, done.line, problem)


def test_each_line_is_asked_of_some_file() -> None:
    asked = {line for number in range(len(NAMES)) for line in hostile.chosen(verb_runs.LINES, number, EVERY)}
    assert asked == set(verb_runs.LINES) and len(NAMES) > 150


@pytest.mark.parametrize("name", ["ng_simple_packets", "ng_offset_last", "ng_times_last"])
def test_packets_without_a_time_end_no_verb(tmp_path: Path, name: str) -> None:
    lines = [
        "errors --format table --every 1h --by client", "readiness --format table --part versions",
        "groups --format table --part timeline", "report",
    ]  # fmt: skip
    for done, problem in hostile_apart.runs(name, lines, tmp_path):
        assert problem is None and done.code == 0, (done.line, done.err, problem)


def test_two_million_names_are_shown_as_far_as_there_is_room(tmp_path: Path) -> None:
    """4 MB that took 1.6 GB: now what is left out is said, in the line and on stderr."""
    lines = ["dump", f"show --format json {verb_runs.CAPTURE} {verb_runs.EXCHANGE}"]
    for done, problem in hostile_apart.runs("metadata_of_empty_names", lines, tmp_path, 4_000_000):
        assert problem is None and done.code == 0, (done.line, done.err, problem)
        row = next(row for row in map(json.loads, done.out.splitlines()) if row["request_bytes"] > 1_000_000)
        kept = len(row["request"]["topics"])
        assert row["request_left_out_bytes"] == pytest.approx(2 * (2_000_000 - kept), abs=4) and kept > 100_000
        assert "left_out_bytes" in done.err


@pytest.mark.parametrize("name", ["time_a_year_apart", "time_to_and_fro", "ng_times_last"])
def test_wild_times_overflow_in_no_rule(tmp_path: Path, name: str) -> None:
    """Differences of decades, which no number of 64 bits holds five times."""
    for done, problem in hostile_apart.runs(name, ["findings --format jsonl"], tmp_path):
        assert problem is None and done.code == 0, (done.line, done.err, problem)
