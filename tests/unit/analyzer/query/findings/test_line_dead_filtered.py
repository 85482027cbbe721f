"""A dead line is found in what a filter leaves, too, and where its client gives its connection up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_rows import connection, dataset, exchange
from member_stories import PRODUCE, at, unheard
from offset_stories import dead_to_the_end

from analyzer.base.filters import Filters
from analyzer.query.findings import rule
from analyzer.query.run_findings import find


@pytest.mark.parametrize("tried_s", [None, 7])  # the last of its packets may be long before the end of the capture
@pytest.mark.parametrize("filters", [Filters(), Filters(clients=("10.0.0.1",))])
def test_a_line_that_is_dead_to_the_end_is_found(tmp_path: Path, tried_s: float | None, filters: Filters) -> None:
    with dataset(tmp_path, dead_to_the_end(tried_s=tried_s), filters=filters) as made:
        (found,) = find(made, [rule("line_dead")])
    assert found.row["silent_ns"] == 20 * 10**9


@pytest.mark.parametrize(
    ("late_s", "link", "missing", "fires"),
    [
        (5, {}, 1, True),  # though another connection misses packets of its own
        (0.9, {}, 1, False),  # a process that stood still writes on before it opens another connection
        (5, {}, 0, False),  # nothing was sent in vain
        (5, {}, 2, False),
        (5, {"close": "fin"}, 1, False),
        (5, {"closed_by": "broker"}, 1, False),
        (5, {"close_time_ns": at(20)}, 1, False),  # it was still in use
    ],
)
def test_what_comes_late_on_a_connection_given_up_had_no_way(
    late_s: float, link: dict[str, Any], missing: int, fires: bool, tmp_path: Path
) -> None:
    """The client, silent for 9 s, asks on another connection; its last Produce on the old one comes after that, and is reset."""
    story = unheard(9, resent=0, burst=0)
    story["exchanges"] += [
        exchange(200, at_ns=at(13.9), connection=3),
        exchange(201, at_ns=at(13.9 + late_s), connection=1, **PRODUCE),
    ]
    ended = {"close": "rst", "closed_by": "client", "close_time_ns": at(13.9 + late_s + 0.1)}
    story["connections"] = [
        connection(1, client_missing_ids=missing, **(ended | link)),
        connection(2, client_missing_ids=1),
        connection(3),
    ]
    with dataset(tmp_path, story) as made:
        found = find(made, [rule("line_dead")])
    assert [(each.row["at_most"], round(each.row["silent_ns"] / 1e9)) for each in found] == [("at most", 9)] * fires


@pytest.mark.parametrize(
    ("silent_s", "values", "fires"),
    [
        (3.2, {}, True),  # the fourth try
        (6.4, {}, True),
        (12.8, {}, True),
        (5.1, {}, False),  # between two of them
        (8.1, {}, False),
        (6.4, {"missing": (0, 0)}, False),
        (6.4, {"missing": (2, 0)}, False),
        (6.4, {"missing": (1, 1)}, False),  # the capture lacks packets
        (6.4, {"burst": 4}, False),  # it was at its end
        (6.4, {"before": 9}, False),
        (6.4, {"resent": 1}, False),
    ],
)
def test_one_request_at_a_time_is_sent_again_by_a_clock(
    silent_s: float, values: dict[str, Any], fires: bool, tmp_path: Path
) -> None:
    """The client goes on after a silence as long as some tries of TCP, and a packet before it has no number."""
    with dataset(tmp_path, unheard(silent_s, **({"resent": 0, "missing": (1, 0)} | values))) as made:
        assert bool(find(made, [rule("line_dead")])) is fires
