"""Each figure of a page is the figure that a verb prints as JSON: cell by cell, over all tables of the page. Needs no browser."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT, SAMPLES
from request_logs import as_written

from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.base.tables import is_moment
from analyzer.cli.main import main
from analyzer.page.page_data import OF_LOGS, QUESTIONS, page_data
from analyzer.query.export import with_hex_keys
from analyzer.run.local import open_dataset

# One run, since each verb reads the captures anew: together they have rows for nearly all tables.
CAPTURES = [str(SAMPLES / f"{name}.pcap.zst") for name in ("throttle", "transactions")]
# Table of the page -> the verb that prints it.
VERBS = {
    "latency": ("latency",),
    "latency_by_broker": ("latency", "--by", "broker"),
    "throttle": ("throttle",),
    "errors": ("errors",),
    "unanswered": ("unanswered",),
    "clients": ("clients",),
    "connections": ("connections",),
    "topics": ("topics",),
    "lag": ("topics", "--part", "lag"),
    "delivery": ("topics", "--part", "delivery"),
    "groups": ("groups",),
    "rebalances": ("groups", "--part", "rebalances"),
    "group_members": ("groups", "--part", "members"),
    "group_timeline": ("groups", "--part", "timeline"),
    "transactions": ("transactions",),
    "transaction_list": ("transactions", "--part", "list"),
    "producers": ("transactions", "--part", "producers"),
    "latency_over_time": ("latency", "--every", "EVERY"),
    "throttle_over_time": ("throttle", "--every", "EVERY"),
}
# What no verb prints by itself is the metric of that name.
OTHERS = sorted(set(QUESTIONS) - set(VERBS) - {"readiness"})


@pytest.mark.parametrize("name", [*QUESTIONS, *OF_LOGS])
def test_each_table_is_drawn(name: str) -> None:
    """What no script names makes a page larger, and costs a question, for nothing."""
    scripts = "".join(path.read_text() for path in sorted((ROOT / "analyzer/page/assets").glob("*.js")))
    assert f"'{name}'" in scripts or f"`{name}`" in scripts


def said(*words: str) -> str:
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(out):
        assert main(words) == 0
    out.flush()
    buffer = out.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()


def embedded(page: str) -> dict[str, Any]:
    """The data in a page, read from the file itself."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    found: dict[str, Any] = json.loads(text)
    return found


def same(shown: Any, said: Any, name: str, origin_ns: int) -> bool:
    """Whether a cell of the page is a cell of JSON: moments count from the page's origin, long numbers are text."""
    if said is None or isinstance(said, (bool, str, float)):
        return bool(shown == said)
    if is_moment(name):
        return int(shown) + origin_ns == said
    return int(shown) == int(said) if isinstance(shown, str) else bool(shown == said)


def differences(table: dict[str, Any], rows: list[dict[str, Any]], origin_ns: int) -> list[str]:
    found = []
    if table["total"] != len(rows) and not any(row.get("total_rows") for row in rows[:1]):
        found.append(f"{table['total']} rows, the verb has {len(rows)}")
    for number, (cells, row) in enumerate(zip(table["rows"], rows, strict=False)):
        shown = dict(zip(table["columns"], cells, strict=True))
        for name, value in row.items():
            if name != "total_rows" and not same(shown.get(name), value, name, origin_ns):
                found.append(f"row {number}, {name}: {shown.get(name)!r}, the verb has {value!r}")
    return found


def test_each_cell_is_that_of_the_verb() -> None:
    data = embedded(said("html", *CAPTURES, "-o", "-"))
    origin, every = data["origin_ms"] * 1_000_000, data["time"]["every_ns"]
    compared, found = 0, {}
    for name, words in VERBS.items():
        asked = [word.replace("EVERY", f"{every // 1_000_000}ms") for word in words]
        rows = json.loads(said(asked[0], *CAPTURES, "--format", "json", *asked[1:]))
        found[name] = differences(data["tables"][name], rows, origin)[:3]
        compared += len(data["tables"][name]["rows"])
    names = [row["finding"] for row in json.loads(said("findings", *CAPTURES, "--format", "json"))]
    assert [row["finding"] for row in data["findings"]] == names
    with open_dataset(CAPTURES, Options()) as read:
        for name in OTHERS:
            question = QUESTIONS[name]
            read.choose(Settings(question.by, every if question.over_time else None))
            rows = [with_hex_keys(row) for row in read.metric(question.metric)]
            found[name] = differences(data["tables"][name], rows, origin)[:3]
            compared += len(data["tables"][name]["rows"])
    assert {name: lines for name, lines in found.items() if lines} == {}
    assert compared > 100


def test_the_log_of_a_broker_is_a_table_where_it_was_read(tmp_path: Path) -> None:
    folder = ROOT / "tests" / "data" / "incidents"
    log = as_written(folder / "log_dir_stalls.requests.tsv.zst", tmp_path / "requests.log")
    words = (str(folder / "log_dir_stalls.pcap.zst"), "--request-log", str(log))
    with open_dataset([words[0]], Options(request_logs=(log,))) as read:
        told = page_data(read, lambda _: {})["tables"]
        expected = read.metric("broker_log")
    (row, *_) = told["broker_log"]["rows"]
    assert len(told["broker_log"]["rows"]) == len(expected) == 8
    named = dict(zip(told["broker_log"]["columns"], row, strict=True))
    assert {name: named[name] for name in ("requests", "log_local_ns", "total_ns")} == {
        name: expected[0][name] for name in ("requests", "log_local_ns", "total_ns")
    }
    assert (
        json.loads(said("report", *words, "--format", "json"))["broker_log"][0]["requests"] == expected[0]["requests"]
    )
    assert "broker_log" not in json.loads(said("report", words[0], "--format", "json"))
