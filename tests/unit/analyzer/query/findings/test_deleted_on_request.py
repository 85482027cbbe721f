"""What is known of an offset that does not exist: who had its records deleted, and the name of a topic whose id alone was read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from incident_stories import at, out_of_range
from made_rows import dataset, exchange

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence


@pytest.mark.parametrize(
    ("asked", "when_s", "deleted_to", "partition", "reset", "is_told"),
    [
        (100, 4, 500, 0, 900, True),
        (100, 4, 500, 0, None, True),
        (100, 4, -1, 0, 900, False),  # all that there were: nobody knows up to where
        (100, 4, 50, 0, 900, False),  # what was asked for was not among them
        (100, 6, 500, 0, 900, False),  # later
        (100, 4, 500, 1, 900, False),  # elsewhere
        (100, 4, 500, 0, 20, False),  # the topic begins anew behind that
    ],
)
def test_who_had_the_records_deleted_is_named(
    asked: int, when_s: int, deleted_to: int, partition: int, reset: int | None, is_told: bool, tmp_path: Path
) -> None:
    story = out_of_range(asked, [(2.0, 2000)], reset)
    job = {"client_id": "cleanup-job", "client_address": "10.0.0.9", "api_key": 21, "api_name": "DeleteRecords"}
    story["exchanges"].append(exchange(70, at_ns=at(when_s), **job))
    place = {"exchange": 70, "connection": 1, "topic": "t", "partition": partition}
    asked_for = place | {"side": "request", "offset": deleted_to}
    story["entries"] += [asked_for, place | {"side": "response", "error_code": 0}]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("offset_out_of_range")])
    said = sentence(found.rule.says, found.row)
    assert said.endswith(f"; cleanup-job had its records deleted before {deleted_to}") is is_told
    assert ("on request" in found.row["advice"]) is is_told


@pytest.mark.parametrize(
    ("others", "named"),
    [
        ([], "t"),
        ([{"topic": "other"}], None),
        ([{"topic": "t"}], "t"),
        ([{"client_id": "another", "topic": "other"}], "t"),
        ([{"topic": "t", "topics": 2}], None),  # the other one was cut off
    ],
)
def test_a_topic_without_a_name_is_the_one_that_its_client_names(
    others: list[dict[str, Any]], named: str | None, tmp_path: Path
) -> None:
    story = out_of_range(100, [], None)
    for row in story["entries"] + story["errors"]:
        row |= {"topic": None, "topic_id": "bmV3bmV3bmV3bmV3bmV3bg"}
    own = {key: story["exchanges"][0][key] for key in ("client_id", "client_address", "connection")}
    for n, other in enumerate([{"topic": "t"}, *others]):
        told = own | {key: value for key, value in other.items() if key != "topic"}
        story["exchanges"].append(exchange(70 + n, at_ns=at(1), api_key=8, api_name="OffsetCommit", **told))
        story["entries"].append(
            {"exchange": 70 + n, "connection": 1, "side": "request", "topic": other["topic"], "partition": 0}
        )
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("offset_out_of_range")])
    assert found.row["named"] == named
