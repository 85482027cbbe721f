"""`show` and `dump` over real captures."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT

from analyzer.base.tables import TABLES

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


def test_an_export_finds_bodies_in_its_capture_or_says_where_that_was(kanalyze: Run, tmp_path: Path) -> None:
    shutil.copy(CAPTURE, tmp_path / "here.pcap.zst")
    assert kanalyze("export", "here.pcap.zst", "--to", "tables").returncode == 0
    direct, reopened = (kanalyze("dump", name) for name in ("here.pcap.zst", "tables"))
    assert reopened.returncode == 0 and reopened.stdout == direct.stdout and len(direct.stdout) > 1000
    (tmp_path / "here.pcap.zst").unlink()
    done = kanalyze("dump", "tables")
    assert done.returncode == 2 and done.stdout == b"" and b"here.pcap.zst" in done.stderr
    assert kanalyze("exchanges", "tables").returncode == 0


def test_filters_hold_for_dump(kanalyze: Run, dumped: list[dict[str, Any]]) -> None:
    done = kanalyze("dump", CAPTURE, "--api", "Metadata")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [row for row in dumped if row["api_name"] == "Metadata"] != []


def test_secrets_are_hidden(kanalyze: Run, shared: Path) -> None:
    """The lab's passwords, in clear and as base64 in any alignment; `sasl_old` has tokens without a Kafka header."""
    words = [b"admin-pw", b"alice-pw", b"bob-pw", b"dave-secret", b"erin-secret"]
    hidden = set(words)
    for word in words:
        for shift in range(3):
            encoded = base64.b64encode(bytes(shift) + word)
            hidden.add(encoded[4 if shift else 0 : -4])
    for name in ("sasl.pcap", "sasl_old.pcap", "sasl_token.pcap"):
        capture = shared / "captures" / "lab" / name
        bodies, rows = kanalyze("dump", capture).stdout, kanalyze("exchanges", capture).stdout
        assert bodies.count(b"secret_bytes") > 10
        assert rows
        assert not [word for word in hidden if word in bodies or word in rows]
