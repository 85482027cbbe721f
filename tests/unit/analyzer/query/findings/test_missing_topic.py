"""What is told of a topic that brokers do not know, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cluster_stories import NEW, OLD
from finding_stories import FETCH, failing, many, not_known
from made_rows import SECOND_NS, START_NS, connection, dataset, error, exchange
from pace import at_most

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.finding_rows import as_object

METADATA = {"api_key": 3, "api_name": "Metadata", "api_version": 6}
SYNC = {"api_key": 14, "api_name": "SyncGroup", "api_version": 3, "group_id": "g"}
BEAT = {"api_key": 12, "api_name": "Heartbeat", "api_version": 3, "group_id": "g"}


def test_a_topic_that_was_there_is_no_misspelt_name(tmp_path: Path) -> None:
    story = failing(3, many(3, 100), topic="t") | {"connections": [connection(1, cluster="c")]}
    known = {"cluster": "c", "topic": "t", "topic_id": OLD, "first_time_ns": START_NS - SECOND_NS}
    with dataset(tmp_path, story | {"topic_ids": [known | {"last_time_ns": START_NS}]}) as made:
        (found,) = find(made, [rule("missing_topic")])
    assert "; it was there before " in as_object(found)["sentence"]
    assert "deleted" in found.row["advice"]


@pytest.mark.parametrize("name", [None, "t"])
def test_an_id_is_no_name_that_somebody_mistyped(name: str | None, tmp_path: Path) -> None:
    """As OffsetFetch 10 of a topic that was deleted (KAFKA-20165)."""
    story = failing(100, many(3, 100), topic=name, topic_id=OLD) | {"connections": [connection(1, cluster="c")]}
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("missing_topic")])
    assert ("restart this client, which holds the old id" in found.row["advice"]) is (name is None)


@pytest.mark.parametrize(
    ("named", "advice"),
    [
        ([(OLD, -1, 0), (NEW, 150, 200)], "Nothing is left to create"),
        ([(NEW, 150, 200)], "Nothing is left to create"),
        ([(NEW, 20, 30)], "Create the topic"),  # and is gone again
        ([(OLD, -1, 200)], "The topic exists"),
        ([(OLD, -1, 50)], "Create the topic"),  # named once more while others missed it
    ],
)
def test_a_topic_that_is_made_later_is_not_to_be_created(
    named: list[tuple[str, int, int]], advice: str, tmp_path: Path
) -> None:
    story = failing(3, many(3, 100), topic="t") | {"connections": [connection(1, cluster="c")]}
    known = [
        {"cluster": "c", "topic": "t", "topic_id": name}
        | {"first_time_ns": START_NS + first * SECOND_NS, "last_time_ns": START_NS + last * SECOND_NS}
        for name, first, last in named
    ]
    with dataset(tmp_path, story | {"topic_ids": known}) as made:
        (found,) = find(made, [rule("missing_topic")])
    assert found.row["advice"].startswith(advice)
    sentence = as_object(found)["sentence"]
    assert ("; it is there at the end" in sentence) == advice.startswith("Nothing")
    assert ("which other replies name" in sentence) == advice.startswith("The topic exists")


@pytest.mark.parametrize(
    ("used_s", "severity", "advice"),
    [
        ((), "medium", "Create the topic"),
        ((0,), "medium", "The topic was deleted"),
        ((0, 90), "medium", "The topic exists"),
        ((90,), "medium", "Nothing is left to create"),
        ((0, 90), None, ""),
        ((0,), "info", "The topic was deleted"),
    ],
)
def test_replies_tell_whether_a_topic_without_an_id_is_there(
    used_s: tuple[float, ...], severity: str | None, advice: str, tmp_path: Path
) -> None:
    with dataset(tmp_path, not_known(FETCH, used_s, count=40 if severity == "medium" else 2)) as made:
        told = [(found.severity, found.row["advice"]) for found in find(made, [rule("missing_topic")])]
    assert [name for name, _ in told] == ([severity] if severity else [])
    assert all(words.startswith(advice) for _, words in told)


@pytest.mark.parametrize(
    ("partitions", "sentence"),
    [
        ([7, 7, 7], "partition t-7, which brokers do not know, although other replies name the topic"),
        ([7, 8, 7], "topic t, which other replies name"),
        ([7, None, 7], "topic t, which other replies name"),
    ],
)
def test_a_partition_may_not_exist_in_a_topic_that_does(
    partitions: list[int | None], sentence: str, tmp_path: Path
) -> None:
    story = failing(3, many(3, 100), topic="t") | {"connections": [connection(1, cluster="c")]}
    for row, partition in zip(story["errors"], partitions, strict=True):
        row["partition"] = partition
    known = {"cluster": "c", "topic": "t", "topic_id": OLD, "first_time_ns": START_NS - SECOND_NS}
    with dataset(tmp_path, story | {"topic_ids": [known | {"last_time_ns": START_NS + 200 * SECOND_NS}]}) as made:
        (found,) = find(made, [rule("missing_topic")])
    assert sentence in as_object(found)["sentence"]
    assert found.row["advice"].startswith("See whether this partition") is sentence.startswith("partition")


@pytest.mark.parametrize(
    ("names", "known", "asks_from", "says"),
    [
        (["bills"], (), "10.0.0.1", "topic bills, which does not exist, for 4.0 s (5 requests)"),
        (["bills", "orders"], (), "10.0.0.1", f"topic {OLD}, which does not exist, for 2.0 s (3 requests)"),
        # It has another id.
        (["bills"], ("bills",), "10.0.0.1", f"topic {OLD}, which does not exist, for 2.0 s (3 requests)"),
        # Another application may have the same client id.
        (["bills"], (), "10.0.0.2", f"topic {OLD}, which does not exist, for 2.0 s (3 requests)"),
    ],
)
def test_an_id_without_a_name_has_that_which_is_refused_next(
    names: list[str], known: tuple[str, ...], asks_from: str, says: str, tmp_path: Path
) -> None:
    """A topic of which the capture saw no name before it was deleted."""
    used = exchange(0, at_ns=START_NS, **FETCH)
    by_id = failing(3, [exchange(n, at_ns=START_NS + n * SECOND_NS, **FETCH) for n in (1, 2, 3)], topic_id=OLD)
    asked = [exchange(n, at_ns=START_NS + n * SECOND_NS, client_address=asks_from) for n in (4, 5)]
    by_name = [
        error(row["exchange"], 3, topic=names[n % len(names)], name="E3", expected=False) for n, row in enumerate(asked)
    ]
    ids = [
        {"cluster": "c", "topic": name, "topic_id": NEW, "first_time_ns": START_NS, "last_time_ns": START_NS}
        for name in known
    ]
    story = {
        "exchanges": [used, *by_id["exchanges"], *asked],
        "errors": [*by_id["errors"], *by_name],
        "entries": [
            {"exchange": 0, "connection": 1, "topic_id": OLD, "partition": 0, "side": "response", "error_code": 0}
        ],
        "connections": [connection(1, cluster="c")],
        "topic_ids": ids,
    }
    with dataset(tmp_path, story) as made:
        told = [as_object(found)["sentence"] for found in find(made, [rule("missing_topic")])]
    assert len(told) >= 1 and says in told[0]


@pytest.mark.parametrize(
    ("times", "seconds", "lasted_ms"), [(5, 15, 12_000), (5, 7, 5_600), (4, 15, None), (5, 6, None)]
)
def test_who_asks_for_longer_than_a_start_is_told(
    times: int, seconds: int, lasted_ms: int | None, tmp_path: Path
) -> None:
    """All but the last are of a start, as far as one knows; how long it lasted is told of all."""
    story = failing(3, many(times, seconds), topic="t", expected=True)
    story["errors"][-1]["expected"] = False
    with dataset(tmp_path, story) as made:
        told = find(made, [rule("missing_topic")])
    assert [each.row["lasted_ns"] // 1_000_000 for each in told] == ([] if lasted_ms is None else [lasted_ms])


@pytest.mark.parametrize(
    ("later", "cut"),
    [
        ({}, 7),
        ({"response_decoded": "full"}, None),
        ({"api_key": 0, "api_name": "Produce"}, None),
        ({"client_id": "another"}, None),
        ({"at_ns": START_NS}, None),
    ],
)
def test_what_later_replies_tell_is_not_known_where_they_are_cut(
    later: dict[str, Any], cut: int | None, tmp_path: Path
) -> None:
    story = failing(3, many(3, 100), topic="t") | {"connections": [connection(1, cluster="c")]}
    asked = {"at_ns": START_NS + 101 * SECOND_NS, "api_key": 3, "api_name": "Metadata", "response_decoded": "truncated"}
    story["exchanges"] += [exchange(500 + n, **(asked | later)) for n in range(7)]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("missing_topic")])
    assert found.row["cut"] == cut


@pytest.mark.parametrize(
    ("beats_s", "then", "severity"),
    [
        ((3, 6, 9), [], "info"),
        ((3, 6, 9, 12), [], "medium"),
        ((2, 4), [], None),
        ((3, 6, 9), [(4, METADATA)], None),  # it asks again, and is not refused
        ((3, 6, 9), [(4, FETCH)], None),  # of another topic
    ],
)
def test_a_member_that_asked_once_waits_for_ever(
    beats_s: tuple[float, ...], then: list[tuple[float, dict[str, Any]]], severity: str | None, tmp_path: Path
) -> None:
    """As kafka-go, whose group then has no partition; a refusal at a start is normal by itself."""
    moments = [(0.01, SYNC), *((beat, BEAT) for beat in beats_s), *then]
    asked = failing(3, [exchange(1, at_ns=START_NS, **METADATA)], topic="t", expected=True)
    asked["exchanges"] += [
        exchange(2 + n, at_ns=START_NS + int(when * SECOND_NS), **api) for n, (when, api) in enumerate(moments)
    ]
    with dataset(tmp_path, asked) as made:
        told = [(found.severity, as_object(found)["sentence"]) for found in find(made, [rule("missing_topic")])]
    assert [name for name, _ in told] == ([severity] if severity else [])
    assert all("waits in its group for topic t, which does not exist" in words for _, words in told)


def test_who_asks_for_another_topic_each_time_costs_little(tmp_path: Path) -> None:
    """As a client that makes a name for each answer it waits for: all its requests are behind each of them."""
    asked = [exchange(n, at_ns=START_NS + n * 1_000_000, **METADATA) for n in range(20_000)]
    story = failing(3, asked, expected=True)
    for row in story["errors"]:
        row["topic"] = f"t{row['exchange']}"
    with dataset(tmp_path, story) as made, at_most(2):
        assert find(made, [rule("missing_topic")]) == []
