"""A partition that nobody fetches is told where a fetch would be captured: others write to its leader, whom the member asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from finding_stories import assigned
from made_rows import SECOND_NS, START_NS, Rows, capture, connection, dataset, exchange

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.finding_rows import as_object

LIST_OFFSETS_WITHOUT_V0 = {
    "exchange": 902,
    "connection": 1,
    "time_ns": 1,
    "api_key": 2,
    "min_version": 1,
    "max_version": 11,
}

CAPTURES = [capture(last_time_ns=START_NS + 80 * SECOND_NS)]


def written(error_code: int = 0, **link: Any) -> dict[str, Rows]:
    """Another client's write to the partition; `link` replaces columns of its connection."""
    story = assigned([], 65)
    write = exchange(1, connection=2, client_id="till", api_key=0, api_name="Produce")
    entry = {"exchange": 1, "connection": 2, "side": "response", "topic": "t", "partition": 0, "error_code": error_code}
    links = [connection(1, cluster="c"), connection(2, cluster="c", **link)]
    return story | {
        "exchanges": [*story["exchanges"], write],
        "entries": [entry],
        "connections": links,
        "captures": CAPTURES,
    }


@pytest.mark.parametrize(
    ("story", "told"),
    [
        (written(), ["app"]),
        # Its fetches may go where nobody captures.
        (written(broker_address="10.0.1.2"), []),
        (written(broker_port=9093), []),
        # This broker does not lead it.
        (written(6), []),
    ],
)
def test_what_is_written_and_not_fetched(story: dict[str, Rows], told: list[str], tmp_path: Path) -> None:
    with dataset(tmp_path, story) as made:
        assert [each.row["who"] for each in find(made, [rule("assigned_not_fetched")])] == told


@pytest.mark.parametrize(
    ("asked", "offered", "upgrade"),
    [
        ("OffsetFetch", [LIST_OFFSETS_WITHOUT_V0], True),
        ("ListOffsets", [LIST_OFFSETS_WITHOUT_V0], False),
        ("OffsetFetch", [LIST_OFFSETS_WITHOUT_V0 | {"min_version": 0}], False),
        ("OffsetFetch", [], False),
    ],
)
def test_a_library_that_knows_no_listoffsets_is_to_be_upgraded(
    asked: str, offered: Rows, upgrade: bool, tmp_path: Path
) -> None:
    story = written() | {"offered_versions": offered}
    story["exchanges"] = [*story["exchanges"], exchange(3, client_id="app", api_name=asked)]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("assigned_not_fetched")])
    assert ("Upgrade it." in as_object(found)["do"]) == upgrade
