"""What is not equal, in a few lines: texts by their first differing line, tables by rows that only one side has."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet as pq

from compare.runs import Answer

_SHOWN = 160
_BEFORE_IT = 40
# The manifest of an export names the release that wrote it, and its files: two releases may be compared.
MANIFEST = "manifest"
NOT_OF_TABLES = {"kanalyze", "files", "order"}

# A sum of floating-point numbers over rows that two threads of DuckDB share: its last digits depend on which rows each took.
_SUM = re.compile(r'(?<="variance_to_mean_s":)[-0-9.e+]+')

Row = tuple[Any, ...]


def of_answers(before: Answer, after: Answer) -> Iterator[str]:
    if before.exit != after.exit:
        yield f"exit code {before.exit} -> {after.exit}"
    for name in ("stdout", "stderr"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new and text(old) != text(new):
            yield from of_texts(name, text(old), text(new))


def text(data: bytes) -> str:
    """What must be equal. Paths, times and names of temporary files are not printed, or are the same on both sides."""
    return _SUM.sub(lambda found: f"{float(found[0]):.9g}", data.decode("utf-8", "backslashreplace"))


def of_texts(name: str, before: str, after: str) -> Iterator[str]:
    """The first line that differs, around the place where it does."""
    old, new = before.split("\n"), after.split("\n")
    number = next(
        (at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new))
    )
    differ = sum(a != b for a, b in zip(old, new, strict=False)) + abs(len(old) - len(new))
    yield f"{name}, line {number + 1}, the first of {differ:,} that differ (lines: {len(old):,} -> {len(new):,})"
    sides = [lines[number] if number < len(lines) else None for lines in (old, new)]
    first = _first_difference(sides[0] or "", sides[1] or "")
    for word, line in zip(("before", "after"), sides, strict=True):
        yield f"    {word:<6} {_around(line, first)}"


def of_tables(before: Path, after: Path) -> Iterator[str]:
    """Every table and other file of two exported directories. A table may be one file, or a directory of files."""
    found = [{path.stem: path for path in folder.iterdir()} if folder.is_dir() else {} for folder in (before, after)]
    for name in sorted(found[0].keys() ^ found[1].keys()):
        yield f"{name}: only {'before' if name in found[0] else 'after'}"
    for name in sorted(found[0].keys() & found[1].keys()):
        paths = [each[name] for each in found]
        if name == MANIFEST:
            yield from _of_manifests(*(json.loads(path.read_text()) for path in paths))
        else:
            yield from of_table(name, *(pq.read_table(path, partitioning=None) for path in paths))


def _of_manifests(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """What both manifests say, but for the release that wrote them and the files, which may be others."""
    common = sorted((before.keys() & after.keys()) - NOT_OF_TABLES)
    old, new = (json.dumps({name: each[name] for name in common}, indent=2) for each in (before, after))
    if old != new:
        yield from of_texts("manifest.json", old, new)


def of_table(name: str, before: pyarrow.Table, after: pyarrow.Table) -> Iterator[str]:
    """Columns with their types, in order; then rows, in any order."""
    if not before.schema.equals(after.schema, check_metadata=True):
        yield f"table {name}: other columns"
        yield from (f"  {line}" for line in of_texts("schema", before.schema.to_string(), after.schema.to_string()))
        return
    if before.equals(after) or _sorted(before).equals(_sorted(after)):
        return
    old, new = _counted(before), _counted(after)
    lost, added = old - new, new - old
    if not lost and not added:
        return
    numbers = (
        f"rows: {before.num_rows:,} -> {after.num_rows:,}; {lost.total():,} only before, {added.total():,} only after"
    )
    yield f"table {name}, {numbers}"
    yield from _rows(before.column_names, next(iter(lost), None), next(iter(added), None))


def _sorted(table: pyarrow.Table) -> pyarrow.Table:
    return table.sort_by([(name, "ascending") for name in table.column_names])


def _counted(table: pyarrow.Table) -> Counter[Row]:
    """Rows as text, which NaN equals; in order, so that the first one of what is left is the least."""
    columns = [map(repr, column.to_pylist()) for column in table.columns]
    return Counter(sorted(zip(*columns, strict=True)))


def _rows(columns: list[str], old: Row | None, new: Row | None) -> Iterator[str]:
    """One row of each side: where both are there, the columns that differ, and the first two to tell which row it is."""
    wanted = [at for at in range(len(columns)) if at < 2 or old is None or new is None or old[at] != new[at]]
    for word, row in (("before", old), ("after", new)):
        if row is not None:
            yield f"    {word:<6} {_around(' '.join(f'{columns[at]}={row[at]}' for at in wanted), 0)}"


def _first_difference(old: str, new: str) -> int:
    return next(
        (at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new))
    )


def _around(line: str | None, place: int) -> str:
    if line is None:
        return "(no such line)"
    begin = max(place - _BEFORE_IT, 0) if len(line) > _SHOWN else 0
    cut = line[begin : begin + _SHOWN]
    return ("..." if begin else "") + cut + ("..." if begin + _SHOWN < len(line) else "")
