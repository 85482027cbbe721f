"""What is said of captures of software that nobody had tried before: each finding was judged by hand, true or false.

`wild_findings.tsv` has a line for each capture and rule; no rule finds anything in the others. Skipped where the captures are not
beside the checkout.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from paths import LAB, ROOT, SHARED

import analyzer

TABLE = ROOT / "tests" / "data" / "wild_findings.tsv"
WILD = SHARED / "captures" / "wild"


def judged() -> dict[str, dict[str, bool]]:
    """Capture -> rule -> whether what it found there is true."""
    found: dict[str, dict[str, bool]] = {path.name.removesuffix(".pcap.zst"): {} for path in WILD.glob("*.pcap.zst")}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        name, rule, verdict = line.split("\t")
        found.setdefault(name, {})[rule] = verdict == "true"
    return found


def _path(name: str) -> Path:
    return next((path for folder in (WILD, LAB) if (path := folder / f"{name}.pcap.zst").exists()), WILD / name)


@pytest.mark.parametrize("name", sorted(judged()))
def test_only_true_findings_are_told(name: str) -> None:
    if not _path(name).exists():
        pytest.skip("not beside the checkout")
    with analyzer.read(_path(name)) as capture:
        told = {each.name for each in capture.findings}
    assert told == {rule for rule, is_true in judged()[name].items() if is_true}
