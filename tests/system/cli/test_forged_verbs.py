"""What verbs say of a capture of a release that nobody knows: first what was not read, then nothing that is false.

Each answer is held against that of the same traffic before it was forged: errors, throttled replies, members and transactions are
the same, fewer, or not known.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from forged_capture import forge_capture
from kept_datasets import KeptDatasets
from transform import read_pcap, write_pcap

from analyzer.cli.main import main
from analyzer.query.readability import ASKS

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
Rows = list[dict[str, Any]]
Ask = Callable[..., str]


@pytest.fixture(scope="module", params=["transactions", "throttle"])
def captures(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("forged")
    source = SAMPLES / f"{request.param}.pcap.zst"
    made = {name: folder / f"{name}.pcap" for name in ("before", "after")}
    write_pcap(made["before"], *read_pcap(source))
    assert forge_capture(source, made["after"]) > 100
    return made


@pytest.fixture(scope="module")
def kept() -> Iterator[KeptDatasets]:
    with KeptDatasets() as datasets:
        yield datasets


@pytest.fixture
def ask(
    captures: dict[str, Path], kept: KeptDatasets, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Ask:
    monkeypatch.setenv("COLUMNS", "120")

    def call(verb: str, case: str, *words: str) -> str:
        capsys.readouterr()
        with kept.used():
            assert main([verb, str(captures[case]), *words]) == 0
        return capsys.readouterr().out

    return call


def test_every_verb_says_first_what_was_not_read(ask: Ask) -> None:
    for verb in (*sorted(set(ASKS) - {"everything", "delivery", "partition", "show"}), "report"):
        first = " ".join(ask(verb, "after").split())[:400]
        begin = first.partition(": ")[0]
        assert begin in ("Read in part", "Not read") or begin.endswith("not known"), (verb, first)
        assert "this kanalyze does not know" in first, (verb, first)
    assert "Errors: none beyond" not in ask("errors", "after")
    report = ask("report", "after")
    assert "of Kafka bytes read" not in report and "Nothing found:" not in report


def test_no_error_and_no_throttle_time_is_added(ask: Ask) -> None:
    for verb, keys, number in (
        ("errors", ("code", "client_id"), "exchanges"),
        ("throttle", ("client_id",), "throttle_time_ms"),
    ):
        before, after = (
            _sums(json.loads(ask(verb, case, "--format", "json")), keys, number) for case in ("before", "after")
        )
        assert not after - before, (verb, after - before)


def test_counts_are_as_before_or_not_known(ask: Ask) -> None:
    for verb, key, names in (
        ("clients", "client_id", ("errors", "throttled")),
        ("groups", "group_id", ("members", "rebalances")),
        ("transactions", "transactional_id", ("begun", "committed", "aborted")),
    ):
        rows = {row[key]: row for row in json.loads(ask(verb, "before", "--format", "json"))}
        for row in json.loads(ask(verb, "after", "--format", "json")):
            for name in names:
                told = row[name]
                least = (
                    verb == "clients" and told is not None and row["unread_replies"] and told <= rows[row[key]][name]
                )
                assert told is None or least or told == rows[row[key]][name], (verb, name, row)


def test_no_limit_passes(captures: dict[str, Path]) -> None:
    """What is known may break one all the same: of newer replies the throttle time is."""
    assert main(["check", str(captures["after"]), "--no-high"]) in (1, 3)
    for words in (("--max-errors", "1000000"), ("--max-throttled", "100%")):
        assert main(["check", str(captures["after"]), *words]) == 3


def _sums(rows: Rows, keys: tuple[str, ...], number: str) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        found[tuple(row[key] for key in keys)] += row[number] or 0
    return found
