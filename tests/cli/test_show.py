"""`show` and `dump` over real captures."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from command import ROOT

from analyzer.tables import TABLES

Run = Callable[..., Any]
CAPTURE = ROOT / "samples" / "old_java.pcap.zst"


@pytest.fixture
def dumped(kanalyze: Run) -> list[dict[str, Any]]:
    done = kanalyze("dump", CAPTURE)
    assert done.returncode == 0
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_dump_is_the_exchanges_table_with_bodies(kanalyze: Run, dumped: list[dict[str, Any]]) -> None:
    rows = [json.loads(line) for line in kanalyze("exchanges", CAPTURE, "--format", "jsonl").stdout.splitlines()]
    columns = [column.name for column in TABLES["exchanges"]]
    assert len(rows) > 10 and all(list(row) == [*columns, "request", "response"] for row in dumped)
    by_id = {row["exchange"]: row for row in dumped}
    assert len(by_id) == len(rows)
    for row in rows:
        assert row == {name: by_id[row["exchange"]][name] for name in columns}
        assert (by_id[row["exchange"]]["response"] is None) == (row["response_decoded"] in ("none", "unsupported"))


def test_show_finds_an_exchange_by_id_and_by_packet(kanalyze: Run, dumped: list[dict[str, Any]]) -> None:
    row = next(row for row in dumped if row["api_name"] == "Metadata" and row["response"])
    by_id = kanalyze("show", CAPTURE, row["exchange"])
    assert by_id.returncode == 0
    text = by_id.stdout.decode()
    assert row["exchange"] in text and "Metadata" in text and "brokers: " in text
    for number in (row["request_packet"], row["response_packet"]):
        for word in (f"#{number}", str(number)):
            assert text in kanalyze("show", CAPTURE, word).stdout.decode()
    as_json = kanalyze("show", CAPTURE, row["exchange"], "--format", "json")
    assert json.loads(as_json.stdout) == row


def test_offsets_of_show_lie_in_the_frame_and_grow(kanalyze: Run, dumped: list[dict[str, Any]]) -> None:
    row = next(row for row in dumped if row["api_name"] == "Metadata" and row["response"])
    text = kanalyze("show", CAPTURE, row["exchange"]).stdout.decode()
    _, request, response = text.split("offset    size  field")
    for part, size in ((request, row["request_bytes"]), (response, row["response_bytes"])):
        places = [line.split(maxsplit=2) for line in part.splitlines() if line[:8].strip().isdigit()]
        starts = [int(place[0]) for place in places]
        assert starts == sorted(starts) and max(int(p[0]) + int(p[1]) for p in places) == size - 4


def test_show_of_nothing_says_so(kanalyze: Run) -> None:
    for word in ("0000000000000000", "#999999"):
        done = kanalyze("show", CAPTURE, word)
        assert done.returncode == 2 and done.stdout == b"" and word.encode() in done.stderr
