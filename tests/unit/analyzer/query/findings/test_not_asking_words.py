"""A consumer that works on what it was given, again and again, is told of once."""

from __future__ import annotations

from pathlib import Path

from finding_stories import at
from made_rows import dataset, exchange
from member_stories import busy

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence


def test_pauses_of_one_client_are_one_finding(tmp_path: Path) -> None:
    """Of 11, 12 and 13 s."""
    story = busy()
    (last,) = (row for row in story["exchanges"] if row["exchange"] == 2)
    for number, begins in ((3, 24), (4, 37)):
        times = dict.fromkeys(("request_time_ns", "request_end_ns"), at(begins))
        times |= dict.fromkeys(("response_time_ns", "response_end_ns"), at(begins) + last["latency_ns"])
        story["exchanges"].append(last | times | {"exchange": number, "response_bytes": 10_000 * number + 10_000})
        story["exchanges"] += [
            exchange(100 * number + n, at_ns=at(begins - 9 + n), api_key=12, api_name="Heartbeat", group_id="g")
            for n in range(3)
        ]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("not_asking")])
    said = sentence(found.rule.says, found.row)
    assert "asked for nothing for 13.0 s, the longest of 3 such pauses, and then got 50 kB at once" in said
