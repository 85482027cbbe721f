"""Lanes of partitions on the page: their slots add up to the story, and a story that is too long is named in their place."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from browser import Page, chromium
from paths import ROOT

from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.page import partition_lanes
from analyzer.page.document import document
from analyzer.page.page_data import page_data
from analyzer.run.local import open_dataset

CAPTURE = ROOT / "tests" / "data" / "partitions" / "ledger-0.pcap.zst"
BARS = "document.querySelectorAll('#partitions .density-bar.lane-bar').length"


def test_slots_of_a_lane_add_up_to_the_story(tmp_path: Path) -> None:
    chromium()
    with open_dataset([str(CAPTURE)], Options(tables=None)) as dataset:
        data = page_data(dataset, lambda _wanted: {})
        dataset.choose(Settings(partition=("ledger", 0)))
        story = dataset.metric("partition_story")
    lane = data["tables"]["partition_lanes"]
    rows = [dict(zip(lane["columns"], row, strict=True)) for row in lane["rows"]]
    events = Counter(row["event"] for row in story)
    sums = {name: sum(row[name] or 0 for row in rows) for name in ("delivered", "refused")}
    assert sums == {
        "delivered": events["delivered"],
        "refused": len({row["exchange"] for row in story if row["error_code"] and not row["error_expected"]}),
    }
    marks = [{mark for row in told if row["marks"] for mark in row["marks"].split(",")} for told in (rows, story)]
    assert marks[0] == marks[1] != set()
    assert sum(row["written"] or 0 for row in rows) == sum(
        row["batches"] or 0 for row in story if row["event"] == "produced"
    )
    path = tmp_path / "page.html"
    path.write_text(document(data), encoding="utf-8")
    with Page(path) as opened:
        assert opened.problems == []
        assert opened.ask(BARS) == sum((row.get("written") or 0) + row["delivered"] > 0 for row in rows)
        assert "ledger-0" in opened.ask("document.querySelector('#partitions .row-title').textContent")


def test_a_story_that_is_too_long_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chromium()
    monkeypatch.setattr(partition_lanes, "MOST_ENTRIES", 5)
    with open_dataset([str(CAPTURE)], Options(tables=None)) as dataset:
        data = page_data(dataset, lambda _wanted: {})
    assert not data["partitions"] and [each["topic"] for each in data["partitions_left_out"]] == ["ledger"]
    path = tmp_path / "page.html"
    path.write_text(document(data), encoding="utf-8")
    with Page(path) as opened:
        assert opened.problems == []
        text = opened.ask("document.querySelector('#partitions').textContent")
        assert "Too long for the page: ledger-0." in text and "kanalyze partition" in text
