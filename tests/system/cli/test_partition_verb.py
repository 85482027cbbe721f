"""`kanalyze partition`: a story that a table cannot hold."""

from __future__ import annotations

import pytest
from paths import ROOT

from analyzer.cli.commands import partition
from analyzer.cli.main import main

CAPTURE = str(ROOT / "samples" / "throttle.pcap.zst")


def test_a_story_longer_than_a_table_takes_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["partition", CAPTURE, "payments-limited-1"]
    monkeypatch.setattr(partition, "_MOST_EVENTS", 5)
    assert main(asked) == 2
    told = capsys.readouterr()
    assert not told.out
    assert "a table takes 5: narrow them with --from, --to or --client" in told.err
    assert main([*asked, "--format", "csv"]) == 0
    assert capsys.readouterr().out.count("\n") > 100
