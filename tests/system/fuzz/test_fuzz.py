"""Damaged inputs of every kind for a few seconds, those that once broke something, and the fuzzer itself.

`make fuzz` goes on for as long as one likes, `make fuzz-asan` does so with stages that are watched by AddressSanitizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import fuzz
import kinds
import material
import pytest
from effort import LONG
from kind_captures import Captures

SECONDS = 60.0 if LONG else 4.0
MOST_MEMORY_BYTES = 300 << 20  # more than when the run began
KEPT = sorted(material.CORPUS.glob("*.json"))


def test_no_damaged_input_breaks_a_law() -> None:
    fuzzer = fuzz.Fuzzer(list(fuzz.KINDS), None)
    fuzzer.go(2, None, 1 << 20)
    before = fuzz.peak_bytes()
    tally = fuzzer.go(SECONDS - 2, None, 0)
    print(*tally.lines(), sep="\n")
    assert not tally.failures, tally.failures[0]
    assert all(tally.inputs.values()), tally.inputs
    assert fuzz.peak_bytes() - before < MOST_MEMORY_BYTES


@pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])
def test_what_once_broke_a_law_breaks_none_now(path: Path) -> None:
    fuzz.replay(path)


class Fragile:
    """A kind that cannot bear the number 7."""

    name = "fragile"
    round_inputs = 5

    def make(self, chance: Random) -> tuple[int, bytes]:
        return chance.randrange(10), b"\x00\xff"

    def check(self, inputs: Sequence[Any]) -> None:
        for number, data in inputs:
            kinds.law(number != 7 and data == b"\x00\xff", "seven")


def test_what_breaks_is_kept_alone_and_breaks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fuzz.KINDS, "fragile", (Fragile, 1.0))
    fuzzer = fuzz.Fuzzer(["fragile"], tmp_path)
    tally = fuzzer.go(10, 100, 3)
    assert tally.total == 100
    assert tally.failures
    for path in tmp_path.glob("*.json"):
        name, inputs = kinds.load(path)
        assert name == "fragile"
        assert inputs == [(7, b"\x00\xff")]
        with pytest.raises(kinds.Broken, match="seven"):
            fuzz.replay(path)
    assert len(list(tmp_path.glob("*.json"))) == len(tally.failures)
    assert (tmp_path / "running").read_text().startswith("fragile:")


def test_a_round_depends_on_its_seed_only() -> None:
    for name, (kind, _) in fuzz.KINDS.items():
        one, other = kind(), kind()
        first = [one.make(Random(f"{name} {seed}")) for seed in range(20)]
        assert first[::-1] == [other.make(Random(f"{name} {seed}")) for seed in range(19, -1, -1)], name
        assert len({repr(each) for each in first}) > 15, name


def test_kept_inputs_come_back_as_they_were() -> None:
    for name, (kind, _) in fuzz.KINDS.items():
        made = kind().make(Random(name))
        assert kinds.from_json(kinds.to_json(made)) == made, name


def test_most_captures_are_still_captures() -> None:
    """A mutator that breaks everything at once tests nothing but the first check."""
    chance, maker = Random(1), Captures()
    opened = sum(maker.make(chance)[:4] in material.MAGICS for _ in range(200))
    assert opened > 150
