"""Frames: types in Arrow that say what columns are, and HTML in which captured text is harmless."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest

from analyzer.base.tables import TABLES, arrow_schema, is_moment
from analyzer.notebook.finding_list import Findings
from analyzer.notebook.frame import Convertible, Frame
from analyzer.notebook.shown_text import Text
from analyzer.query.findings import rule
from analyzer.query.incidents import Evidence, Finding

HOSTILE = "<script>alert('1')</script>&\"\x1b[31m\u202e"
WILD = [None, -(2**63) + 1, -1, 0, 1_777_633_152_123_456_789, 2**63 - 1]


@pytest.mark.parametrize("table", TABLES)
def test_a_column_gets_the_type_that_its_sentence_means(table: str) -> None:
    plain = arrow_schema(table).empty_table()
    found = Frame(plain).to_arrow()
    assert found.column_names == plain.column_names
    for column in TABLES[table]:
        kind = found.schema.field(column.name).type
        if column.name.endswith("_ns"):
            assert kind == (pa.timestamp("ns", "UTC") if is_moment(column.name) else pa.duration("ns"))
        elif column.name.endswith("_ms") and not column.name.endswith("timestamp_ms"):
            assert kind == pa.duration("ms")
        elif column.type == "string":
            assert kind == pa.string() or pa.types.is_dictionary(kind)
        else:
            assert kind == plain.schema.field(column.name).type


def test_no_value_is_lost() -> None:
    """Moments and durations to the nanosecond, also those of broken clocks; what was null stays null."""
    plain = pa.table({name: pa.array(WILD, pa.int64()) for name in ("request_time_ns", "latency_ns", "exchange")})
    frame = Frame(plain)
    assert frame.to_pylist() == plain.to_pylist()
    found = frame.to_arrow()
    assert found.schema.types == [pa.timestamp("ns", "UTC"), pa.duration("ns"), pa.int64()]
    for name in plain.column_names:
        assert found[name].cast(pa.int64()).to_pylist() == WILD


def test_words_come_from_any_number_of_chunks() -> None:
    chunks = [pa.record_batch({"status": ["answered", None]}), pa.record_batch({"status": ["closed", "answered"]})]
    found = Frame(pa.Table.from_batches(chunks)).to_arrow()
    assert pa.types.is_dictionary(found.schema.field("status").type)
    assert found["status"].to_pylist() == ["answered", None, "closed", "answered"]


def test_in_the_answer_to_a_select_only_documented_names_are_believed() -> None:
    plain = pa.table(
        {"latency_ns": [1], "worst_ns": [2], "last_seen_time_ns": [3], "status": ["answered"], "state": ["x"]}
    )
    assert Frame(plain, is_ours=False).to_arrow().schema.types == [
        pa.duration("ns"),
        pa.int64(),
        pa.int64(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.string(),
    ]
    # A text or a sum under such a name is what it is.
    other = pa.table({"latency_ns": ["none"], "status": [5]})
    assert Frame(other, is_ours=False).to_arrow() == other


def test_a_mean_in_fractions_of_a_nanosecond_is_a_duration_too() -> None:
    found = Frame(pa.table({"mean_ns": [1.5, None, 2.4]})).to_arrow()
    assert found["mean_ns"].cast(pa.int64()).to_pylist() == [2, None, 2]


def test_arrow_streams_have_the_same_types() -> None:
    frame = Frame(pa.table({"request_time_ns": [5], "status": ["answered"]}))
    assert pa.table(frame).equals(frame.to_arrow())


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModuleNotFoundError, match=f"needs {name}, which is not installed: pip install {name}"):
        getattr(Frame(pa.table({"a": [1]})), f"to_{name}")()


class Markup(HTMLParser):
    """Tags of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert [name for name, _ in attrs] in ([], ["style"])
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_findings() -> Convertible:
    row = {"who": HOSTILE, "weight": 1, "first_time_ns": 0, "last_time_ns": 10**9, "connection": None}
    told = rule("throttled")._replace(
        says="{who} is slow", do="ask {who}", look="kanalyze throttle --client {who}", name=HOSTILE
    )
    evidence = (Evidence(5, f"/tmp/{HOSTILE}", 7), Evidence(2**62, None, None))
    return Findings([Finding(told, "high", row, evidence, (Finding(told, "info", row, ()),))])


@pytest.mark.parametrize(
    "shown",
    [
        lambda: Frame(pa.table({"client_id": [HOSTILE], HOSTILE: [HOSTILE], "list": [[HOSTILE]]})),
        lambda: Frame(pa.table({"client_id": [HOSTILE]}), is_ours=False),
        hostile_findings,
        lambda: hostile_findings()[0],  # type: ignore[index]
        lambda: Text(HOSTILE),
    ],
)
def test_a_notebook_shows_captured_text_that_cannot_be_markup(shown: Callable[[], Any]) -> None:
    page = shown()._repr_html_()
    found = Markup(page)
    assert found.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "pre"}
    assert "<script>alert('1')</script>" in found.text
    if not isinstance(shown(), Text):
        assert not re.search("[\x00-\x08\x0e-\x1f\u202e]", page + repr(shown()))


def test_a_frame_shows_what_its_numbers_mean() -> None:
    rows = {"exchange": [5], "request_time_ns": [1_777_633_152_123_456_789], "latency_ns": [2_100_000], "bytes": [None]}
    page = Markup(Frame(pa.table(rows))._repr_html_()).text
    for words in ("0000000000000005", "2026-05-01 10:59:12.123456789", "2.1 ms", "1 row"):
        assert words in page
    many = Frame(pa.table({"a": list(range(50))}))
    assert len(many) == 50 and "50 rows, the first 20 are shown" in many._repr_html_()
    assert many._repr_html_().count("<tr>") == 21
    assert repr(many) == "<Frame of 50 rows: a>"


def test_nothing_found_is_a_table_of_the_same_columns() -> None:
    assert Findings([]).to_arrow().schema.names == hostile_findings().to_arrow().schema.names
    assert repr(Findings([])) == "No findings"
