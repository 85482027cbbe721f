"""Views are made when a question first names them, whatever way it names them, and no sooner."""

from __future__ import annotations

import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from graphlib import TopologicalSorter
from pathlib import Path

import duckdb
import pytest
from _duckdb import InterruptException

from analyzer.base.options import Options
from analyzer.query import metrics
from analyzer.query.catalog import Catalog, Entry, tables_read
from analyzer.query.dataset import Dataset, DatasetError
from analyzer.report import facts
from analyzer.run import local, strategy

ENTRIES = {
    "a": Entry("SELECT 1 AS x", False),
    "b": Entry("SELECT x FROM a", True),
    "c": Entry("WITH a AS (SELECT 2 AS x) SELECT x FROM a", False),
    "d": Entry("SELECT x FROM b JOIN c USING (x) -- not FROM e", False),
    "e": Entry("SELECT x FROM nobody", False),
}

FOR_EVER = "SELECT sum(a.range * b.range) FROM range(10000000) AS a, range(10000000) AS b"


def made_for(*questions: str) -> list[str]:
    made: list[str] = []
    catalog = Catalog(ENTRIES, ENTRIES.get, made.append)
    for question in questions:
        catalog.prepare(question)
    return [" ".join(statement.split()[3:5]) for statement in made]


def test_only_what_is_read_is_made_and_what_it_reads_first() -> None:
    assert made_for("select * from d") == ["TABLE b", "VIEW d"]
    assert made_for("select a, b from c", "select 1 from C") == ["VIEW c"]
    assert made_for("select 'x' -- from a") == []


def test_views_stand_in_questions_of_ours_and_only_tables_are_made() -> None:
    made: list[str] = []
    catalog = Catalog(ENTRIES, ENTRIES.get, made.append)
    text = catalog.in_place("SELECT t.x, 'FROM a' AS said FROM d AS t JOIN a ON a.x > t.x")
    assert [" ".join(statement.split()[3:5]) for statement in made] == ["TABLE b"]
    assert tables_read(text) == ["b"] and text.startswith("SELECT t.x, 'FROM a' AS said FROM (")
    with duckdb.connect() as database:
        for statement in made:
            database.execute(statement)
        database.execute("UPDATE b SET x = 2")
        assert database.execute(catalog.in_place("SELECT count(*) FROM d")).fetchall() == [(1,)]
        assert database.execute(text).fetchall() == []


def test_a_view_that_is_all_of_a_table_is_the_table() -> None:
    entries = {
        "kept": Entry("SELECT 1 AS x", True),
        "left_by_filters": Entry("SELECT * FROM kept WHERE true", False),
        "same": Entry("SELECT * FROM left_by_filters", False),
        "some": Entry("SELECT * FROM kept WHERE x > 1", False),
    }
    catalog = Catalog(entries, entries.get, lambda _: None)
    text = catalog.in_place("SELECT same.x FROM same JOIN left_by_filters AS l ON true")
    assert text == "SELECT same.x FROM kept AS same JOIN kept AS l ON true"
    assert "x > 1" in catalog.in_place("SELECT x FROM some")


def test_a_view_is_made_where_a_name_of_the_question_would_change_its_meaning() -> None:
    made: list[str] = []
    catalog = Catalog(ENTRIES, ENTRIES.get, made.append)
    question = "WITH b AS (SELECT 5 AS x) SELECT d.x FROM d JOIN b ON b.x > d.x"
    assert catalog.in_place(question) == question
    assert [" ".join(statement.split()[3:5]) for statement in made] == ["TABLE b", "VIEW d"]
    assert not any("question" in name for name in (*catalog._entries, *catalog._made, *catalog._begun))


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


def test_two_threads_make_each_once_and_wait_for_no_more_than_they_need() -> None:
    """`left_one` and `right_one` take their time: who asks second makes the one that nobody has begun."""
    entries = {
        "left_one": Entry("SELECT 1 AS x", True),
        "right_one": Entry("SELECT 2 AS x", True),
        "both": Entry("SELECT * FROM left_one JOIN right_one USING (x)", True),
    }
    made: list[tuple[str, str]] = []
    begun = {name: threading.Event() for name in entries}

    def make(statement: str) -> None:
        name = statement.split()[4]
        begun[name].set()
        other = {"left_one": "right_one", "right_one": "left_one"}.get(name)
        assert other is None or begun[other].wait(10), "nobody makes the other one at the same time"
        made.append((name, threading.current_thread().name))

    catalog = Catalog(entries, entries.get, make)
    with ThreadPoolExecutor(2) as pool:
        for asked in [pool.submit(catalog.prepare, "SELECT * FROM both") for _ in range(2)]:
            asked.result(timeout=30)
    assert [name for name, _ in made[2:]] == ["both"]
    assert {name for name, _ in made[:2]} == {"left_one", "right_one"}
    assert made[0][1] != made[1][1]


def test_who_waits_for_a_view_makes_what_else_it_needs() -> None:
    entries = {
        "slow": Entry("SELECT 1 AS x", True),
        "other": Entry("SELECT 2 AS x", True),
        "own": Entry("SELECT * FROM slow JOIN other USING (x)", True),
    }
    begun, made = threading.Event(), threading.Event()

    def make(statement: str) -> None:
        if statement.split()[4] == "slow":
            begun.set()
            assert made.wait(10), "the other thread only waits"
        if statement.split()[4] == "other":
            made.set()

    catalog = Catalog(entries, entries.get, make)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(catalog.prepare, "SELECT * FROM slow")
        assert begun.wait(10)
        catalog.prepare("SELECT * FROM own")
        first.result(timeout=10)


def test_a_signal_leaves_no_name_that_others_wait_for() -> None:
    """A real one, at any moment: the next who asks, from another thread, gets what it needs."""
    chance = random.Random(1)
    catalog = Catalog(ENTRIES, ENTRIES.get, lambda _: None)

    came: list[bool] = []

    def interrupt(*_: object) -> None:
        came.append(True)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(500):
            with suppress(KeyboardInterrupt):
                came.clear()
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 3e-4))
                # Python swallows what is raised while it collects garbage: it comes once, and may be seen nowhere else.
                while not came:
                    catalog = Catalog(ENTRIES, ENTRIES.get, lambda _: None)
                    catalog.prepare("SELECT * FROM d")
            with ThreadPoolExecutor(1) as pool:
                pool.submit(catalog.prepare, "SELECT * FROM d").result(timeout=10)
            assert not catalog._begun
    finally:
        signal.signal(signal.SIGALRM, before)


def test_what_a_signal_left_in_the_engine_is_replaced() -> None:
    with Dataset({}) as found:
        make = found._catalog._make

        def make_and_be_interrupted(statement: str) -> None:
            make(statement)
            raise KeyboardInterrupt

        found._catalog._make = make_and_be_interrupted
        with pytest.raises(KeyboardInterrupt):
            found.query("SELECT count(*) AS n FROM errors")
        found._catalog._make = make
        assert found.query("SELECT count(*) AS n FROM errors") == [{"n": 0}]


def test_a_view_that_seems_to_read_itself_is_made() -> None:
    entries = {
        "epoch": Entry("SELECT extract(year FROM epoch) AS x", False),
        "top": Entry("SELECT x FROM epoch", False),
    }
    made: list[str] = []
    Catalog(entries, entries.get, made.append).prepare("SELECT * FROM top")
    assert [statement.split()[4] for statement in made] == ["top"]


def test_a_view_stands_in_those_that_read_it_unless_a_name_would_change_its_meaning() -> None:
    entries = {
        "low": Entry("SELECT 1 AS x", False),
        "held": Entry("SELECT 2 AS x", True),
        "over_low": Entry("SELECT x FROM low AS l -- from held", False),
        "over_held": Entry("SELECT x FROM held", False),
        "top": Entry(
            "WITH held AS (SELECT 3 AS x), low AS (SELECT 4 AS x) SELECT a.x AS a, b.x AS b, c.x AS c, 'from low' AS said "
            "FROM over_low AS a JOIN over_held b ON b.x IS DISTINCT FROM a.x JOIN held AS c ON c.x > b.x",
            False,
        ),
    }
    made: list[str] = []
    with duckdb.connect() as database:

        def make(statement: str) -> None:
            made.append(" ".join(statement.split()[3:5]))
            database.execute(statement)

        Catalog(entries, entries.get, make).prepare("SELECT * FROM top")
        assert database.execute("SELECT * FROM top").fetchall() == [(1, 2, 3, "from low")]
    assert made == ["TABLE held", "VIEW over_held", "VIEW top"]


def test_views_that_read_one_another_are_left_to_the_engine() -> None:
    entries = {"a": Entry("SELECT * FROM b", False), "b": Entry("SELECT * FROM a", False)}
    made: list[str] = []

    def make(statement: str) -> None:
        made.append(statement.split()[4])
        raise OSError

    with pytest.raises(OSError):
        Catalog(entries, entries.get, make).prepare("SELECT * FROM a")
    assert made == ["a"]


def test_an_entry_is_asked_for_by_one_thread() -> None:
    """That of a table in object storage copies all of it."""
    asked: list[str] = []

    def entry(name: str) -> Entry | None:
        asked.append(name)
        time.sleep(0.1)
        return ENTRIES.get(name)

    catalog = Catalog(ENTRIES, entry, lambda _: None)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(catalog.prepare, ["SELECT * FROM a"] * 4))
    assert asked == ["a"]


def test_who_waits_for_what_failed_makes_it() -> None:
    tried = threading.Semaphore(1)
    entered, made = threading.Event(), []

    def make(statement: str) -> None:
        if tried.acquire(blocking=False):
            entered.set()
            time.sleep(0.2)
            raise OSError
        made.append(statement)

    catalog = Catalog(ENTRIES, ENTRIES.get, make)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(catalog.prepare, "SELECT * FROM a")
        assert entered.wait(10)
        catalog.prepare("SELECT * FROM a")
        assert isinstance(first.exception(), OSError)
    assert len(made) == 1


@pytest.mark.parametrize("tables", [None, ("exchanges", "errors")])
def test_nothing_reads_itself(tables: tuple[str, ...] | None, samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads that wait for each other's views would wait for ever."""
    monkeypatch.setattr(strategy, "SMALL_CAPTURE_BYTES", 0)
    with local.open_dataset([str(samples / "groups_848.pcap.zst")], Options(tables=tables)) as found:
        entry = found._catalog._entry
        reads = {name: tables_read(told.sql) for name in found._catalog._names if (told := entry(name))}
    assert len(reads) > 50
    TopologicalSorter(reads).prepare()  # raises CycleError


@pytest.mark.slow
def test_many_threads_get_the_rows_that_one_gets(samples: Path) -> None:
    capture = [str(samples / "groups_848.pcap.zst")]
    names = metrics.names()
    with local.open_dataset(capture, Options()) as found:
        alone = {name: found.metric(name) for name in names}
    for seed in range(3):
        shuffled = random.Random(seed).sample(names, len(names))
        with local.open_dataset(capture, Options()) as found, ThreadPoolExecutor(8) as pool:
            at_once = dict(zip(shuffled, pool.map(found.metric, shuffled), strict=True))
        for name in names:
            assert at_once[name] == alone[name], name


def test_views_outlive_what_a_question_leaves_behind() -> None:
    with Dataset({}) as found:
        found.query("BEGIN")
        assert found.query("SELECT count(*) AS n FROM errors") == [{"n": 0}]
        found.query("ROLLBACK")
        assert found.query("SELECT count(*) AS n FROM errors") == [{"n": 0}]
        found.query("ATTACH ':memory:' AS other")
        found.query("USE other")
        assert found.query("SELECT count(*) AS n FROM memory.main.problems") == [{"n": 0}]


def test_closing_stops_what_another_thread_asks() -> None:
    cleaned = threading.Event()
    found = Dataset({}, cleanup=cleaned.set)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(found.query, FOR_EVER)
        while not asked.running() or not found._opened:
            time.sleep(0.01)
        time.sleep(0.2)
        found.close()
        assert isinstance(asked.exception(timeout=30), (InterruptException, DatasetError))
    assert cleaned.is_set()


def test_what_is_computed_beside_stops_with_a_report_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """By an error, an early end or a signal: nobody waits for findings that nobody will see."""
    asked = threading.Event()

    def find_for_ever(dataset: Dataset) -> None:
        asked.set()
        dataset.query(FOR_EVER)

    monkeypatch.setattr(facts, "find_all", find_for_ever)
    with Dataset({}) as found:
        for error in (None, KeyboardInterrupt):
            asked.clear()
            with suppress(KeyboardInterrupt), facts.Facts(found).look_ahead():
                assert asked.wait(30)
                if error:
                    raise error
        assert found.query("SELECT 1 AS one") == [{"one": 1}]
