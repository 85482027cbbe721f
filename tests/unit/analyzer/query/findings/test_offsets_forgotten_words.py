"""What is said of committed offsets that are gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_rows import dataset, exchange
from offset_stories import Tables, at, begun_again, elsewhere

from analyzer.query.findings import rule
from analyzer.query.run_findings import find

MOST = (1 << 63) - 1


def told(folder: Path, story: Tables) -> dict[str, Any]:
    with dataset(folder, story) as made:
        (found,) = find(made, [rule("offsets_forgotten")])
    return found.row


def deleted(api_key: int, **values: Any) -> Tables:
    story = begun_again()
    story["exchanges"].append(
        exchange(5, at_ns=at(30), api_key=api_key, api_version=2, client_id="tool", **{"error_count": 0} | values)
    )
    return story


@pytest.mark.parametrize(
    ("story", "by", "behind"),
    [
        (deleted(42), "tool", 500),
        (deleted(47), "tool", 500),
        (deleted(20), "tool", None),  # a topic made anew may have other records there
        (deleted(42, error_count=1), None, 500),
        (deleted(42, status="pending"), None, 500),
        (elsewhere(deleted(42), 5, "d") | {"fetch_positions": begun_again()["fetch_positions"]}, None, 500),
    ],
)
def test_who_had_them_deleted_is_named_where_it_was_done(
    tmp_path: Path, story: Tables, by: str | None, behind: int | None
) -> None:
    row = told(tmp_path, story)
    assert (row["deleted_by"], row["behind"]) == (by, behind)


@pytest.mark.parametrize(("began", "committed"), [(MOST, 0), (0, MOST)])
def test_records_that_no_number_counts_are_not_counted(tmp_path: Path, began: int, committed: int) -> None:
    story = begun_again(began=began, committed=committed)
    for table in ("entries", "fetch_positions"):
        story[table] += [row | {"partition": 1} for row in story[table]]
    row = told(tmp_path, story)
    assert (row["partitions"], row["ahead"], row["behind"]) == (2, None, None)


def test_an_offset_that_none_has_is_no_beginning(tmp_path: Path) -> None:
    with dataset(tmp_path, begun_again(began=-1 << 63)) as made:
        assert not find(made, [rule("offsets_forgotten")])
