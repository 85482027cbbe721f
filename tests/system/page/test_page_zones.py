"""Zones and names on the page: flows as the verb has them, and names beside addresses."""

from __future__ import annotations

from pathlib import Path

from browser import Page, chromium

from analyzer.base.options import Options
from analyzer.page.document import document
from analyzer.page.page_data import page_data
from analyzer.run.local import open_dataset
from lab.score import DATA

CAPTURE, NAMES = DATA / "zones_crossed.pcap.zst", DATA / "zones_crossed.names.tsv"
RIBBONS = "[...document.querySelectorAll('#zones .ribbon title')].map((each) => each.textContent.split(':')[0])"


def made(path: Path, *names: Path) -> list[tuple[str, str]]:
    """Writes the page; pairs of zones between which there are bytes."""
    with open_dataset([str(CAPTURE)], Options(names=names)) as dataset:
        path.write_text(document(page_data(dataset, lambda _wanted: {})), encoding="utf-8")
        rows = dataset.metric("zones")
    return sorted({(row["from_zone"] or "unknown", row["to_zone"] or "unknown") for row in rows})


def test_flows_between_zones_and_names_beside_addresses(tmp_path: Path) -> None:
    chromium()
    pairs = made(tmp_path / "named.html", NAMES)
    with Page(tmp_path / "named.html") as opened:
        assert opened.problems == []
        assert sorted(opened.ask(RIBBONS)) == [f"{one} → {other}" for one, other in pairs]
        text = opened.ask("document.body.textContent")
        for words in ("10.20.1.3 (packing)", "10.20.0.11:9092 (broker1)", "10.20.1.4 (report)"):
            assert words in text, words


def test_without_names_addresses_are_bare(tmp_path: Path) -> None:
    chromium()
    made(tmp_path / "bare.html")
    with Page(tmp_path / "bare.html") as opened:
        assert opened.problems == []
        text = opened.ask("document.body.textContent")
        assert "10.20.1.3" in text and "10.20.1.3 (" not in text
