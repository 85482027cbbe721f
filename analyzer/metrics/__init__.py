"""Metrics: one SQL file each, from the final tables to a handful of rows; its first line says what it answers.

The files run unchanged on DuckDB and on Spark SQL, so they keep to what both know: common table expressions, window
functions, `FILTER`, `GROUP BY ALL`, integers for time. They read `exchanges`, `errors`, `entries` and `connections`,
which the dataset narrows when the user asked for a client, a topic, a time; coverage reads the `all_*` views, which
are never narrowed; `time_range` is one row with the first and last moment that counts.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Every metric there is."""
    return sorted(path.stem for path in FOLDER.glob("*.sql"))


def text(name: str) -> str:
    """The SQL of a metric. An unknown name is a KeyError that lists the known ones."""
    path = FOLDER / f"{name}.sql"
    if not path.is_file():
        raise KeyError(f"no metric {name!r}; there are: {', '.join(names())}")
    return path.read_text(encoding="utf-8")
