"""What guided fuzzing reached is run each time: a small set of inputs for each target, and that each reaches what it is for."""

from __future__ import annotations

import guided_targets
import pytest
from kinds import Broken
from paths import ROOT

CORPUS = ROOT / "tests" / "data" / "fuzz"
MOST_CORPUS_BYTES = 100_000


@pytest.mark.parametrize("name", guided_targets.TARGETS)
def test_kept_inputs_break_no_law(name: str) -> None:
    inputs = sorted((CORPUS / name).iterdir())
    assert inputs
    for path in inputs:
        guided_targets.run(name, path.read_bytes())


def test_the_corpus_stays_small() -> None:
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) <= MOST_CORPUS_BYTES


@pytest.mark.parametrize(
    ("name", "module", "data"), [("schemas", "parse", b"api A\n"), ("manifests", "checked", b"{}")]
)
def test_a_target_sees_what_breaks(name: str, module: str, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("no error of ours")

    monkeypatch.setattr(guided_targets, module, broken)
    with pytest.raises(ValueError, match="no error of ours"):
        guided_targets.run(name, data)


def test_a_pseudonym_of_another_length_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guided_targets.Pseudonyms, "_name", lambda _, name: name + b"x")
    with pytest.raises(Broken, match="another length"):
        guided_targets.run("pseudonyms", b"orders")


def test_pieces_of_a_conversation_are_read_out_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    monkeypatch.setattr(guided_targets._CONVERSATIONS, "check", found.extend)
    guided_targets.run("framing", bytes([0x80, 2]) + b"ab" + bytes([0x40 | 1]) + b"c" + bytes([0x80 | 9]))
    ((began, events),) = found
    assert began
    assert [event[1:4] for event in events] == [(0, b"ab", 2), (1, b"c", 1), (0, b"", 10)]
