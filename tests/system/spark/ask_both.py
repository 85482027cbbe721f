"""Asks both engines for every final table, and for metrics, views of theirs and rules (`constructs.py` says for which); a line of
JSON per question.

run_job.py runs it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from constructs import asked
from effort import LONG
from engines import files, frame, on_duckdb, on_spark, session
from finding_stories import STORIES, Story
from made_rows import SECOND_NS, START_NS, capture, write
from made_tables import Maker
from pyspark.sql import SparkSession
from same_rows import difference, in_order

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.base.tables import TABLES
from analyzer.query import findings, metrics
from analyzer.query.dataset import Dataset
from analyzer.query.export_tables import export
from analyzer.query.exported import open_dataset
from analyzer.run import local
from analyzer.spark.views import Views, written_tables

SETTINGS = {
    "": Settings(),
    "by_topic_and_client": Settings(by=("topic", "client")),
    "every_second": Settings(every_ns=SECOND_NS),
}
# What people may type, and what either engine could take for more than text.
FILTERS = {
    "clients": Filters(clients=("CLIENT*_[0-1]", "*'\\${env:HOME}%_!*", "10.0.0.[2-9]:4?*")),
    "others": Filters(clients=("*[!1]",), topics=("topic_?", "ID_of_*", "*[a-c"), from_ns=START_NS + SECOND_NS),
    "brokers": Filters(brokers=("1", "10.0.1.0:9*"), apis=("1", "produc?", "[j-s]*"), to_ns=START_NS + 8 * SECOND_NS),
}
# A table of each sort that filters narrow: exchanges, what is of them, what is of their topics, and connections; and by which.
FILTERED = {
    "exchanges": tuple(FILTERS),
    "connections": tuple(FILTERS) if LONG else ("brokers",),
    "entries": tuple(FILTERS) if LONG else ("others",),
    "errors": tuple(FILTERS) if LONG else ("clients",),
    "transaction_events": tuple(FILTERS) if LONG else ("others",),
}
STORY_SECONDS = 400


class Both(NamedTuple):
    """The same tables in both engines. `label` says which tables they are."""

    label: str
    duckdb: Dataset
    spark: Views

    def ask(self, file: str, sql: str, settings: Settings = SETTINGS[""], given: str = "") -> dict[str, Any]:
        """One question to both: how many rows it has, and what is not the same."""
        report = {"file": file, "question": f"{self.label} {given}".strip(), "rows": 0, "seconds": 0.0}
        try:
            expected = on_duckdb(self.duckdb, sql, settings)
            begins = time.monotonic()
            found = on_spark(self.spark, sql, settings)
        except Exception as error:  # Whatever an engine says belongs to this question; the others are still asked.
            return report | {"difference": f"{type(error).__name__}: {str(error)[:2000]}", "in_order": False}
        told = difference(expected, found)
        report |= {"rows": len(expected.rows), "seconds": round(time.monotonic() - begins, 2)}
        return report | {"difference": told, "in_order": not told and in_order(expected, found)}


def ask_both(beside: SparkSession, scratch: Path, answers: Path, captures: list[str]) -> None:
    """`scratch`: an empty directory; `answers`: the file of the answers."""
    one_at_a_time = Lock()

    def run(ask: Callable[[SparkSession, Path], Iterator[dict[str, Any]]]) -> None:
        folder = scratch / ask.__name__
        folder.mkdir()
        # Rows of captures are in several partitions, which are added up; what else is asked is about the SQL.
        for report in ask(session(beside, in_one_task=ask is not of_captures and not LONG), folder):
            with one_at_a_time, answers.open("a") as out:
                print(json.dumps(report), file=out)

    def of_captures(spark: SparkSession, folder: Path) -> Iterator[dict[str, Any]]:
        yield from of_exported(spark, captures, folder)

    # Most of the time goes into planning, which has one thread: two are planned at a time.
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, (of_captures, of_made_rows, of_stories)))


def of_exported(spark: SparkSession, captures: list[str], folder: Path) -> Iterator[dict[str, Any]]:
    """The tables of captures."""
    with local.open_dataset(captures, Options(temp_dir=folder)) as dataset:
        export(dataset, folder / "exported", "parquet")
    both = _written("captures", spark, folder / "exported")
    yield from of_final_tables(both)
    yield from of_metrics(both, ("every_second",))
    _close(both)


def of_made_rows(spark: SparkSession, folder: Path) -> Iterator[dict[str, Any]]:
    """Rows with nulls everywhere, all of them and as filters leave them."""
    write(folder, Maker(seed=5).tables(exchanges=600, connections=40))
    made = _written("made", spark, folder)
    yield from of_metrics(made, ("", "by_topic_and_client"))
    for name, sql in asked().items():
        if name.startswith("views/"):
            yield made.ask(name, sql)
    for rule in findings.rules() if LONG else ():
        yield made.ask(f"findings/{rule.name}", rule.sql)
    _close(made)
    for name, filters in FILTERS.items():
        filtered = _written(f"made, {name} filtered", spark, folder, filters)
        yield from of_final_tables(filtered, [table for table, by in FILTERED.items() if name in by])
        _close(filtered)


def of_stories(spark: SparkSession, folder: Path) -> Iterator[dict[str, Any]]:
    """The rules over the rows in which they must fire; with KANALYZE_LONG over those in which they must not, too."""
    chosen = asked()
    for name, (fires, silent) in STORIES.items():
        if f"findings/{name}" not in chosen:
            continue
        for number, story in enumerate((fires, *silent) if LONG else (fires,)):
            label = "story fires" if not number else f"story {number} silent"
            yield _of_story(name, label, story, folder / f"{name}_{number}", spark)


def _of_story(name: str, label: str, story: Story, folder: Path, spark: SparkSession) -> dict[str, Any]:
    ends = capture()["first_time_ns"] + STORY_SECONDS * SECOND_NS
    write(folder, {"captures": [capture(last_time_ns=ends)]} | story())
    both = _written(label, spark, folder)
    report = both.ask(f"findings/{name}", findings.rule(name).sql)
    _close(both)
    return report


def _written(label: str, spark: SparkSession, folder: Path, filters: Filters | None = None) -> Both:
    tables = {table: frame(spark, table, path) for table, path in files(folder).items()}
    return Both(label, open_dataset(folder, filters=filters, threads=1), written_tables(spark, tables, filters))


def of_final_tables(both: Both, tables: Iterable[str] = TABLES) -> Iterator[dict[str, Any]]:
    for table in tables:
        yield both.ask(f"tables/{table}", f"SELECT * FROM {table}")


def of_metrics(both: Both, given: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Metrics with these settings; one that takes settings not without them, too. KANALYZE_LONG: with all, and without.

    Most time goes into planning, and a plan hardly depends on the rows: metrics without settings are asked of made rows, where
    nothing is like anything; rules are asked of a story in which they fire.
    """
    chosen = [name for name in metrics.names() if f"metrics/{name}" in asked()]
    for name_of_settings, settings in SETTINGS.items():
        for name in chosen if LONG or name_of_settings in given else ():
            takes_settings = _takes_settings(metrics.text(name))
            if takes_settings if name_of_settings else LONG or not takes_settings:
                yield both.ask(f"metrics/{name}", metrics.text(name), settings, name_of_settings)


def _takes_settings(sql: str) -> bool:
    """True for a question whose answer depends on the view `settings`."""
    return any("settings" in text for text in (sql, *map(metrics.view, metrics.views_in(sql))))


def _close(both: Both) -> None:
    both.duckdb.close()
    both.spark.close()
