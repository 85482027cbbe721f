"""The manifest of a dataset: its name, its limits, and what one must say, checked in one place before anything is done with it.

What it names is read, moved and removed below the dataset's directory: so names of files are paths that stay there, below the
directory of their table. Fields that nobody here knows are passed over, and a newer `schema` is refused.
"""

from __future__ import annotations

import re
from typing import Any

from analyzer.base.json_shapes import (
    Shape,
    ShapeError,
    by_name,
    each,
    flag,
    loaded,
    or_null,
    record,
    short,
    text,
    whole,
)
from analyzer.query.dataset import DatasetError

MANIFEST = "manifest.json"
# Of the manifest and the files of a dataset that grows.
SCHEMA = 1
PARQUET = "parquet"
# A dataset to which captures were added every ten minutes for three years has a manifest of this size.
MOST_BYTES = 64 << 20
# Captures, and splits of them, are numbered with 32 bits in the tables.
MOST_FILES = (1 << 31) - 1
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_MOMENT = or_null(whole())
_ROWS = whole(least=0, what="a number of rows")
_NUMBER = whole(0, MOST_FILES, "a number of captures")


def _path_below(table: str) -> Shape:
    """The name of a file of a table, with slashes."""

    def check(value: Any) -> None:
        text(value)
        parts = value.split("/")
        below = parts[0] == table if len(parts) > 1 else value.startswith(f"{table}.")
        if not below or any(part in ("", ".", "..") for part in parts):
            raise ShapeError(f"the name of a file of {table}", value)

    return check


def _files_of(table: str) -> Shape:
    written = {"file": _path_below(table), "rows": _ROWS}
    return each(record(written, {"first_time_ns": _MOMENT, "last_time_ns": _MOMENT}))


def _name_of_run(value: Any) -> None:
    if not isinstance(value, str) or not _PLAIN.fullmatch(value):
        raise ShapeError("the name of a run", value)


_INPUT = record(
    {"path": text, "size_bytes": whole(least=0, what="a number of bytes"), "modified_ns": _MOMENT},
    {"first_time_ns": _MOMENT, "last_time_ns": _MOMENT, "tap": text, "failed": or_null(text), "etag": or_null(text)},
)
_RUN = record(
    {
        "run": _name_of_run,
        "kanalyze": text,
        "next_file": _NUMBER,
        "next_split": _NUMBER,
        "inputs": each(_INPUT),
        "files": by_name(_files_of),
        "open_files": each(text),
    }
)
# What decides whether the rest can be read at all.
_HEAD = record({"format": text}, {"schema": whole(least=1), "kanalyze": text})
_OF_ANY = record(
    {},
    {
        "tables": or_null(by_name(lambda _: _ROWS)),
        "files": or_null(by_name(_files_of)),
        "inputs": each(text),
        "moving": flag,
    },
)
_OF_GROWING = record({"runs": each(_RUN), "serial": whole(least=0), "moving": flag, "tables": by_name(lambda _: _ROWS)})


def checked(data: bytes, where: object) -> dict[str, Any]:
    """What a manifest says, every field of the form that its readers rely on; with `runs` when it is that of a dataset that grows.
    `where` names the dataset. Raises DatasetError."""
    try:
        found: dict[str, Any] = loaded(data, _HEAD)
        if found["format"] != PARQUET:
            raise DatasetError(
                f"{where}: exported as {short(found['format'])}; only --format parquet can be read again"
            )
        if found.get("schema", SCHEMA) > SCHEMA:
            raise DatasetError(f"{where}: was written by a newer kanalyze; update this one")
        _OF_ANY(found)
        if "runs" in found:
            _OF_GROWING(found)
            _check_runs(found)
        return found
    except ShapeError as error:
        raise DatasetError(f"{where}/{MANIFEST}: not a manifest that kanalyze export wrote: {error}") from None


def _check_runs(found: dict[str, Any]) -> None:
    """What fields say of each other, in a manifest that has the right ones."""
    files = found.get("files") or {}
    if missing := [table for table in found["tables"] if table not in files]:
        raise ShapeError(f"a field {missing[0]}").within(".files")
    for place, run in enumerate(found["runs"]):
        names = {file["file"] for written in run["files"].values() for file in written}
        if strange := [name for name in run["open_files"] if name not in names]:
            raise ShapeError("the name of a file of this run", strange[0]).within(f".runs[{place}].open_files")
