"""Views that metrics share: found by name, made in order, in SQL that both engines know."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from made_rows import dataset

from analyzer.query import metrics

FORBIDDEN = (
    r"\bQUALIFY\b|\bstring_agg\b|\barray_agg\b|\blist\b|\bunnest\b|\bexplode\b|//|::|\bEXCLUDE\b|\bDISTINCT ON\b|\bto_timestamp\b"
    r"|\bGLOB\b|\bISNULL\b|\bREPLACE\b|\"|\bVARCHAR\)"
)


def code(name: str) -> str:
    return re.sub(r"--[^\n]*", "", metrics.view(name))


@pytest.mark.parametrize("name", metrics.view_names())
def test_views_keep_to_sql_that_spark_knows_too(name: str) -> None:
    # A doubled quote inside a literal is one quote to DuckDB and none to Spark.
    assert "''" not in re.sub(r"(?<!')''(?!')(?=[,)\s])", "", code(name)), name
    # '::1' is an address.
    assert not re.search(FORBIDDEN, code(name).replace("'::1'", "address"), re.IGNORECASE), name


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
        assert "settings" not in reads, name
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
