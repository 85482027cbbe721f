"""Addresses that a client never reaches are one finding, which explains the attempts at all of them."""

from __future__ import annotations

from pathlib import Path

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
