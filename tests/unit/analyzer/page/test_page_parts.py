"""The parts of a page: slots of time, rows as JSON, and a document in which data stays data."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from html.parser import HTMLParser
from typing import Any

import click
import pytest

from analyzer.base.filters import Filters
from analyzer.cli.main import cli
from analyzer.page.document import ASSETS, LIBRARY, LIBRARY_STYLE, SCRIPTS, document, embedded
from analyzer.page.page_data import filter_words
from analyzer.page.page_tables import LONGEST_TEXT, harmless, packed, table, value
from analyzer.page.slots import DAY, LENGTHS, MOST_IN_ALL, MOST_SLOTS, SECOND, midnight_ns, slot_ns

HOSTILE = "</script><script>alert('hostile')</script><!-- \u2028\u202e\x1b[31m ]]> & <img src=x onerror=alert(1)>"


@pytest.mark.parametrize(
    "span", [1, 50, 10**6, 150 * 10**6, 24 * SECOND, 3600 * SECOND, 9 * DAY, 900 * DAY, 40_000 * DAY]
)
def test_slots_are_few_and_of_a_length_that_people_use(span: int) -> None:
    length = slot_ns(span)
    assert length in LENGTHS or length % DAY == 0
    assert span / length <= MOST_SLOTS
    assert length == LENGTHS[0] or span / length > MOST_SLOTS / 5


def test_slots_follow_the_time_that_was_captured() -> None:
    assert slot_ns(3600 * SECOND, 100 * SECOND) == SECOND
    # ... but what lies between has slots, too.
    assert 365 * DAY / slot_ns(365 * DAY, SECOND) <= MOST_IN_ALL


def test_midnight_is_that_before() -> None:
    assert midnight_ns(5 * DAY + 7) == 5 * DAY
    assert midnight_ns(5 * DAY) == 5 * DAY
    assert midnight_ns(-1) == -DAY


def test_values_become_json_that_javascript_reads_exactly() -> None:
    origin = 1_795_219_200 * SECOND
    assert value("example_exchange", 255, origin) == "00000000000000ff"
    assert value("first_time_ns", origin + 12, origin) == 12
    assert value("latency_ns", 12, origin) == 12
    assert value("producer_id", 2**63 - 1, origin) == str(2**63 - 1)
    assert value("share", float("nan"), origin) is None
    assert value("client_id", "a\u202eb\x1b", origin) == "a\\u202eb\\x1b"
    assert value("gone", True, origin) is True


def test_a_long_name_is_cut_and_says_so() -> None:
    found = value("client_id", "x" * 100_000, 0)
    assert found.startswith("x" * LONGEST_TEXT + "… (100,000 characters)")
    assert harmless({"a": ["y" * 100_000]})["a"][0].endswith("(100,000 characters)")


def test_a_table_leaves_out_what_is_always_null() -> None:
    rows: list[dict[str, Any]] = [{"a": 1, "b": None, "total_rows": 7}, {"a": None, "b": None, "total_rows": 7}]
    assert table(rows, 2, 0) == {"columns": ["a"], "rows": [[1], [None]], "total": 7}
    assert table([], 0, 0) == {"columns": [], "rows": [], "total": 0}
    assert table([{"a": 1}], 5, 0)["total"] == 5


def test_many_rows_are_held_by_column_and_each_word_once() -> None:
    rows: list[dict[str, Any]] = [
        {"exchange": n, "client_id": f"c\x1b{n % 2}" if n else None, "first_time_ns": 1_000 + n, "send_ns": None}
        for n in range(100)
    ]
    held = packed(rows, 1_000)
    assert held["rows"] == 100 and list(held["columns"]) == ["exchange", "client_id", "first_time_ns"]
    names = held["columns"]["client_id"]
    assert names["words"] == ["c\\x1b1", "c\\x1b0"] and names["at"][:4] == [None, 0, 1, 0]
    assert held["columns"]["first_time_ns"] == list(range(100))
    assert held["columns"]["exchange"][11] == f"{11:016x}"
    assert len(embedded(held)) < 20 * len(rows) + 1_000
    assert packed([], 0) == {"rows": 0, "columns": {}}


def test_commands_have_the_filters_of_the_page() -> None:
    command = cli.get_command(click.Context(cli), "latency")
    assert command is not None
    times = (1_795_261_415_000_000_001, 1_795_261_416_500_000_000)
    filters = Filters(("a b*", "$(x)"), ("1",), ("Fetch",), ("t'",), *times)
    words = shlex.split(f"latency.pcap{filter_words(filters)}")
    with command.make_context("latency", words, parent=click.Context(cli)) as context:
        given = context.params
    assert Filters(*(given[name] for name in ("clients", "brokers", "apis", "topics", "from_ns", "to_ns"))) == filters
    assert filter_words(Filters()) == ""


class Parts(HTMLParser):
    """Elements with their attributes, and what stands in scripts and styles."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.texts: list[tuple[int, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append((len(self.elements) - 1, data))

    def content(self, at: int) -> str:
        return "".join(text for element, text in self.texts if element == at)


def parsed(data: dict[str, Any]) -> tuple[Parts, str]:
    made = document(data)
    parts = Parts()
    parts.feed(made)
    return parts, made


def test_data_cannot_leave_its_block() -> None:
    parts, made = parsed({"name": HOSTILE, HOSTILE: [HOSTILE]})
    assert [tag for tag, _ in parts.elements].count("script") == 4
    assert "<script>alert" not in made and "onerror=alert" in made
    at = next(at for at, (_, attributes) in enumerate(parts.elements) if attributes.get("id") == "data")
    assert json.loads(parts.content(at)) == {"name": HOSTILE, HOSTILE: [HOSTILE]}
    assert "<" not in embedded(HOSTILE) and "\u2028" not in embedded(HOSTILE)


def test_the_policy_allows_what_is_in_the_file_and_nothing_else() -> None:
    parts, made = parsed({})
    policy = next(
        given["content"] for tag, given in parts.elements if given.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None and policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy and "http" not in policy
    hashes = set(re.findall(r"'sha256-([^']+)'", policy))
    for text in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", made, re.DOTALL):
        hashes.remove(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())
    assert not hashes


def test_the_page_names_no_place_but_its_own() -> None:
    """No element that loads; addresses in the library's comment and of SVG are names."""
    parts, _ = parsed({})
    for _, attributes in parts.elements:
        assert not attributes.get("src") and (attributes.get("href") or "#").startswith("#")
    for name in SCRIPTS:
        text = (ASSETS / name).read_text(encoding="utf-8")
        assert not re.search(
            r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|Function|fetch|XMLHttpRequest|import)\b\s*[(=]",
            text,
        ), name
        assert set(re.findall(r"https?://[^'\"]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\(|@import", (ASSETS / "page.css").read_text(encoding="utf-8"))


def test_what_is_not_ours_comes_with_its_licence() -> None:
    licence = (ASSETS / "vendor" / "uPlot.LICENSE.txt").read_text(encoding="utf-8")
    assert licence.startswith("The MIT License")
    assert "uPlot (v" in (ASSETS / LIBRARY).read_text(encoding="utf-8")[:80]
    assert {path.name for path in (ASSETS / "vendor").iterdir()} == {
        "uPlot.LICENSE.txt",
        *(name.split("/")[1] for name in (LIBRARY, LIBRARY_STYLE)),
    }


def test_files_of_the_page_are_short_enough_and_all_used() -> None:
    for path in ASSETS.iterdir():
        if path.suffix == ".js":
            assert path.name in SCRIPTS
        if path.is_file():
            assert len(path.read_text(encoding="utf-8").splitlines()) <= 400, path.name
