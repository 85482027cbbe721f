"""What two capture points with names saw is told as what one of them saw."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import analyzer
from lab.score import DATA


@pytest.mark.parametrize("name", ["crash_loop", "poll_pause_snap", "quota_one_client"])
def test_findings_of_two_points_are_those_of_one(name: str, tmp_path: Path) -> None:
    one = DATA / f"{name}.pcap.zst"
    other = shutil.copy(one, tmp_path / "other.pcap.zst")
    with analyzer.read(one) as capture:
        told = [each.sentence for each in capture.findings]
    with analyzer.read([one, other], taps=(("client", str(one)), ("broker", str(other)))) as capture:
        assert [each.sentence for each in capture.findings] == told
        assert len(capture.sql("SELECT DISTINCT tap FROM connections").to_arrow()) == 2
