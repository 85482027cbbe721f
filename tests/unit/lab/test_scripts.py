"""Each script of the lab says what it does, is in the table of `lab/README.md`, and has its capture."""

from __future__ import annotations

import pytest
from paths import ROOT

from lab.score import DATA, truths
from lab.scripts import scripts

_SCRIPTS = scripts()
_README = (ROOT / "lab" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", _SCRIPTS)
def test_a_script_is_in_the_table_and_has_a_capture(name: str) -> None:
    script = _SCRIPTS[name]
    assert script.sentence.endswith(".")
    assert f"| `{name}` | {script.sentence} |" in _README
    for end in (".pcap.zst", ".json", ".requests.tsv.zst"):
        assert (DATA / f"{name}{end}").exists()


def test_each_capture_has_its_script() -> None:
    assert {truth["script"] for truth in truths().values()} <= set(_SCRIPTS)


def test_captures_are_small() -> None:
    assert all(path.stat().st_size < 1_000_000 for path in DATA.iterdir())
