"""Metrics: one SQL file each, from the final tables to a handful of rows; its first comment says what it answers.

DuckDB answers them, of tables that Spark wrote, too. Times are integers, and a sum that is a count is cast to BIGINT. Where
several rows may have the greatest value, `max_by` takes the pair `(value, key)`, without nulls, so that each run chooses the same.

They read `exchanges`, `errors`, `entries` and `connections`,
which the dataset narrows when the user asked for a client, a topic, a time; coverage reads the `all_*` views, which
are never narrowed; `time_range` is one row with the first and last moment that counts, and how much of it was captured.

Views that several metrics read are in `views/`: a query (.sql) or data (.tsv, with the type after each column's name), named
like the file. They are created when a question names them (`views_in`), as each takes some milliseconds. Those in
`views/materialized/` are small and read by many metrics, or dear and read several times by one, so they are computed once
(`is_materialized`); one that reads `settings` is computed anew when these change.

- A Fetch names no group: `views/materialized/held_partitions`, `client_groups` and `partition_readers` say which it
  was, or that several are possible. A rebalance of a classic group is told by JoinGroup and SyncGroup, of a newer one
  by what moves between heartbeats (`classic_rebalances`, `managed_rebalances`).
- Percentiles are made in one place, `metrics/views/latency_slices.sql`: log buckets of ratio 2^(1/64), whose counts
  can be added. Requests that wait by design (wait kinds of class `wait`) never mix with the others.
- What a question is given (`--by`, `--every`, `--of`) reaches a metric as the one-row view `settings`, always under
  the alias `s`. `Settings.folded` also writes the values into the SQL, so that columns nobody asked for are not read.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from analyzer.query import sql_words

FOLDER = Path(__file__).parent
VIEWS = FOLDER / "views"
# What there must be for a long question to have rows: a look at sums, which most captures answer with nothing.
NEEDS = {
    "errors": "errors",
    "throttle": "totals WHERE throttled > 0",
    "unanswered": "totals WHERE status NOT IN ('answered', 'no_reply_expected')",
}
_TYPES = {"int": "INT", "text": "STRING"}


def names() -> list[str]:
    """The names of all metrics."""
    return sorted(path.stem for path in FOLDER.glob("*.sql"))


def text(name: str) -> str:
    """The SQL of a metric. An unknown name is a KeyError that lists the known ones."""
    path = FOLDER / f"{name}.sql"
    if not path.is_file():
        raise KeyError(f"no metric {name!r}; there are: {', '.join(names())}")
    return sql_words.text(path)


@cache
def view_names() -> tuple[str, ...]:
    """The names of all shared views."""
    return tuple(sorted(_files()))


@cache
def view(name: str) -> str:
    """The SQL of a shared view: its file, or the rows of its data file. An unknown name is a KeyError."""
    path = _files()[name]
    return _facts(path) if path.suffix == ".tsv" else sql_words.bare(sql_words.text(path))


def data_rows(name: str) -> list[list[str]]:
    """The cells of a shared view that is data (.tsv), without its header."""
    return [line.split("\t") for line in _files()[name].read_text(encoding="utf-8").splitlines()[1:]]


def is_materialized(name: str) -> bool:
    """True for a shared view that is to be computed once and held."""
    return _files()[name].parent != VIEWS


@cache
def is_given_settings(name: str) -> bool:
    """True for a shared view that depends on `settings`, directly or through another view."""
    return any("settings" in view(each) for each in (name, *views_in(view(name))))


@cache
def _files() -> dict[str, Path]:
    return {path.stem: path for path in VIEWS.rglob("*") if path.suffix in (".sql", ".tsv")}


def views_in(sql: str) -> list[str]:
    """The shared views that `sql` names, directly or through another view, each after those that it reads itself."""
    found: list[str] = []
    words = set(re.findall(r"\w+", re.sub(r"--[^\n]*", "", sql)))
    for name in view_names():
        if name in words:
            found += [*views_in(view(name)), name]
    return list(dict.fromkeys(found))


def _facts(path: Path) -> str:
    """A data file as SQL; an empty cell is null."""
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    columns = dict(column.split(":") for column in header.split("\t"))
    return sql_words.rows({name: _TYPES[kind] for name, kind in columns.items()}, lines)
