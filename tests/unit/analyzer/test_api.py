"""The Python API says what the command line says."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from kanalyze_process import COMMAND
from kept_datasets import KeptDatasets
from paths import SAMPLES

import analyzer
from analyzer.base.tables import TABLES, arrow_schema
from analyzer.cli.main import cli, main
from analyzer.compare.captures import PARTS
from analyzer.inputs.sources import InputError
from analyzer.query.export import with_hex_keys

THROTTLE = SAMPLES / "throttle.pcap.zst"


@pytest.fixture(scope="module")
def captures() -> list[str]:
    return [str(SAMPLES / f"{name}.pcap.zst") for name in ("groups_classic", "transactions")]


@pytest.fixture(scope="module")
def several(captures: list[str]) -> Iterator[analyzer.Capture]:
    with analyzer.read(captures) as found:
        yield found


@pytest.fixture(scope="module")
def cap() -> Iterator[analyzer.Capture]:
    with analyzer.read(THROTTLE) as found:
        yield found


_kept = KeptDatasets()


@pytest.fixture(scope="module", autouse=True)
def _read_once() -> Iterator[None]:
    with _kept:
        yield


def command(*arguments: str) -> str:
    """What the verb prints, in this process: starting one takes longer than the answer. Captures are read once for all verbs."""
    with _kept.used():
        done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_an_attribute_with_the_columns_of_the_contract(name: str, cap: analyzer.Capture) -> None:
    frame = getattr(cap, name)
    assert frame.columns == arrow_schema(name).names == frame.to_arrow().schema.names
    assert name in dir(cap)


@pytest.mark.slow
def test_findings_are_those_of_the_command_line(cap: analyzer.Capture) -> None:
    told = [
        {name: value for name, value in row.items() if name != "costs"}
        for row in json.loads(command("findings", str(THROTTLE), "--format", "json"))
    ]
    found = cap.findings
    assert len(found) == len(told) > 3
    for each, wanted in zip(found, told, strict=True):
        same = {
            name: getattr(each, name)
            for name in wanted
            if name not in ("finding", "connection", "evidence", "symptoms")
        }
        same |= {"finding": each.name, "connection": each.connection and f"{each.connection:016x}"}
        assert same.items() <= wanted.items()
        assert [f"{one.exchange:016x}" for one in each.evidence] == [one["exchange"] for one in wanted["evidence"]]
        assert all(f"exchange='{one.exchange:016x}'" in repr(one) for one in each.evidence)
        assert [one.sentence for one in each.symptoms] == [one["sentence"] for one in wanted["symptoms"]]
        assert repr(each) == f"<{wanted['severity']}: {wanted['sentence']}>" and len(repr(each)) < 200
        assert escape(wanted["sentence"]) in found._repr_html_()
        assert escape(wanted["do"]) in each._repr_html_()
    rows = [with_hex_keys(row) | {"numbers": json.loads(row["numbers"])} for row in found.to_pylist()]
    assert [[with_hex_keys(one) for one in row["evidence"]] for row in rows] == [row["evidence"] for row in told]
    assert [row | {"evidence": None} for row in rows] == [row | {"evidence": None} for row in told]
    assert [each.name for each in found[1:3]] == [row["finding"] for row in told[1:3]]


def test_latency_by_client_adds_up(cap: analyzer.Capture) -> None:
    def counts(frame: Any) -> list[int]:
        return [row["count"] for row in frame.to_pylist()]

    whole = sum(counts(cap.latency()))
    parts = cap.latency(by=["client"])
    assert sum(counts(parts)) == whole
    assert len({row["client_id"] for row in parts.to_pylist()}) > 3
    # One name needs no list, and what was asked for once is not remembered.
    assert cap.latency(by="client").to_pylist() == parts.to_pylist()
    assert sum(counts(cap.latency())) == whole
    with pytest.raises(ValueError, match="weather"):
        cap.latency(by=["weather"])


# A method, its arguments, and the words of the verb that says the same.
VERBS = [
    ("groups", {}, ["groups"]),
    ("groups", {"part": "rebalances"}, ["groups", "--part", "rebalances"]),
    ("groups", {"part": "members", "group": "shop-*"}, ["groups", "--part", "members", "--group", "shop-*"]),
    ("groups", {"part": "timeline", "group": ["none", "*"]}, ["groups", "--part", "timeline"]),
    ("topics", {}, ["topics"]),
    ("topics", {"part": "delivery"}, ["topics", "--part", "delivery"]),
    ("transactions", {}, ["transactions"]),
    ("transactions", {"part": "list"}, ["transactions", "--part", "list"]),
    ("readiness", {}, ["readiness"]),
    ("readiness", {"broker_version": "4.0.0"}, ["readiness", "--broker-version", "4.0.0"]),
    ("latency", {"by": "client"}, ["latency", "--by", "client"]),
    ("throttle", {}, ["throttle"]),
    ("sql", {"query": "select * from mutes order by all"}, ["sql", "select * from mutes order by all"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "given", "verb"), VERBS)
def test_a_method_says_what_the_verb_says(
    captures: list[str], several: analyzer.Capture, method: str, given: dict[str, Any], verb: list[str]
) -> None:
    told = json.loads(command(verb[0], *captures, *verb[1:], "--format", "json"))
    found = [with_hex_keys(row) for row in getattr(several, method)(**given).to_pylist()]
    assert json.loads(json.dumps(found, default=lambda moment: moment.isoformat(" "))) == told
    assert told or method in ("sql", "throttle")


@pytest.mark.slow
def test_a_comparison_says_what_diff_says(
    several: analyzer.Capture, captures: list[str], cap: analyzer.Capture
) -> None:
    with analyzer.read(captures[0]) as before:
        found = before.diff(cap)
        told = json.loads(command("diff", captures[0], str(THROTTLE), "--format", "json"))
        for name in ("latency", "errors", "clients", "findings"):
            assert getattr(found, name).to_pylist() == told[name]
            assert getattr(found, name).to_arrow().num_rows == len(told[name])
        text = command("diff", captures[0], str(THROTTLE)).splitlines()
        assert next(line.rstrip() for line in text if line.strip()) == repr(found).splitlines()[0]
    with analyzer.read(THROTTLE, client="a") as narrowed, pytest.raises(ValueError, match="filters"):
        several.diff(narrowed)
    with pytest.raises(TypeError, match="after"):
        several.diff(str(THROTTLE))


def test_a_part_of_diff_is_that_of_the_whole(captures: list[str]) -> None:
    words = ("diff", *captures, "--format", "json")
    (part,) = [each for each in cli.get_command(click.Context(cli), "diff").params if each.name == "part"]  # type: ignore[union-attr]
    assert part.type.choices == PARTS  # type: ignore[attr-defined]
    whole = json.loads(command(*words))
    parts = {name: json.loads(command(*words, "--part", name)) for name in PARTS}
    for name, told in parts.items():
        assert whole[name] and told.keys() == {name, "readable"} and told[name] == whole[name]


@pytest.mark.slow
def test_check_says_what_the_verb_says(cap: analyzer.Capture, tmp_path: Path) -> None:
    rules = tmp_path / "limits.toml"
    rules.write_text(
        '[quick]\nmetric = "latency"\ncolumn = "p99_ns"\nmax = "5 ms"\n[calm]\nmetric = "errors"\nsum = "count"\nmax = 1000\n'
    )
    found = cap.check(rules)
    line = [*COMMAND, "check", str(THROTTLE), "--rules", str(rules), "--format", "json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and found.to_pylist() == json.loads(done.stdout)
    assert not found.passed and [row["passed"] for row in found.to_pylist()] == [False, True]
    assert repr(found) == "FAILED: quick\nok: calm" and "quick" in found._repr_html_()
    assert json.loads(found.to_arrow().to_pylist()[0]["failed"]) == found.to_pylist()[0]["failed"]


@pytest.mark.slow
def test_show_is_that_of_the_command_line(cap: analyzer.Capture) -> None:
    number = cap.sql("SELECT exchange FROM exchanges WHERE api_name = 'Produce' ORDER BY exchange LIMIT 1").to_pylist()[
        0
    ]
    told = command("show", str(THROTTLE), f"{number['exchange']:016x}")
    assert cap.show(number["exchange"]) == told.rstrip("\n") == cap.show(f"{number['exchange']:016x}")
    with pytest.raises(KeyError):
        cap.show("0" * 16)
    with pytest.raises(ValueError, match="neither"):
        cap.show("nonsense")


@pytest.mark.slow
def test_html_is_the_page_of_the_command_line(cap: analyzer.Capture) -> None:
    assert cap.html() == command("html", str(THROTTLE), "-o", "-")


def test_filters_narrow_every_table() -> None:
    with analyzer.read([THROTTLE], client="shop-slow-*") as found:
        assert {row["client_id"] for row in found.exchanges.to_pylist()} == {"shop-slow-p", "shop-slow-c"}
        inside = {row["exchange"] for row in found.exchanges.to_pylist()}
        assert {row["exchange"] for row in found.mutes.to_pylist()} <= inside


def test_temporary_files_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = analyzer.read(THROTTLE)
    assert any(tmp_path.iterdir())
    found.close()
    found.close()
    assert not any(tmp_path.iterdir())


def test_what_cannot_be_read_is_an_error_with_a_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing-here"):
        analyzer.read(tmp_path / "nothing-here.pcap")


WRONG = [
    ({"ports": "9092"}, TypeError, "ports"),
    ({"ports": [9092, "9093"]}, TypeError, "ports"),
    ({"ports": 9092.0}, TypeError, "ports"),
    ({"ports": True}, TypeError, "ports"),
    ({"ports": 70_000}, ValueError, "ports"),
    ({"client": 5}, TypeError, "client"),
    ({"client": b"app"}, TypeError, "client"),
    ({"topic": ["a", None]}, TypeError, "topic"),
    ({"from_ns": "2026-13-01"}, ValueError, "from_ns"),
    ({"from_ns": 1.5}, TypeError, "from_ns"),
    ({"to_ns": 1.5e18}, TypeError, "to_ns"),
    ({"tls_key_logs": 5}, TypeError, "tls_key_logs"),
    ({"temp_dir": 5}, TypeError, "temp_dir"),
    ({"jobs": 0}, ValueError, "jobs"),
    ({"jobs": "2"}, TypeError, "jobs"),
    ({"max_connections": False}, TypeError, "max_connections"),
    ({"taps": [("a", "b", "c")]}, TypeError, "taps"),
    ({"tables": ("exchanges",)}, TypeError, "tables: no such option"),
    ({"weather": 1}, TypeError, "weather: no such option"),
]


@pytest.mark.parametrize(("given", "error", "told"), WRONG)
def test_a_wrong_argument_of_read_is_refused_by_name(given: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        analyzer.read(THROTTLE, **given)


@pytest.mark.parametrize("inputs", [5, [], b"x.pcap", ["x.pcap", 5], None])
def test_inputs_are_paths(inputs: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="inputs"):
        analyzer.read(inputs)


def test_right_arguments_are_taken_in_any_form(cap: analyzer.Capture) -> None:
    class Number:
        def __index__(self) -> int:
            return 9092

    with analyzer.read((THROTTLE,), ports=Number(), client=iter(["shop-*"]), from_ns=0, jobs=1) as found:
        assert 0 < len(found.exchanges) < len(cap.exchanges)


def test_times_are_taken_as_they_are_printed(cap: analyzer.Capture, tmp_path: Path) -> None:
    begin = cap.sql("SELECT min(first_time_ns) AS ns FROM captures").to_arrow().to_pylist()[0]["ns"]
    assert main(["export", str(THROTTLE), "--to", str(tmp_path / "day")]) == 0
    whole = begin + 5 * 10**9
    clock = f"{datetime.fromtimestamp(whole // 10**9, UTC):%H:%M:%S}.{whole % 10**9:09d}"
    counts = set()
    for inputs in (THROTTLE, tmp_path / "day"):
        for word in (whole, clock, "+5s"):
            with analyzer.read(inputs, from_ns=word) as found:
                counts.add(len(found.exchanges))
    assert len(counts) == 1 and 0 < counts.pop() < len(cap.exchanges)
    with pytest.raises(ValueError, match="from_ns: 'later' is not a moment"):
        analyzer.read(THROTTLE, from_ns="later")


def test_a_wrong_argument_of_a_question_is_refused_by_name(cap: analyzer.Capture) -> None:
    for ask, error, told in (
        (lambda: cap.latency(every_ns="1s"), TypeError, "every_ns"),
        (lambda: cap.latency(by=5), TypeError, "by"),
        (lambda: cap.metric(5), TypeError, "name"),
        (lambda: cap.sql(5), TypeError, "query"),
        (lambda: cap.groups(part="weather"), ValueError, "there are groups, rebalances"),
        (lambda: cap.groups(group=5), TypeError, "group"),
        (lambda: cap.readiness("banana"), ValueError, "there are 3.9"),
        (lambda: cap.check(5), TypeError, "rules"),
        (lambda: cap.show(1.5), TypeError, "exchange"),
    ):
        with pytest.raises(error, match=told):
            ask()


def test_the_way_in_is_offered_before_anything_is_loaded() -> None:
    """What a shell offers after `from analyzer import`, and that this and the import itself load nothing heavy."""
    code = (
        "import sys, analyzer; names = dir(analyzer); "
        "print(names, sorted({'duckdb', '_duckdb', 'pyarrow', 'rich', 'analyzer.api'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "['Capture', 'read'] []\n"
