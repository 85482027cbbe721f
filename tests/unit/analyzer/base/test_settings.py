"""What a question is given: as a view, or written into the SQL; both give the same answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_rows import SECOND_NS, connection, dataset, random_exchanges

from analyzer.base.settings import DIMENSIONS, Settings
from analyzer.base.tables import TABLES
from analyzer.query import metrics

GIVEN = [
    Settings(),
    Settings(("client", "topic")),
    Settings(("api",), 3 * SECOND_NS),
    Settings(("connection",), None, "total"),
]


@pytest.mark.parametrize("settings", GIVEN, ids=str)
def test_values_written_into_the_sql_answer_as_the_view_does(tmp_path: Path, settings: Settings) -> None:
    tables = {"exchanges": random_exchanges(3, 600), "connections": [connection(number) for number in range(3)]}
    with dataset(tmp_path, tables) as found:
        found.choose(settings)
        for name in ("latency", "profile", "throttle", "errors"):
            written = found.metric(name)
            database = found._database
            for table in (*TABLES, "settings"):
                found.query(f"SELECT count(*) FROM {table}")  # makes it a view that others can name
            for view in metrics.views_in(metrics.text(name)):
                # Those that are materialized do not depend on settings.
                if metrics.is_materialized(view):
                    found.query(f"SELECT count(*) FROM {view}")
                else:
                    database.execute(f"CREATE OR REPLACE VIEW {view} AS {metrics.view(view)}")
            assert found.query(metrics.text(name)) == written, name


def test_a_new_choice_is_seen_by_every_view(tmp_path: Path) -> None:
    with dataset(tmp_path, {"exchanges": random_exchanges(4, 300)}) as found:
        before = found.metric("latency")
        assert {row["client_address"] for row in before} == {None}
        found.choose(Settings(("client",)))
        assert {row["client_address"] for row in found.metric("latency")} == {"10.0.0.0", "10.0.0.1"}
        found.choose(Settings())
        assert found.metric("latency") == before


def test_every_dimension_is_a_column_of_the_view() -> None:
    assert all(f"AS by_{name}" in Settings().sql() for name in DIMENSIONS)
    assert "CAST(true AS BOOLEAN) AS by_api" in Settings(("api",)).sql()
    assert "CAST(false AS BOOLEAN) AS by_api" in Settings(("client",)).sql()


@pytest.mark.parametrize(
    "wrong", [{"by": ("colour",)}, {"every_ns": 0}, {"every_ns": -5}, {"measure": "service'; DROP VIEW exchanges --"}]
)
def test_what_cannot_be_meant_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Settings(**wrong)  # type: ignore[arg-type]
