"""Where things are on the page: whole on a screen, on a phone and on paper."""

from __future__ import annotations

import copy
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Page, chromium
from paths import ROOT, SAMPLES

from analyzer.base.options import Options
from analyzer.page.document import document
from analyzer.page.page_data import page_data
from analyzer.run.local import open_dataset

LAID_OUT = (Path(__file__).parent / "laid_out.js").read_text(encoding="utf-8")
ASKED = (Path(__file__).parent / "asked.js").read_text(encoding="utf-8")
# Six sheets before there was a style for paper.
INCIDENT = ROOT / "tests" / "data" / "incidents" / "broker_killed.pcap.zst"
MOST_SHEETS = 3
Made = tuple[Path, dict[str, Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    chromium()
    path = tmp_path_factory.mktemp("layout") / "report.html"
    with open_dataset([str(INCIDENT)], Options(), None) as found:
        data = page_data(found, lambda _: {})
    path.write_text(document(data), encoding="utf-8")
    return path, data


@pytest.fixture(scope="module", params=[1280, 390])
def page(request: pytest.FixtureRequest, made: Made) -> Iterator[Page]:
    with Page(made[0], width=request.param) as opened:
        opened.settled()
        yield opened


def test_labels_of_axes_are_whole(page: Page) -> None:
    assert page.ask(f"{LAID_OUT} numberOfLabels()") > 8
    assert page.ask(f"{LAID_OUT} cutLabels()") == []
    assert page.ask("document.querySelectorAll('#distribution .uplot canvas').length") == 1
    assert page.ask(f"{LAID_OUT} cutInks()") == 0


def test_swatches_are_of_one_size(page: Page) -> None:
    """A cause of rebalances is called silent, and so is no box."""
    assert page.ask("document.querySelectorAll('.swatch.silent').length") == 1
    assert page.ask(f"{LAID_OUT} oddSwatches()") == []


def test_a_number_keeps_its_unit(page: Page) -> None:
    assert page.ask("document.querySelectorAll('td .unbroken').length") > 20
    assert page.ask(f"{LAID_OUT} cutParts()") == []
    # In sentences too, however narrow the page is.
    assert page.ask("document.querySelectorAll('.worded .unbroken').length") > 3
    page.ask("document.body.style.width = '300px'")
    assert page.ask(f"{LAID_OUT} lonelyUnits()") == []
    page.ask("document.body.style.width = ''")
    page.settled()


def test_a_table_with_more_columns_says_so(page: Page) -> None:
    edges = page.ask(f"{LAID_OUT} tableEdges()")
    assert any(more for _, more, _ in edges)
    assert [edge for edge in edges if edge[1] != bool(edge[2])] == []
    assert all(re.fullmatch(r"\d+ more columns? →", sign) for _, more, sign in edges if more)
    is_narrow = page.ask("innerWidth") < 600
    assert page.ask(f"{LAID_OUT} flowEdges()") == [[is_narrow, is_narrow]]
    page.ask(f"{LAID_OUT} scrollTables()")
    page.settled()
    assert [edge for edge in page.ask(f"{LAID_OUT} tableEdges()") if edge[1] or edge[2]] == []
    page.ask("document.querySelectorAll('.table').forEach((each) => { each.scrollLeft = 0; })")


def test_percentiles_are_on_the_screen(page: Page) -> None:
    for section in ("apis", "brokers"):
        assert page.ask(f"{LAID_OUT} rightOf('{section}', 'p99')") <= page.ask("innerWidth")


def test_a_selection_has_its_slowest_request(made: Made) -> None:
    path, data = made
    table = data["tables"]["activity_by_api"]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    with Page(path) as opened:
        opened.drag(".track", 0.2, 0.8)
        begin, end = opened.ask(
            "document.querySelector('#apis code').textContent.match(/--from (\\S+) --to (\\S+)$/).slice(1)"
            ".map((each) => (Date.parse(`${each.slice(0, 23)}Z`)))"
        )
        origin, every = data["origin_ms"], data["time"]["every_ns"]
        first, last = ((moment - origin) * 1_000_000 // every * every for moment in (begin, end))
        longest = max(
            row["max_ns"]
            for row in rows
            if row["api_name"] == "Metadata" and first <= row["slot_ns"] < last and not row["between_brokers"]
        )
        shown = {row["api"]: row["max_ns"] for row in opened.ask(f"{ASKED} lines('apis')")}
        from analyzer.report.format import duration

        assert shown["Metadata"] == duration(longest)


def test_what_is_read_is_not_added_to_what_is_written(tmp_path: Path) -> None:
    chromium()
    with open_dataset([str(SAMPLES / "groups_classic.pcap.zst")], Options(), None) as found:
        data = page_data(found, lambda _: {})
    (tmp_path / "report.html").write_text(document(data), encoding="utf-8")
    from analyzer.report.format import size

    table = data["tables"]["topics"]
    (topic,) = [
        row for each in table["rows"] if (row := dict(zip(table["columns"], each, strict=True)))["written_bytes"]
    ][:1]
    with Page(tmp_path / "report.html") as opened:
        nodes = opened.ask("[...document.querySelectorAll('.flow-node.middle small')].map((each) => each.textContent)")
    assert f"in {size(topic['written_bytes'])}, out {size(topic['read_bytes'])}" in nodes


def test_paper_has_all_of_it_on_few_sheets(made: Made, tmp_path: Path) -> None:
    """Findings come first, with their commands whole; nothing scrolls."""
    with Page(made[0]) as opened:
        opened.ask("dispatchEvent(new Event('beforeprint'))")
        opened.settled()
        titles = opened.ask(f"{LAID_OUT} printed()")
        assert titles[1:3] == ["What needs attention", "Over time"]
        assert opened.ask(f"{LAID_OUT} scrolling()") == []
        assert opened.ask("document.documentElement.scrollWidth <= innerWidth")
        opened.ask("dispatchEvent(new Event('afterprint'))")
        assert opened.ask("document.documentElement.className") == ""
        pdf = opened.paper()
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) <= MOST_SHEETS
    printed = re.sub(r"\s+", "", "".join(words_of(pdf, tmp_path)))
    for finding in made[1]["findings"]:
        assert re.sub(r"\s+", "", finding["sentence"]) in printed
        assert finding["severity"] == "info" or re.sub(r"\s+", "", finding["extract"]) in printed


def test_paper_repeats_the_head_of_a_table(made: Made, tmp_path: Path) -> None:
    data = copy.deepcopy(made[1])
    data["tables"]["connections"]["rows"] *= 300 // len(data["tables"]["connections"]["rows"])
    (tmp_path / "report.html").write_text(document(data), encoding="utf-8")
    with Page(tmp_path / "report.html") as opened:
        opened.ask("document.querySelector('#connections .more').click()")
        sheets = words_of(opened.paper(), tmp_path)
    heads = [bool(re.search(r"^client from to life", sheet, re.MULTILINE)) for sheet in sheets]
    rows = [bool(re.search(r" (fin|rst|none) plaintext$", sheet, re.MULTILINE)) for sheet in sheets]
    assert heads == rows and sum(rows) > 2


def words_of(pdf: bytes, folder: Path) -> list[str]:
    """The text of each sheet, in the order in which it is drawn."""
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext")
    (folder / "report.pdf").write_bytes(pdf)
    command = ["pdftotext", "-raw", str(folder / "report.pdf"), "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\f")
