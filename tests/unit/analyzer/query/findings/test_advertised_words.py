"""Addresses that a client never reaches are one finding, which explains the attempts at all of them, and where replies were cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from incident_stories import advertised
from made_rows import dataset
from name_stories import never_led_there

from analyzer.query.findings import rule
from analyzer.query.impact_causes import by_finding, shares
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence


def test_several_addresses_of_a_cluster_are_one_finding(tmp_path: Path) -> None:
    with dataset(tmp_path, never_led_there()) as made:
        (found,) = find(made, [rule("advertised_unreachable")])
        (share,) = by_finding(shares(made, [found], ["connections"]))[0]
    said = '10.0.0.1 ("app") gets the advertised address 10.9.9.1:9094 and 1 other, which it never reaches (2 attempts)'
    assert sentence(found.rule.says, found.row) == said
    # Who never got through has no client id.
    assert (share.what, share.times) == ("never answered", 2)


@pytest.mark.parametrize(
    ("decoded", "other", "more"),
    [
        ("truncated", {}, 1),
        ("full", {}, None),  # it was told of one alone
        ("truncated", {"broker_port": 9095}, None),
        ("truncated", {"client_address": "10.0.0.8"}, None),
        ("truncated", {"is_kafka": True, "syn_ack_ns": 1000, "broker_stream_bytes": 9}, None),
    ],
)
def test_of_a_reply_that_was_cut_not_all_addresses_are_known(
    decoded: str, other: dict[str, Any], more: int | None, tmp_path: Path
) -> None:
    story = advertised(11)
    for row in story["exchanges"]:
        row["response_decoded"] = decoded
    story["connections"].append(story["connections"][1] | {"connection": 4, "broker_address": "10.9.9.8"} | other)
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("advertised_unreachable")])
    assert (found.row["more"], found.row["times"]) == (more, 1 + (more or 0))
