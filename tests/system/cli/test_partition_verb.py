"""`kanalyze partition`: a story that a table shows in part."""

from __future__ import annotations

import pytest
from paths import ROOT

from analyzer.cli.main import main
from analyzer.report import partition_answer

CAPTURE = str(ROOT / "samples" / "throttle.pcap.zst")


def test_of_a_story_longer_than_a_table_takes_the_ends_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["partition", CAPTURE, "payments-limited-1"]
    assert main(asked) == 0
    whole = capsys.readouterr().out
    monkeypatch.setattr(partition_answer, "MOST_EVENTS", 5)
    monkeypatch.setattr(partition_answer, "EDGE", 3)
    assert main(asked) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[0] == whole.splitlines()[0]
    assert "events left out" in told.out and len(told.out) < len(whole)
    assert "narrow them with --from, --to or --client" in told.err
    assert main([*asked, "--format", "csv"]) == 0
    assert capsys.readouterr().out.count("\n") > 100
