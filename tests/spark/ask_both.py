"""Asks every metric and every rule on both engines; a line of JSON per question. Runs in an environment with PySpark.

ask_both.py EXPORT SCRATCH TO     EXPORT: a directory that kanalyze export wrote; SCRATCH: an empty one; TO: the file of the
                                  answers (Java writes warnings of its own to standard output)
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "analysis"))

from engines import OnSpark, files, on_duckdb, session
from finding_stories import STORIES, Story
from made_rows import SECOND_NS, capture, dataset, write
from made_tables import Maker
from same_rows import difference, in_order

from analyzer import findings, metrics
from analyzer.dataset import Dataset, open_dataset
from analyzer.settings import Settings

SETTINGS = {
    "": Settings(),
    "by_topic_and_client": Settings(by=("topic", "client")),
    "every_second": Settings(every_ns=SECOND_NS),
}
STORY_SECONDS = 400


def main(export: Path, scratch: Path, answers: Path) -> None:
    spark = session(scratch)
    made = scratch / "made"
    write(made, Maker(seed=5).tables(exchanges=600, connections=40))

    one_at_a_time = Lock()

    def run(ask: Callable[[OnSpark], Iterator[dict[str, Any]]]) -> None:
        for report in ask(OnSpark(spark.newSession())):
            with one_at_a_time, answers.open("a") as out:
                print(json.dumps(report), file=out)

    # Most of the time goes into planning, which has one thread: two are planned at a time.
    with ThreadPoolExecutor(2) as pool:
        asked = (
            lambda engine: of_tables("captures", export, engine),
            lambda engine: of_tables("made", made, engine),
            lambda engine: of_stories(scratch, engine),
        )
        list(pool.map(run, asked))


def of_tables(label: str, directory: Path, spark: OnSpark) -> Iterator[dict[str, Any]]:
    """Every metric, those that take settings with three of them, and every rule, over the tables in a directory."""
    spark.load(files(directory))
    with open_dataset(directory, threads=1) as duckdb:
        for given, settings in SETTINGS.items():
            duckdb.choose(settings)
            spark.choose(settings)
            for name in metrics.names():
                if not given or takes_settings(metrics.text(name)):
                    yield asked(f"metrics/{name}", f"{label} {given}".strip(), metrics.text(name), duckdb, spark)
        duckdb.choose(Settings())
        spark.choose(Settings())
        for rule in findings.rules():
            yield asked(f"findings/{rule.name}", label, rule.sql, duckdb, spark)


def of_stories(scratch: Path, spark: OnSpark) -> Iterator[dict[str, Any]]:
    """Every rule over the rows in which it must fire, and over those in which it must not."""
    for name, (fires, silent) in STORIES.items():
        for number, story in enumerate((fires, *silent)):
            yield of_story(name, "story_fires" if not number else f"story_silent_{number}", story, scratch, spark)


def of_story(name: str, label: str, story: Story, scratch: Path, spark: OnSpark) -> dict[str, Any]:
    directory = scratch / f"{name}_{label}"
    start = capture()["first_time_ns"]
    with dataset(
        directory, {"captures": [capture(last_time_ns=start + STORY_SECONDS * SECOND_NS)]} | story()
    ) as duckdb:
        spark.load(files(directory))
        return asked(f"findings/{name}", label, findings.rule(name).sql, duckdb, spark)


def takes_settings(sql: str) -> bool:
    """True for a question whose answer depends on the view `settings`."""
    return any("settings" in text for text in (sql, *map(metrics.view, metrics.views_in(sql))))


def asked(file: str, question: str, sql: str, duckdb: Dataset, spark: OnSpark) -> dict[str, Any]:
    """One question to both: how many rows it has, and what is not the same."""
    report = {"file": file, "question": question, "rows": 0, "seconds": 0.0}
    try:
        expected = on_duckdb(duckdb, sql)
        begins = time.monotonic()
        found = spark.answer(sql)
    except Exception as error:  # Whatever an engine says belongs to this question; the others are still asked.
        return report | {"difference": f"{type(error).__name__}: {str(error)[:2000]}", "in_order": False}
    told = difference(expected, found)
    report |= {"rows": len(expected.rows), "seconds": round(time.monotonic() - begins, 2)}
    return report | {"difference": told, "in_order": not told and in_order(expected, found)}


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
