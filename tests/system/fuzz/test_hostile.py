"""Every verb in every format on hostile files: no exit code 70, no law broken, memory within its limit.

`make test` reads every file once, and asks every line, each in one of its formats; with KANALYZE_LONG all of all.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import hostile
import hostile_apart
import pytest
import verb_runs
from effort import LONG

# Of files that differ by a seed or a resolution only, `make test` takes two or three.
ALIKE = re.compile(r"(mutated|messages)_([2-9]|1\d)$|resolution_(0|18|63|128|138|191|192)$")
NAMES = [name for name in hostile.CASES if LONG or not ALIKE.search(name)]
# The files before this one are no captures, or have no packet: of them all lines say the same.
FIRST_WITH_PACKETS = "big_endian"
# It takes as much of SQL as is needed to see that a file was read, and says what was wrong with it.
PROBLEMS = "export --table problems --format jsonl"
GROUPS = 4


def forms() -> dict[str, list[str]]:
    """Command line without its format -> the line in each of its formats."""
    found: dict[str, list[str]] = {}
    for line in verb_runs.LINES:
        found.setdefault(re.sub(r" --format \w+", "", line), []).append(line)
    return found


def asked() -> dict[str, list[str]]:
    """The lines that each file is given: every file one, and every line in one format, which take turns."""
    if LONG:
        return {name: list(verb_runs.LINES) for name in NAMES}
    lines = [each[place % len(each)] for place, each in enumerate(forms().values())]
    found: dict[str, list[str]] = {name: [] for name in NAMES}
    captures = NAMES[NAMES.index(FIRST_WITH_PACKETS) :]
    for place, line in enumerate(lines):
        found[captures[place * len(captures) // len(lines)]].append(line)
    return {name: of_file or [PROBLEMS] for name, of_file in found.items()}


@pytest.mark.parametrize("group", range(GROUPS))
def test_no_verb_breaks_a_law_on_a_hostile_file(tmp_path: Path, group: int) -> None:
    of_group = dict(list(asked().items())[group::GROUPS])
    for name, done, problem in hostile_apart.runs_of(of_group, tmp_path):
        assert problem is None, (name, done.line, problem)


def test_each_line_is_asked_of_some_file() -> None:
    lines = {line for of_file in asked().values() for line in of_file}
    assert all(lines.intersection(each) for each in forms().values())
    for form in verb_runs.TABULAR:
        assert sum(f"--format {form}" in line for line in lines) > 5, form
    assert len(asked()) > 150


# Of times that no clock tells, or that lie decades apart: differences which no number of 64 bits holds five times.
TIMELESS = ("ng_simple_packets", "ng_offset_last", "ng_times_last")
WILD = ("time_a_year_apart", "time_to_and_fro", "ng_times_last")
OF_TIMES = (
    "errors --format table --every 1h --by client", "groups --format table --part timeline",
    "readiness --format table --part versions", "report",
)  # fmt: skip


def test_packets_without_a_time_and_wild_times_end_no_verb(tmp_path: Path) -> None:
    """Each file is asked two of the lines about times, with KANALYZE_LONG all; rules are asked about the wild ones."""
    given: dict[str, list[str]] = {
        name: [*(OF_TIMES if LONG else (OF_TIMES[place], OF_TIMES[-1 - place]))] for place, name in enumerate(TIMELESS)
    }
    for name in WILD:
        given.setdefault(name, []).append("findings --format jsonl")
    for name, done, problem in hostile_apart.runs_of(given, tmp_path):
        assert problem is None and done.code == 0, (name, done.line, done.err, problem)


def test_a_million_names_are_shown_as_far_as_there_is_room(tmp_path: Path) -> None:
    """2 MB that took 800 MB: now what is left out is said, in the line and on stderr."""
    names = 1_000_000
    lines = ["dump", f"show --format json {verb_runs.CAPTURE} {verb_runs.EXCHANGE}"]
    for done, problem in hostile_apart.runs("metadata_of_empty_names", lines, tmp_path, 2 * names):
        assert problem is None and done.code == 0, (done.line, done.err, problem)
        row = next(row for row in map(json.loads, done.out.splitlines()) if row["request_bytes"] > 1_000_000)
        kept = len(row["request"]["topics"])
        assert row["request_left_out_bytes"] == pytest.approx(2 * (names - kept), abs=4) and kept > 100_000
        assert "left_out_bytes" in done.err
