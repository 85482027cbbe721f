"""Throttling and errors of lab captures against the broker's own log of the same requests."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.query.dataset import Dataset
from analyzer.run.local import open_dataset
from dissectors.kafka.schema.error_codes import sentence_sizes

# INVALID_CONFIG, INVALID_REQUEST of settings.
OF_SETTINGS = (40, 42)
# Brokers that delay (before 2.0), that mute, and one that answers in every way it can.
CAPTURES = ("throttle", "broker_11", "broker_24", "basics", "errors", "kafka44_throttle", "kafka44_clients")


@pytest.fixture(scope="module", params=CAPTURES)
def both(request: pytest.FixtureRequest, shared: Path) -> Iterator[tuple[str, Dataset, list[dict[str, Any]]]]:
    """A capture's dataset and the broker's log of it, inner messages of envelopes dropped: they are logged twice."""
    folder = shared / "captures" / "lab"
    name = request.param
    (path,) = [folder / f"{name}.{end}" for end in ("pcap", "pcap.zst") if (folder / f"{name}.{end}").exists()]
    log = subprocess.run(
        ["zstdcat", str(folder / f"{name}.requests.jsonl.zst")], check=True, capture_output=True, text=True
    ).stdout
    lines = [line for line in map(json.loads, log.splitlines()) if not line["isForwarded"]]
    options = Options(tables=("exchanges", "errors", "mutes"))
    with open_dataset([str(path)], options) as found:
        yield name, found, lines


def plain(name: str) -> str:
    """OFFSET_COMMIT and OffsetCommit alike."""
    return name.replace("_", "").lower()


def test_throttle_times_are_those_that_the_broker_told(both: tuple[str, Dataset, list[dict[str, Any]]]) -> None:
    _, found, lines = both
    wanted: Counter[tuple[str, str]] = Counter()
    sums: Counter[tuple[str, str]] = Counter()
    for line in lines:
        told = (line["response"] or {}).get("throttleTimeMs") or 0
        if told > 0:
            key = (plain(line["requestHeader"]["requestApiKeyName"]), line["requestHeader"]["clientId"])
            wanted[key] += 1
            sums[key] += told
    rows = found.metric("throttle")
    assert Counter({(plain(row["api_name"]), row["client_id"]): row["throttled"] for row in rows}) == wanted
    assert Counter({(plain(row["api_name"]), row["client_id"]): row["throttle_time_ms"] for row in rows}) == sums


def test_brokers_before_2_0_delay_and_newer_ones_mute(both: tuple[str, Dataset, list[dict[str, Any]]]) -> None:
    name, found, _ = both
    rows = found.metric("throttle")
    if name == "broker_11":
        assert rows and all(row["delayed"] == row["throttled"] and row["throttled_ns"] is None for row in rows)
        # The broker holds a reply back for as long as it tells, or a little longer: the capture saw that time pass.
        assert sum(row["delayed_ns"] for row in rows) == pytest.approx(
            sum(row["throttle_time_ms"] for row in rows) * 1_000_000, rel=0.01
        )
    else:
        assert all(row["delayed"] == 0 and row["throttled_ns"] > 0 for row in rows)
        assert all(0 < row["share"] <= 1 for row in rows)


def codes(value: Any) -> set[int]:
    """Every error code that is not 0, at any depth of a logged reply."""
    if isinstance(value, list):
        return set().union(*map(codes, value)) if value else set()
    if not isinstance(value, dict):
        return set()
    names = ("errorCode", "topicErrorCode", "partitionErrorCode")
    own = {value[name] for name in names if isinstance(value.get(name), int) and value[name] != 0}
    return own.union(*map(codes, value.values()))


def test_errors_are_those_that_the_broker_told(both: tuple[str, Dataset, list[dict[str, Any]]]) -> None:
    name, found, lines = both
    if name == "broker_11":
        pytest.skip("its log is text that names error codes in other ways")
    wanted = Counter(
        (plain(line["requestHeader"]["requestApiKeyName"]), code)
        for line in lines
        for code in codes(line["response"] or {})
    )
    found.choose(Settings(("api",)))
    got: Counter[tuple[str, int]] = Counter()
    for row in found.metric("errors"):
        got[plain(row["api_name"]), row["code"]] += row["exchanges"]
    found.choose(Settings())
    assert got == wanted


def said(value: Any) -> set[tuple[int, str]]:
    """Every error code of a logged reply, at any depth, with the text beside it."""
    if isinstance(value, list):
        return set().union(*map(said, value)) if value else set()
    if not isinstance(value, dict):
        return set()
    own = (
        {(value["errorCode"], value["errorMessage"])} if value.get("errorCode") and value.get("errorMessage") else set()
    )
    return own.union(*map(said, value.values()))


def test_messages_are_those_that_the_broker_sent(both: tuple[str, Dataset, list[dict[str, Any]]]) -> None:
    _, found, lines = both
    rows = found.query("SELECT DISTINCT code, error_message FROM errors WHERE error_message IS NOT NULL")
    told = {(row["code"], row["error_message"]) for row in rows}
    logged: set[tuple[int, str]] = set().union(*(said(line["response"]) for line in lines))
    assert told <= logged
    # The rest are sentences for a code, and what repeats a setting.
    usual = set(sentence_sizes())
    left = {code for code, text in logged - told if (code, len(text)) not in usual}
    assert left <= set(OF_SETTINGS)
