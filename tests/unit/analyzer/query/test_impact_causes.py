"""What findings explain of the accounts of impact: about the same, at the same time, each request once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_rows import SECOND_NS, START_NS, Rows, connection, dataset, error, exchange

from analyzer.query.dataset import Dataset
from analyzer.query.findings import ACCOUNTS, rule, rules
from analyzer.query.impact_causes import UNEXPLAINED, shares, without_explained
from analyzer.query.incidents import SLACK_NS, Finding

REFUSED, SLOW = "refused", "time"


def at(seconds: float) -> int:
    return START_NS + int(seconds * SECOND_NS)


def finding(name: str, severity: str = "medium", /, **row: Any) -> Finding:
    times = {"first_time_ns": at(0), "last_time_ns": at(60)}
    return Finding(rule(name), severity, {"weight": 1} | times | row, ())


def made(folder: Path, client: str = "app", address: str = "10.0.1.1") -> Dataset:
    """Five requests that took 1 s each; three of them were refused, of a topic."""
    rows: Rows = [
        exchange(n, at_ns=at(10 * n), latency_ns=SECOND_NS, client_id=client, broker_address=address, request_bytes=n)
        for n in range(5)
    ]
    codes = [error(n, 3, name="UNKNOWN_TOPIC_OR_PARTITION", topic="t", expected=False) for n in range(3)]
    return dataset(folder, {"exchanges": rows, "errors": codes, "connections": [connection(1)]})


def explained(data: Dataset, *found: Finding) -> dict[tuple[str, int | None], tuple[int, int | None, dict[int, int]]]:
    told = shares(data, found)
    return {(each.account, each.finding): (each.times, each.lost_ns, each.also) for each in told}


def test_without_findings_nothing_is_explained(tmp_path: Path) -> None:
    wanted = {(REFUSED, None): (3, None, {}), (SLOW, None): (5, 5 * SECOND_NS, {})}
    assert explained(made(tmp_path)) == wanted


def test_each_request_goes_to_the_first_by_rank_and_others_are_also_possible(tmp_path: Path) -> None:
    later, first = finding("slow_requests", who="app"), finding("slow_broker", "info", broker="10.0.1.1:9092")
    told = explained(made(tmp_path), later, first)
    assert told[SLOW, 1] == (5, 5 * SECOND_NS, {0: 5})
    assert (SLOW, 0) not in told
    assert told[REFUSED, None] == (3, None, {})


@pytest.mark.parametrize(
    ("row", "times"),
    [
        ({"who": "app"}, 5),
        ({"who": "other"}, 0),
        ({"who": "app", "broker": "10.0.1.2:9092"}, 0),
        ({"who": "app", "api_name": "Fetch"}, 0),
        ({}, 0),  # about nothing
        ({"host": "10.0.1.1", "broker": "10.0.1.1:1"}, 5),  # all ports of a host
        ({"host": "10.0.0.1"}, 5),  # the host of a client
        ({"broker": "10.0.1.1:9092", "who": "other", "clients": 3}, 5),  # names one of several
        ({"connection": 1}, 5),
        ({"connection": 2}, 0),
        ({"who": "app", "last_time_ns": at(-0.5) - SLACK_NS}, 0),
        ({"who": "app", "last_time_ns": at(15.5) - SLACK_NS}, 2),
        ({"who": "it's {0} \\ %"}, 0),
    ],
)
def test_about_the_same_at_the_same_time(tmp_path: Path, row: dict[str, Any], times: int) -> None:
    if "last_time_ns" in row:
        row = {"first_time_ns": row["last_time_ns"]} | row
    told = explained(made(tmp_path), finding("slow_requests", **row))
    assert told.get((SLOW, 0), (0,))[0] == times
    assert told.get((SLOW, None), (0,))[0] == 5 - times


@pytest.mark.parametrize(
    ("cause", "times"),
    [
        (finding("missing_topic", who="app", topic="t"), 3),
        (finding("missing_topic", who="app", topic="another"), 0),
        (finding("missing_topic", who="app", topic="name", topic_id="t"), 3),  # refused by an id alone
        (finding("leader_loop", who="app"), 0),  # another error
        (finding("failing", who="app", api_name="Metadata", name="UNKNOWN_TOPIC_OR_PARTITION"), 3),
        (finding("failing", who="app", api_name="Metadata", name="NOT_CONTROLLER"), 0),
    ],
)
def test_a_rule_explains_the_errors_that_it_names(tmp_path: Path, cause: Finding, times: int) -> None:
    assert explained(made(tmp_path), cause).get((REFUSED, 0), (0,))[0] == times


def test_a_symptom_explains_for_its_cause(tmp_path: Path) -> None:
    symptom = finding("slow_requests", who="app")
    cause = Finding(rule("acks_0"), "info", {"weight": 1, "who": "other"}, (), symptoms=(symptom,))
    assert explained(made(tmp_path), cause)[SLOW, 0] == (5, 5 * SECOND_NS, {})


def test_addresses_of_ipv6_are_compared_in_brackets(tmp_path: Path) -> None:
    told = explained(made(tmp_path, address="fd00::1"), finding("slow_broker", broker="[fd00::1]:9092"))
    assert told[SLOW, 0][0] == 5


@pytest.mark.parametrize(("cluster", "times"), [("c", 5), (None, 5), ("10.0.1.9:9094", 5), ("d", 0)])
def test_a_cluster_without_an_id_may_be_any(cluster: str | None, times: int, tmp_path: Path) -> None:
    rows: Rows = [exchange(n, at_ns=at(10 * n), latency_ns=SECOND_NS) for n in range(5)]
    story = {"exchanges": rows, "connections": [connection(1, cluster=cluster)]}
    told = explained(dataset(tmp_path, story), replace(finding("slow_requests", who="app"), cluster="c"))
    assert told.get((SLOW, 0), (0,))[0] == times


def test_rules_name_accounts_that_exist() -> None:
    costs = [cost for each in rules() for cost in each.costs]
    assert {cost.account for cost in costs} == set(ACCOUNTS)


def refused(folder: Path, times: int) -> Dataset:
    rows: Rows = [exchange(n, at_ns=at(10 * n), client_id=("app", "other")[n % 2]) for n in range(times)]
    codes = [error(n, 3, name="UNKNOWN_TOPIC_OR_PARTITION", topic="t", expected=False) for n in range(times)]
    return dataset(folder, {"exchanges": rows, "errors": codes, "connections": [connection(1)]})


def entries(data: Dataset) -> list[Finding]:
    return [Finding(rule(UNEXPLAINED), row["severity"], row, ()) for row in data.ask(rule(UNEXPLAINED).sql)]


def test_an_entry_that_nothing_explains_is_told(tmp_path: Path) -> None:
    data = refused(tmp_path, 5)
    (told,) = without_explained(data, entries(data))
    assert (told.row["account"], told.row["times"], told.row["explained"]) == (REFUSED, 5, None)


@pytest.mark.parametrize(
    ("times", "who", "left"),
    [(9, "app", []), (10, "app", [5]), (10, "nobody", [None]), (9, "nobody", [None])],
    ids=("the rest is below the limit", "the rest is told", "about another", "about another, too"),
)
def test_an_entry_is_told_for_what_others_leave(tmp_path: Path, times: int, who: str, left: list[int | None]) -> None:
    data = refused(tmp_path, times)
    cause = finding("failing", "info", who=who, last_time_ns=at(1000))
    told = without_explained(data, [cause, *entries(data)])
    assert told[0] is cause
    assert [each.row["explained"] for each in told[1:]] == left


def test_waits_that_others_leave_must_be_long_for_one_of_them(tmp_path: Path) -> None:
    """A group waits whenever it starts."""
    join = {"api_key": 11, "api_name": "JoinGroup", "kind": "join_wait"}
    waits: Rows = [
        exchange(n, at_ns=at(100 * n), latency_ns=seconds * SECOND_NS, **join) for n, seconds in enumerate((30, 3, 3))
    ]
    data = dataset(tmp_path, {"exchanges": waits, "connections": [connection(1)]})
    (entry,) = without_explained(data, entries(data))
    assert (entry.row["times"], entry.row["longest_ns"]) == (3, 30 * SECOND_NS)
    cause = next(each.name for each in rules() if "rebalance" in {cost.account for cost in each.costs})
    assert cause != UNEXPLAINED
    long, short = (
        finding(cause, who="app", last_time_ns=at(1)),
        finding(cause, who="app", first_time_ns=at(99), last_time_ns=at(300)),
    )
    assert without_explained(data, [long, *entries(data)]) == [long]
    _, told = without_explained(data, [short, *entries(data)])
    assert told.row["explained"] == 2


def test_entries_explain_themselves_alone(tmp_path: Path) -> None:
    data = refused(tmp_path, 5)
    (entry,) = entries(data)
    others = [replace(entry, row=entry.row | more) for more in ({"what": "X", "name": "X"}, {"between_brokers": True})]
    assert without_explained(data, others) == []


def test_an_empty_client_id_names_nobody(tmp_path: Path) -> None:
    told = explained(made(tmp_path, client=""), finding("missing_topic", who="10.0.0.1", topic="t"))
    assert told[REFUSED, 0][0] == 3
