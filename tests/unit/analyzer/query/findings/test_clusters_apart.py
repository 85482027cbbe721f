"""What happens to one cluster is not put down to another: by its evidence, its connection, or its host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster_stories import PRODUCE, follower_gone
from finding_stories import STORIES, Tables, at, failing, many, polling
from incident_stories import gone
from made_rows import SECOND_NS, capture, connection, dataset, error, exchange

from analyzer.query.findings import rule
from analyzer.query.impact_causes import shares
from analyzer.query.run_findings import find


@pytest.mark.parametrize(("other", "symptoms"), [("c", ["slow_requests"]), ("d", [])])
def test_a_finding_without_an_exchange_is_of_the_cluster_of_its_connection(
    other: str, symptoms: list[str], tmp_path: Path
) -> None:
    """A broker that left others, and a client of brokers elsewhere that waits."""
    story = follower_gone(11)
    story["connections"] = [row | {"cluster": "c"} for row in story["connections"]]
    there = {"client_address": "10.8.0.1", "broker_address": "10.7.0.1"}
    story["connections"].append(connection(9, cluster=other, **there))
    story["exchanges"] += [
        exchange(
            100 + n, at_ns=at(12 + n / 10), latency_ns=3 * SECOND_NS, client_id="shop", connection=9, **there, **PRODUCE
        )
        for n in range(8)
    ]
    with dataset(tmp_path, story) as made:
        found = find(made, [rule("broker_gone"), rule("slow_requests")])
    (gone,) = (each for each in found if each.rule.name == "broker_gone")
    assert [each.rule.name for each in gone.symptoms] == symptoms


@pytest.mark.parametrize(("name", "cluster"), [("app", None), ("other", "c")])
def test_who_is_refused_in_two_clusters_is_told_of_both(name: str, cluster: str | None, tmp_path: Path) -> None:
    """The first and the last refusal, which are the evidence, are of one of them."""
    there = {"broker_address": "10.7.0.1", "client_address": "10.8.0.1", "connection": 2}
    rows = [
        exchange(n, at_ns=at(n), **PRODUCE, **(there | {"client_id": name} if n in range(5, 15) else {}))
        for n in range(20)
    ]
    codes = [error(n, 29, name="TOPIC_AUTHORIZATION_FAILED", topic="t", expected=False) for n in range(20)]
    links = [connection(1, cluster="c"), connection(2, cluster="d", broker_address="10.7.0.1")]
    with dataset(tmp_path, {"exchanges": rows, "errors": codes, "connections": links}) as made:
        found = find(made, [rule("authorization")])
        left = [share for share in shares(made, found) if share.finding is None]
    assert found[0].cluster == cluster and left == []


WRITE = PRODUCE | {"kind": "produce_acks_all", "acks": -1}


def harmed(story: Tables, cluster: str, code: int | None, from_s: float, latency_ns: int = SECOND_NS) -> Tables:
    """The same, in cluster c, and eight writes in that one, which are refused with this code, or slow."""
    links = [row | {"cluster": "c"} for row in story["connections"]]
    there = {"client_address": "10.8.0.1", "broker_address": "10.7.0.1"}
    rows = [
        exchange(100 + n, at_ns=at(from_s + n / 10), latency_ns=latency_ns, connection=9, **there, **WRITE)
        for n in range(8)
    ]
    errors = [error(100 + n, code or 0, connection=9, expected=False) for n in range(8 if code else 0)]
    return {
        "captures": [capture(last_time_ns=at(400))],
        "exchanges": [*story["exchanges"], *rows],
        "errors": errors,
        "connections": [*links, connection(9, cluster=cluster, **there)],
    }


@pytest.mark.parametrize(
    ("story", "cluster", "severity"),
    [
        (lambda of: harmed(follower_gone(11), of, None, 12), "c", "high"),
        (lambda of: harmed(follower_gone(11), of, None, 12), "d", "info"),
        (lambda of: harmed(gone(3, back_s=30), of, 19, 3), "c", "high"),  # NOT_ENOUGH_REPLICAS
        (lambda of: harmed(gone(3, back_s=30), of, 19, 3), "d", "info"),
        (lambda of: harmed(gone(3, back_s=30), of, None, 3, 3 * SECOND_NS), "c", "medium"),
        (lambda of: harmed(gone(3, back_s=30), of, None, 3, 3 * SECOND_NS), "d", "info"),
    ],
)
def test_what_another_cluster_suffers_is_not_for_want_of_a_broker(
    story: Callable[[str], Tables], cluster: str, severity: str, tmp_path: Path
) -> None:
    with dataset(tmp_path, story(cluster)) as made:
        (found,) = find(made, [rule("broker_gone")])
    assert found.severity == severity


@pytest.mark.parametrize(
    ("one", "other", "is_shared"),
    [
        ({"broker_id": 1, "cluster": "c"}, {"broker_id": 2, "cluster": "c"}, True),
        ({"broker_id": 1, "cluster": "c"}, {"broker_id": 1, "cluster": "d"}, True),  # each the first of its cluster
        ({"broker_id": 1, "cluster": "c"}, {"broker_id": 1, "cluster": "c"}, False),  # two listeners
        ({"broker_id": 1, "cluster": "c"}, {"broker_id": None, "cluster": "10.0.1.1:9094"}, False),
    ],
)
def test_brokers_of_two_clusters_may_share_a_host(
    one: dict[str, Any], other: dict[str, Any], is_shared: bool, tmp_path: Path
) -> None:
    links = [connection(1, **one), connection(2, broker_port=9094, **other)]
    with dataset(tmp_path, {"connections": links}) as made:
        hosts = [row["host"] for row in made.ask("SELECT host FROM shared_broker_hosts")]
    assert hosts == ["10.0.1.1"] * is_shared


def twice(story: Tables) -> Tables:
    """The same again in a cluster of other brokers, half a minute later, by clients of the same names at the same addresses."""
    later = 30 * SECOND_NS
    both: Tables = {}
    for table, rows in story.items():
        again = [dict(row) for row in rows]
        for row in again:
            row |= {
                name: value + later for name, value in row.items() if name.endswith("_ns") and name in MOMENTS and value
            }
            row |= {name: row[name] + 5000 for name in ("exchange", "connection") if name in row}
            row |= {"broker_address": "10.7.0.1"} if "broker_address" in row else {}
            row |= {"cluster": "d"} if table != "exchanges" and "cluster" in row else {}
        both[table] = [*rows, *again] if table != "captures" else rows
    return both | {
        "connections": [connection(1, cluster="c"), connection(5001, cluster="d", broker_address="10.7.0.1")]
    }


MOMENTS = ("request_time_ns", "request_end_ns", "response_time_ns", "response_end_ns", "time_ns", "begin_ns")


@pytest.mark.parametrize(
    ("name", "story"),
    [
        ("no_leader", lambda: failing(5, many(3, 1), topic="t")),
        ("assigned_not_fetched", lambda: STORIES["assigned_not_fetched"][0]()),
        ("poll_gap", lambda: polling(61, 4)),
    ],
)
def test_equal_names_in_two_clusters_are_not_added_up(name: str, story: Callable[[], Tables], tmp_path: Path) -> None:
    told = []
    for number, tables in enumerate((story(), twice(story()))):
        with dataset(tmp_path / str(number), {"captures": [capture(last_time_ns=at(400))]} | tables) as made:
            told.append(find(made, [rule(name)]))
    (alone,), both = told
    assert sorted(each.cluster or "" for each in both) == ["c", "d"]
    counted = ("times", "partitions", "gap_ns", "waited_ns", "lasted_ns")
    assert [{key: each.row.get(key) for key in counted} for each in both] == [
        {key: alone.row.get(key) for key in counted}
    ] * 2
