"""Views that metrics share: found by name, made in order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from made_rows import dataset

from analyzer.query import metrics


def code(name: str) -> str:
    return re.sub(r"--[^\n]*", "", metrics.view(name))


@pytest.mark.parametrize("name", metrics.view_names())
def test_every_view_runs_on_no_rows(name: str, tmp_path: Path) -> None:
    with dataset(tmp_path, {}) as empty:
        assert isinstance(empty.query(f"SELECT count(*) AS n FROM {name}")[0]["n"], int)


def test_a_view_comes_after_those_that_it_reads() -> None:
    found = metrics.views_in("SELECT * FROM group_rebalances -- transactions_seen")
    assert found.index("classic_rebalances") < found.index("group_rebalances")
    assert found.index("client_groups") < found.index("fetch_pauses") < found.index("group_rebalances")
    assert "transactions_seen" not in found
    assert len(found) == len(set(found))


def test_what_is_kept_is_computed_once_and_does_not_depend_on_what_is_asked(tmp_path: Path) -> None:
    for name in filter(metrics.is_materialized, metrics.view_names()):
        reads = {
            word for view in [*metrics.views_in(metrics.view(name)), name] for word in re.findall(r"\w+", code(view))
        }
        # The events of a partition: a table for each partition that is asked for (`test_partition_story`).
        assert "settings" not in reads or name == "partition_events", name
    with dataset(tmp_path, {}) as empty:
        empty.metric("groups")
        kinds = {
            row["name"]: row["kind"]
            for row in empty.query("SELECT table_name AS name, table_type AS kind FROM information_schema.tables")
        }
    assert kinds["group_rebalances"] == "BASE TABLE"


def test_an_unknown_view_is_an_error() -> None:
    with pytest.raises(KeyError):
        metrics.view("nothing")
