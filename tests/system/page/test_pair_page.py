"""The page of two captures: the numbers of `diff`, the answer first, hostile names as text, whole on every width."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest
from browser import Page, chromium
from finding_stories import PRODUCE, many
from made_rows import connection, dataset
from paths import SAMPLES

from analyzer.base.options import Options
from analyzer.compare.captures import Comparison, compare
from analyzer.page.pair_lines import lines_of
from analyzer.page.pair_page import pair_page
from analyzer.report.comparison import render, write
from analyzer.report.facts import Facts
from analyzer.report.format import count, duration
from analyzer.run.local import open_dataset

BEFORE, AFTER = SAMPLES / "versions.pcap.zst", SAMPLES / "throttle.pcap.zst"
HOSTILE = "</table><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x1b[31m"
WIDTHS = (1280, 390)
MOST_SHEETS = 6
ASKED = (Path(__file__).parent / "asked.js").read_text(encoding="utf-8")


class Tables(HTMLParser):
    """Cells of rows, by the section that they are in; the tags and headings in their order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: dict[str, list[list[str]]] = {}
        self.headings: list[tuple[str, str]] = []
        self.tags: set[str] = set()
        self._section, self._tag = "", ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "section":
            self._section = str(dict(attrs)["id"])
        elif tag == "tr":
            self.rows.setdefault(self._section, []).append([])
        elif tag in ("td", "th"):
            self.rows[self._section][-1].append("")
        elif tag in ("h1", "h2", "h3"):
            self.headings.append((tag, ""))
        if tag not in ("span", "b", "bdi"):
            self._tag = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._tag:
            self._tag = ""

    def handle_data(self, data: str) -> None:
        if self._tag in ("td", "th"):
            self.rows[self._section][-1][-1] += data
        elif self._tag in ("h1", "h2", "h3"):
            self.headings[-1] = (self._tag, self.headings[-1][1] + data)


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[str, Comparison]]:
    with open_dataset([str(BEFORE)], Options(), None) as old, open_dataset([str(AFTER)], Options(), None) as new:
        found = compare(old, new)
        yield pair_page((old, new), found), found


@pytest.fixture(scope="module")
def written(pair: tuple[str, Comparison]) -> str:
    return pair[0]


@pytest.fixture(scope="module", params=WIDTHS)
def page(request: pytest.FixtureRequest, written: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    chromium()
    path = tmp_path_factory.mktemp("pair") / "pair.html"
    path.write_text(written, encoding="utf-8")
    with Page(path, width=request.param) as opened:
        yield opened


def test_its_numbers_are_those_of_text_and_json(pair: tuple[str, Comparison]) -> None:
    written, compared = pair
    as_json = StringIO()
    write(compared, "json", as_json, {})
    found = json.loads(as_json.getvalue())
    rows = Tables(written).rows
    for part in ("latency", "clients", "findings"):
        assert len(rows[part]) - 1 == len(found[part]) > 0
    for each, cells in zip(found["latency"], rows["latency"][1:], strict=True):
        assert cells[0].startswith(each["api_name"])
        for name, cell in zip(("p50_ns", "p99_ns"), cells[2:4], strict=True):
            old, new = duration(each[f"before_{name}"]), duration(each[f"after_{name}"])
            assert cell == "-" if old == new == "-" else cell.startswith(f"{old} → {new}")
        assert cells[4] == f"{count(each['before_count'])} → {count(each['after_count'])}"
    for each, cells in zip(found["findings"], rows["findings"][1:], strict=True):
        assert cells[0] == each["finding"].replace("_", " ")
        assert cells[2:] == [each["change"], f"{each['before_count']} → {each['after_count']}"]
    plain = re.sub(r"\s+", " ", " ".join(cell for cells in rows["latency"] for cell in cells))
    lines = [str(line) for line in render(compared, 200, ("latency",))]
    told = [line for line in lines if line.rstrip().endswith(("faster", "slower"))]
    assert told
    for line in told:
        assert all(f" {time}" in plain for time in re.findall(r"(?<!\S)[\d.]+ m?s\b", line)), line


def test_the_answer_comes_first(written: str) -> None:
    headings = Tables(written).headings
    assert headings[:3] == [("h1", f"{BEFORE.name} → {AFTER.name}"), ("h2", "What changed"), ("h3", "Worse (2)")]


def test_names_of_a_capture_stay_text(tmp_path: Path) -> None:
    rows = many(40, 9, **(PRODUCE | {"client_id": HOSTILE}))
    tables = {"connections": [connection(1)], "exchanges": rows}
    with dataset(tmp_path / "a", tables) as old, dataset(tmp_path / "b", tables) as new:
        made = pair_page((old, new), compare(old, new))
    assert not {"script", "img"} & Tables(made).tags
    assert "&lt;script&gt;" in made
    assert not re.search("[\x1b\u202e]", made)


def test_lines_begin_together_and_add_up() -> None:
    """Rates times the captured time are the requests, however slots lie."""
    with open_dataset([str(AFTER)], Options(), None) as found:
        coverage = Facts(found).coverage()
        (sums,) = found.query(
            "SELECT count(*) AS n FROM exchanges WHERE request_time_ns IS NOT NULL AND role = 'client'"
        )
        every = 500_000_000
        line = lines_of(found, coverage, every)["requests"]
        assert 0 <= line[0][0] < every
        edges = [0, *(begin + end >> 1 for (begin, _), (end, _) in pairwise(line)), coverage["captured_ns"]]
        requests = sum(
            (value or 0) * (end - begin) / 1e9 for (_, value), begin, end in zip(line, edges, edges[1:], strict=False)
        )
    assert requests == pytest.approx(sums["n"], rel=0.05)


def test_it_asks_for_nothing_and_complains_of_nothing(page: Page) -> None:
    assert page.problems == []
    assert [each for each in page.requests if not each.startswith("file:")] == []


def test_it_is_as_wide_as_the_screen(page: Page) -> None:
    """Tables that are wider scroll by themselves, also by keys."""
    assert page.ask("document.documentElement.scrollWidth <= innerWidth")
    assert page.ask("[...document.querySelectorAll('.table')].every((each) => each.tabIndex === 0 && each.ariaLabel)")
    right = "getBoundingClientRect().right"
    cut = f"(each) => each.{right} > each.closest('td').{right} + 1"
    assert page.ask(f"[...document.querySelectorAll('.pair > *')].filter({cut}).map((each) => each.textContent)") == []


def test_every_column_and_row_has_a_header(page: Page) -> None:
    assert page.ask("[...document.querySelectorAll('thead th')].every((each) => each.scope === 'col')")
    assert page.ask("[...document.querySelectorAll('tbody tr')].every((each) => each.cells[0].scope === 'row')")
    assert page.ask("[...document.querySelectorAll('[role=img]')].every((each) => each.ariaLabel.length > 30)")
    assert page.ask("document.querySelectorAll('.lines .before[d^=M]').length") > 3


def test_regions_have_names_of_their_own(page: Page) -> None:
    names = page.ask("""[...document.querySelectorAll("[role=region], section[aria-labelledby]")].map((each) =>
        each.ariaLabel ?? document.getElementById(each.getAttribute("aria-labelledby")).textContent)""")
    assert len(names) > 8 and len(set(names)) == len(names)


def test_paper_has_all_of_it_on_few_sheets(page: Page) -> None:
    """Nothing scrolls, and the numbers of two small captures take few sheets."""
    page.ask("dispatchEvent(new Event('beforeprint'))")
    try:
        assert len(re.findall(rb"/Type\s*/Page\b", page.paper())) <= MOST_SHEETS
    finally:
        page.ask("dispatchEvent(new Event('afterprint'))")


def test_colours_can_be_read(page: Page) -> None:
    """Text has a contrast of 4.5 to 1 against its ground (WCAG 2.2, 1.4.3)."""
    assert [found for found in page.ask(f"{ASKED} contrast()") if found[1] < 4.5] == []
