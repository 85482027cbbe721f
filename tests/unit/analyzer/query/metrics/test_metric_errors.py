"""Errors by anything, over time, with bursts, normal ones apart, and what brokers tell each other apart."""

from __future__ import annotations

import io
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from made_rows import SECOND_NS, START_NS, Rows, connection, dataset, error, exchange
from rich.console import Console

from analyzer.base.settings import Settings
from analyzer.query.dataset import Dataset


def told(seed: int) -> tuple[Rows, Rows]:
    choose = random.Random(seed)
    rows = [
        exchange(
            number,
            client_id=f"c{number % 3}",
            group_id=choose.choice(["g", "h", None]),
            api_name=choose.choice(["Produce", "Fetch"]),
            broker_id=number % 2,
            at_ns=START_NS + choose.randrange(9 * SECOND_NS),
        )
        for number in range(200)
    ]
    codes = [
        error(
            choose.randrange(200),
            choose.choice([1, 3, 6]),
            topic=choose.choice(["a", "b", None]),
            partition=choose.choice([0, 1, None]),
            expected=choose.choice([True, False]),
        )
        for _ in range(900)
    ]
    return rows, codes


def page(found: Dataset, width: int = 120) -> str:
    sink = io.StringIO()
    from analyzer.report.terminal import print_section

    print_section(found, "errors", Console(file=sink, width=width))
    return sink.getvalue()


COLUMNS = {
    "api": "api_name",
    "topic": "topic",
    "partition": "partition",
    "group": "group_id",
    "client": "client_id",
    "broker": "broker_id",
}


@pytest.mark.parametrize("by", [(name,) for name in COLUMNS] + [("api", "partition"), ("group", "client", "topic")])
def test_every_grouping_agrees_with_plain_python(tmp_path: Path, by: tuple[str, ...]) -> None:
    rows, codes = told(3)
    with dataset(tmp_path, {"exchanges": rows, "errors": codes}) as opened:
        opened.choose(Settings(by))
        got = opened.metric("errors")
    keys = list(dict.fromkeys(["code", *(COLUMNS[name] for name in by), *(["topic"] if "partition" in by else [])]))
    full = [rows[each["exchange"]] | each for each in codes]
    wanted = Counter(tuple(each[key] for key in keys) for each in full)
    assert Counter({tuple(row[key] for key in keys): row["count"] for row in got}) == wanted
    assert len(got) == len(wanted) == got[0]["total_rows"]
    for row in got:
        mine = [each for each in full if all(each[key] == row[key] for key in keys)]
        seconds = Counter(each["response_time_ns"] // SECOND_NS for each in mine)
        assert row["burst"] == max(seconds.values())
        assert row["exchanges"] == len({each["exchange"] for each in mine})
        assert row["expected"] == sum(each["expected"] for each in mine)
        assert row["unexpected"] == sum(not each["expected"] for each in mine)
        example = rows[row["example_exchange"]]
        failed = {each["exchange"] for each in mine if not each["expected"]}
        assert not failed or example["exchange"] in failed
        assert (row["example_path"], row["example_packet"]) == ("made.pcap", example["request_packet"])


def test_over_time_the_codes_of_each_slot_are_counted(tmp_path: Path) -> None:
    rows, codes = told(4)
    with dataset(tmp_path, {"exchanges": rows, "errors": codes}) as opened:
        opened.choose(Settings(("api",), 2 * SECOND_NS))
        got = opened.metric("errors")
    times = [rows[each["exchange"]]["response_time_ns"] for each in codes]
    wanted = Counter(each - each % (2 * SECOND_NS) for each in times)
    found: Counter[int] = Counter()
    for row in got:
        found[row["slot_ns"]] += row["count"]
    assert found == wanted
    assert [row["slot_ns"] for row in got] == sorted(row["slot_ns"] for row in got)


def test_the_headline_counts_failures_and_not_what_is_normal(tmp_path: Path) -> None:
    rows: Rows = [exchange(number, api_name="Produce") for number in range(10)]
    rows += [exchange(10, api_name="AlterPartition", role="controller", connection=2)]
    made: list[tuple[int, int, dict[str, Any]]] = [
        (0, 19, {"retriable": True, "expected": False, "name": "NOT_ENOUGH_REPLICAS"}),
        (1, 19, {"retriable": True, "expected": False, "name": "NOT_ENOUGH_REPLICAS"}),
        (2, 45, {"retriable": False, "expected": False, "name": "OUT_OF_ORDER_SEQUENCE_NUMBER"}),
        (3, 6, {"retriable": True, "expected": True, "name": "NOT_LEADER_OR_FOLLOWER"}),
        (10, 41, {"retriable": True, "expected": False, "name": "NOT_CONTROLLER"}),
    ]
    codes = [error(number, code, **values) for number, code, values in made]
    with dataset(tmp_path, {"exchanges": rows, "errors": codes, "connections": [connection(1)]}) as opened:
        text = page(opened)
    lines = text.splitlines()
    assert lines[0] == ("Errors: 3 failures, 1 of them fatal (not retriable); 1 more code of normal operation")
    between = lines.index("Between brokers")
    assert any("NOT_CONTROLLER" in line for line in lines[between:])
    assert not any("NOT_CONTROLLER" in line for line in lines[:between])
    assert "An example, made.pcap packet 1 (kanalyze show CAPTURE 0000000000000000)" in text


def test_what_brokers_say_of_failures_is_told_once(tmp_path: Path) -> None:
    codes = [error(n, 38, name="INVALID_REPLICATION_FACTOR", error_message="3 asked, 1 there\x07") for n in range(3)]
    codes.append(error(3, 36, name="TOPIC_ALREADY_EXISTS", expected=True, error_message="it is there"))
    rows = [exchange(number, api_name="CreateTopics", client_id=f"made-{number}") for number in range(4)]
    with dataset(tmp_path, {"exchanges": rows, "errors": codes}) as opened:
        text = " ".join(page(opened).split())
    assert text.count("CreateTopics, 38 INVALID_REPLICATION_FACTOR: the broker says 3 asked, 1 there\\x07") == 1
    assert "it is there" not in text


def test_when_all_is_normal_the_page_says_so(tmp_path: Path) -> None:
    codes = [error(1, 79, expected=True)]
    with dataset(tmp_path, {"exchanges": [exchange(1)], "errors": codes}) as opened:
        assert page(opened).startswith("Errors: none beyond normal operation (1 code of normal operation)")
    with dataset(tmp_path / "none", {"exchanges": [exchange(1)]}) as opened:
        assert page(opened) == "No error codes in this capture.\n"


def test_what_is_normal_never_hides_a_failure(tmp_path: Path) -> None:
    """Of more rows than are read, the failures of clients come first; sums say that there may be more."""
    rows: Rows = [exchange(number, api_name="Heartbeat", client_id=f"normal-{number}") for number in range(700)]
    rows += [
        exchange(number, api_name="Fetch", client_id=f"broker-{number}", role="follower", connection=2)
        for number in range(700, 1400)
    ]
    rows.append(exchange(1400, api_name="Produce", client_id="unlucky"))
    codes = [
        error(number, 27 if number < 700 else 6, expected=number < 700, name="NAME", retriable=True)
        for number in [*range(1400), *range(1400)]
    ]
    codes.append(error(1400, 2, expected=False, name="CORRUPT_MESSAGE", retriable=True))
    with dataset(tmp_path, {"exchanges": rows, "errors": codes}) as opened:
        got = opened.metric("errors")
        text = " ".join(page(opened).split())
    assert len(got) == 1000 and got[0]["total_rows"] == 1401
    failures = [row["client_id"] for row in got if not row["expected"] and not row["between_brokers"]]
    assert failures == ["unlucky"]
    assert text.startswith("Errors: 1 failure, 0 of them fatal (not retriable); at least 1,400 more codes of normal")
    assert "2 CORRUPT_MESSAGE" in text
