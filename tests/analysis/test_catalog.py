"""Views are made when a question first names them, whatever way it names them, and no sooner."""

from __future__ import annotations

import pytest

from analyzer.catalog import Catalog, Entry, tables_read
from analyzer.dataset import Dataset, DatasetError

ENTRIES = {
    "a": Entry("SELECT 1 AS x", False),
    "b": Entry("SELECT x FROM a", True),
    "c": Entry("WITH a AS (SELECT 2 AS x) SELECT x FROM a", False),
    "d": Entry("SELECT x FROM b JOIN c USING (x) -- not FROM e", False),
    "e": Entry("SELECT x FROM nobody", False),
}


def made_for(*questions: str) -> list[str]:
    made: list[str] = []
    catalog = Catalog(ENTRIES, ENTRIES.get, made.append)
    for question in questions:
        catalog.prepare(question)
    return [" ".join(statement.split()[1:3]) for statement in made]


def test_only_what_is_read_is_made_and_what_it_reads_first() -> None:
    assert made_for("select * from d") == ["VIEW a", "TABLE b", "VIEW c", "VIEW d"]
    assert made_for("select a, b from c", "select 1 from C") == ["VIEW c"]
    assert made_for("select 'x' -- from a") == []


def test_a_question_about_everything_makes_everything() -> None:
    assert made_for("SHOW TABLES") == ["VIEW a", "TABLE b", "VIEW c", "VIEW d", "VIEW e"]


def test_what_failed_is_tried_again() -> None:
    tried: list[str] = []

    def fail(statement: str) -> None:
        tried.append(statement)
        raise OSError

    catalog = Catalog(ENTRIES, ENTRIES.get, fail)
    for _ in range(2):
        with pytest.raises(OSError):
            catalog.prepare("select * from b")
    assert len(tried) == 2


def test_names_of_a_with_are_not_read() -> None:
    assert tables_read("WITH t AS (SELECT 1), u AS (SELECT * FROM t) SELECT * FROM u, v JOIN w ON true") == ["w"]


@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) as n from exchanges, errors",
        "select (select count(*) from all_errors) as n",
        "with errors as (select * from errors) select count(*) as n from errors",
        'select count(*) as n from "errors"',
    ],
)
def test_a_dataset_finds_tables_in_unusual_places(sql: str) -> None:
    with Dataset({}) as found:
        assert found.query(sql) == [{"n": 0}]
        assert found.query("describe errors")[0]["column_name"] == "exchange"
        with pytest.raises(DatasetError, match="no_such_table"):
            found.query("select * from no_such_table")
