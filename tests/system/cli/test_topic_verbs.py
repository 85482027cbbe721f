"""topics, groups, transactions and readiness on the command line: every part in every format, filters, hostile names."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import broker_log
import pytest
from kept_datasets import KeptDatasets
from made_rows import START_NS, capture, connection, exchange, write

from analyzer.cli.main import main
from analyzer.report.sections import groups, readiness, topics, transactions

PARTS = [
    (verb, part)
    for verb, section in (
        ("topics", topics),
        ("groups", groups),
        ("transactions", transactions),
        ("readiness", readiness),
    )
    for part in section.PARTS
    # What rules stand on has rows in their stories alone (`test_finding_commands.py`).
    if part not in ("notes", "unsteady", "resent")
]
BAD = "\x1b[31mred\x1b[0m\u202egnp.exe [bold]x[/bold] \r\n=1+1"


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.cli.common.say_when_uncompiled", lambda: None)


def run(capsysbinary: Any, *words: str | Path) -> str:
    assert main([str(word) for word in words]) == 0
    return capsysbinary.readouterr().out.decode()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of everything, with a name that would harm a terminal, a spreadsheet or a table."""
    folder = tmp_path_factory.mktemp("hostile")
    who = {"client_id": BAD, "client_address": "10.0.0.1"}
    step = {"exchange": 1, "connection": 1, "group_id": BAD, "begin_ns": START_NS, "time_ns": START_NS + 5, **who}
    step |= {
        "group_type": "classic",
        "member_id": BAD,
        "generation": 1,
        "error_code": 0,
        "protocol": BAD,
        "reason": BAD,
    }
    produced = {"api_key": 0, "api_name": "Produce", "api_version": 2, "acks": 1, "request_decoded": "full", **who}
    part = {"exchange": 2, "connection": 1, "side": "request", "topic": BAD, "partition": 0}
    batch = {"records": 1, "bytes": 90, "codec": "lz4", "producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
    stored = {"stored_base_offset": 0, "stored_last_offset": 0, "base_offset": 0, "last_offset": 0, "position": 0}
    fetched = {
        "api_key": 1,
        "api_name": "Fetch",
        "api_version": 12,
        "kind": "fetch_tail",
        "at_ns": START_NS + 10,
        **who,
    }
    tables = {
        "captures": [capture()],
        "connections": [connection(1, software_name=BAD)],
        "exchanges": [
            exchange(1, api_key=11, api_name="JoinGroup", api_version=1, **who),
            exchange(2, transactional_id=BAD, **produced),
            exchange(3, **fetched),
        ],
        "entries": [part | {"record_bytes": 90}],
        "batches": [part | batch | stored, part | batch | stored | {"exchange": 3, "side": "response", "topic": BAD}],
        "fetch_positions": [{**part, "exchange": 3, "time_ns": START_NS, "lag": 5, "next_offset": 1}],
        "group_events": [step | {"event": "join"}, step | {"event": "sync", "time_ns": START_NS + 9}],
        "assignments": [{**step, "topic": BAD, "partition": 0}],
    }
    columns = {name: {column for row in rows for column in row} for name, rows in tables.items()}
    columns["assignments"] -= {"begin_ns", "error_code", "protocol", "reason"}
    columns["fetch_positions"] -= {"side"}
    write(
        folder,
        {
            name: [{key: row[key] for key in row if key in columns[name]} for row in rows]
            for name, rows in tables.items()
        },
    )
    return folder


@pytest.fixture(scope="module")
def kept() -> Iterator[KeptDatasets]:
    with KeptDatasets() as datasets:
        yield datasets


@pytest.fixture
def _read_once(kept: KeptDatasets) -> Iterator[None]:
    """Each part is read once for all formats and widths."""
    with kept.used():
        yield


@pytest.mark.usefixtures("_read_once")
@pytest.mark.parametrize(("verb", "part"), PARTS)
def test_every_part_in_every_format(verb: str, part: str, hostile: Path, capsysbinary: Any) -> None:
    rows = json.loads(run(capsysbinary, verb, hostile, "--part", part, "--format", "json"))
    assert rows, (verb, part)
    lines = run(capsysbinary, verb, hostile, "--part", part, "--format", "jsonl").splitlines()
    assert [json.loads(line) for line in lines] == rows
    table = list(
        csv.DictReader(io.StringIO(run(capsysbinary, verb, hostile, "--part", part, "--format", "csv"), newline=""))
    )
    assert [list(row) for row in table] == [list(row) for row in rows]
    # A spreadsheet must not take a cell for a formula.
    assert not any(cell.startswith("=") for row in table for cell in row.values())


@pytest.mark.usefixtures("_read_once")
@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(("verb", "part"), PARTS)
def test_tables_keep_to_the_width_and_show_no_control_characters(
    verb: str, part: str, width: int, hostile: Path, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = run(capsysbinary, verb, hostile, "--part", part)
    assert len(text.splitlines()) > 1
    assert max(map(len, text.splitlines())) <= width
    assert not set("\x1b\u202e\r") & set(text)


@pytest.mark.parametrize("verb", ["topics", "groups", "transactions", "readiness"])
def test_a_capture_without_any_says_so(verb: str, tmp_path: Path, capsysbinary: Any) -> None:
    write(tmp_path, {"captures": [capture()], "exchanges": [exchange(1, status="orphan_reply")], "connections": []})
    text = run(capsysbinary, verb, tmp_path)
    assert len(text.splitlines()) == 1
    assert json.loads(run(capsysbinary, verb, tmp_path, "--format", "json")) == []


@pytest.fixture(scope="module")
def lab(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    write(folder, broker_log.tables(broker_log.read(shared, "groups_classic")))
    return folder


def test_a_group_is_picked_by_name_or_glob(lab: Path, capsysbinary: Any) -> None:
    rows = json.loads(run(capsysbinary, "groups", lab, "--group", "shop-c*", "--format", "json"))
    assert {row["group_id"] for row in rows} == {"shop-coop", "shop-crash"}
    text = run(capsysbinary, "groups", lab, "--group", "shop-crash")
    assert "Timeline" in text and "shop-coop" not in text
    assert "shop-rk1 stopped responding, no request for 6.0 s" in text
    assert "Timeline" not in run(capsysbinary, "groups", lab)


def test_the_timeline_holds_every_step_once_in_order_of_time(lab: Path, capsysbinary: Any) -> None:
    text = run(capsysbinary, "groups", lab, "--part", "timeline")
    rows = json.loads(run(capsysbinary, "groups", lab, "--part", "timeline", "--format", "json"))
    times = [line.split()[0] for line in text.splitlines()[2:] if line[2:3].isdigit()]
    assert len(times) == len(rows) + 11
    assert times == sorted(times)
    assert all(row["exchange"] in text for row in rows)


def test_filters_by_client_keep_what_a_rebalance_was_about(lab: Path, capsysbinary: Any) -> None:
    rows = json.loads(
        run(capsysbinary, "groups", lab, "--client", "shop-m2", "--part", "rebalances", "--format", "json")
    )
    assert [row["client_id"] for row in rows] == ["shop-m0", "shop-m1", "shop-m2", "shop-m1"]


@pytest.mark.parametrize(("release", "verdict"), [("3.9", "fine_as_far_as_seen"), ("4.4", "breaks")])
def test_readiness_judges_for_the_release_that_was_asked(
    release: str, verdict: str, tmp_path: Path, capsysbinary: Any
) -> None:
    rows = [exchange(1, api_key=0, api_name="Produce", api_version=2)]
    write(tmp_path, {"captures": [capture()], "exchanges": rows, "connections": [connection(1)]})
    found = json.loads(run(capsysbinary, "readiness", tmp_path, "--broker-version", release, "--format", "json"))
    assert [(row["release"], row["verdict"]) for row in found] == [(release, verdict)]
    assert f"Kafka {release}" in run(capsysbinary, "readiness", tmp_path, "--broker-version", release)


def test_a_release_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"captures": [capture()]})
    assert main(["readiness", str(tmp_path), "--broker-version", "9.9"]) == 2


def test_clusters_are_told_apart_where_there_are_several(
    tmp_path: Path, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    step = {"exchange": 1, "connection": 1, "group_id": "g", "begin_ns": START_NS, "time_ns": START_NS + 5}
    step |= {"group_type": "classic", "event": "join", "member_id": "m", "generation": 1, "error_code": 0}
    ids = ("AAAAAAAAAAAAAAAAAAAADQ", "AAAAAAAAAAAAAAAAAAAAEQ")
    for name, clusters in (("one", ids[:1]), ("two", ids)):
        events = [step | {"cluster": cluster, "client_id": "c"} for cluster in clusters]
        write(tmp_path / name, {"captures": [capture()], "connections": [connection(1)], "group_events": events})
    assert "cluster" not in run(capsysbinary, "groups", tmp_path / "one")
    text = run(capsysbinary, "groups", tmp_path / "two")
    assert all(cluster in text for cluster in ids)


def test_a_table_of_a_part_has_a_thousand_rows_and_says_how_to_see_all(
    tmp_path: Path, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    step = {"exchange": 1, "connection": 1, "group_id": "g", "group_type": "classic", "event": "join", "member_id": "m"}
    step |= {"error_code": 0, "client_id": "c"}
    times = range(START_NS, START_NS + 1_200)
    events = [step | {"generation": n, "begin_ns": time, "time_ns": time} for n, time in enumerate(times)]
    write(tmp_path, {"captures": [capture()], "connections": [connection(1)], "group_events": events})
    words = ("groups", tmp_path, "--part", "timeline")
    some, whole = run(capsysbinary, *words), run(capsysbinary, *words, "--limit", "0")
    assert whole.count(" join ") == 1_200
    assert 900 < some.count(" join ") <= 1_000
    assert f" more (kanalyze groups --part timeline --limit 0 {tmp_path}" in some
    assert " more (" not in whole
