"""Rows of metrics as a page holds them: columns named once, moments counted from the page's origin, strings harmless."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from analyzer.base.tables import is_key, is_moment
from analyzer.base.text import exchange_id, printable, shown_name

# A number beyond this is no exact number in JavaScript: it travels as text.
_EXACT = (1 << 53) - 1
# Of a longer name a page has the beginning; `kanalyze ... --format json` has all of it.
LONGEST_TEXT = 1_000


def table(rows: Sequence[dict[str, Any]], total: int, origin_ns: int) -> dict[str, Any]:
    """`columns`, `rows` (lists in the order of columns) and `total`, how many there are in all: `total` of the question, and where
    the question itself left rows out, what it says.

    Columns that are null in every row are left out: to a page null and missing are the same.
    """
    columns = [name for name in (rows[0] if rows else ()) if any(row[name] is not None for row in rows)]
    whole = max([total, *(row["total_rows"] for row in rows[:1] if row.get("total_rows") is not None)])
    columns = [name for name in columns if name != "total_rows"]
    return {
        "columns": columns,
        "rows": [[value(name, row[name], origin_ns) for name in columns] for row in rows],
        "total": whole,
    }


def packed(rows: Sequence[dict[str, Any]], origin_ns: int) -> dict[str, Any]:
    """The same by column, for many rows: name -> its values in the order of `rows`. Texts that come again are `words`, each once,
    and `at`, for each row which of them it has (None: null). Columns that are null in every row are left out.
    """
    columns: dict[str, Any] = {}
    for name in rows[0] if rows else ():
        values = [value(name, row[name], origin_ns) for row in rows]
        texts = {each for each in values if isinstance(each, str)}
        if 2 * len(texts) > len(values) or not texts:
            columns |= {name: values} if any(each is not None for each in values) else {}
        else:
            words = list(dict.fromkeys(each for each in values if each is not None))
            place = {each: at for at, each in enumerate(words)}
            columns[name] = {"words": words, "at": [None if each is None else place[each] for each in values]}
    return {"rows": len(rows), "columns": columns}


def value(name: str, given: Any, origin_ns: int) -> Any:
    """One value as JSON for the page: keys as 16 hex digits, moments as ns since `origin_ns`, what is no number as null."""
    if given is None or isinstance(given, bool):
        return given
    if is_key(name):
        return exchange_id(given) if isinstance(given, int) else given
    if isinstance(given, int):
        number = given - origin_ns if is_moment(name) else given
        return number if abs(number) <= _EXACT else str(number)
    if isinstance(given, float):
        return given if math.isfinite(given) else None
    return _cut(given, shown_name) if isinstance(given, str) else text(str(given))


def text(line: str) -> str:
    """A line with captured strings in it, without what turns or hides it, cut where it is absurdly long."""
    return _cut(line, printable)


def _cut(given: str, write: Callable[[str], str]) -> str:
    if len(given) <= LONGEST_TEXT:
        return write(given)
    return f"{write(given[:LONGEST_TEXT])}… ({len(given):,} characters)"


def harmless(given: Any) -> Any:
    """The same for what is nested: every string in lists and dictionaries; other values as they are."""
    if isinstance(given, str):
        return text(given)
    if isinstance(given, dict):
        return {name: harmless(each) for name, each in given.items()}
    if isinstance(given, Iterable):
        return [harmless(each) for each in given]
    if isinstance(given, float) and not math.isfinite(given):
        return None
    return str(given) if isinstance(given, int) and not isinstance(given, bool) and abs(given) > _EXACT else given
