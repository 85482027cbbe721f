"""One table of what several files say about addresses: at each moment at most one row for an address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from analyzer.base.text import input_name
from analyzer.inputs.sources import InputError, Source
from analyzer.names.name_files import Name, NamesError, names_in
from dissectors.formats.format_detection import MAGIC_BYTES, is_capture

if TYPE_CHECKING:
    import duckdb

FIELDS = ("host", "pod", "namespace", "workload", "zone")
# A file that gives an address more names is not a list of who had it.
MOST_NAMES = 1_000
# As a list of Kubernetes it takes eight times as much memory while it is read.
MOST_BYTES = 128_000_000
_EARLIEST, _LATEST = -(1 << 63), (1 << 63) - 1
_CREATE = f"""
CREATE TABLE names AS
SELECT
    v[1] AS address,
    coalesce(CAST(nullif(v[2], '') AS BIGINT), {_EARLIEST}) AS begin_ns,
    coalesce(CAST(nullif(v[3], '') AS BIGINT), {_LATEST}) AS end_ns,
    {", ".join(f"nullif(v[{at}], '') AS {name}" for at, name in enumerate(FIELDS, 4))}
FROM (SELECT string_split(line, $3) AS v FROM (SELECT unnest(string_split($1, $2)) AS line) AS lines WHERE line <> '') AS rows
"""


class Conflict(NamedTuple):
    """Two names that a file gives an address at the same time."""

    address: str
    field: str
    one: str
    other: str


class Told(NamedTuple):
    """What one file says: of several lists the first that names an address counts; whether it is a file of names, not a capture."""

    ranked: list[list[Name]]
    is_list: bool


class Names(NamedTuple):
    """Rows of which those of one address do not overlap in time, and what could not be decided, a line for each address."""

    rows: tuple[Name, ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    def create(self, database: duckdb.DuckDBPyConnection) -> None:
        """Creates the table `names`. All rows are one text, which the engine takes apart: of 100,000 rows in SQL it plans for
        seconds, in 2 GB, and of lists of Python it takes each value by itself. A name may hold any character: what divides
        names and rows cannot be known before."""
        within, between = uuid4().hex, uuid4().hex
        texts = map(_texts, zip(*self.rows, strict=True))
        database.execute(_CREATE, [between.join(map(within.join, zip(*texts, strict=True))), between, within])

    def warnings(self) -> list[str]:
        """What a person must know of the files alone."""
        if not self.conflicts:
            return []
        first = self.conflicts[0]
        count = len({each.address for each in self.conflicts})
        who = "1 address has" if count == 1 else f"{count:,} addresses have"
        return [
            f"names: {who} two names at the same time, and so none: {first.address} is {first.field} {first.one} "
            f"and {first.other}"
        ]


def _texts(column: Sequence[str | int | None]) -> Iterable[str]:
    """A column as texts; what is not said is empty."""
    return column if set(map(type, column)) == {str} else ["" if value is None else str(value) for value in column]  # type: ignore[return-value]


def who(row: Mapping[str, Any], side: str = "client") -> str | None:
    """What an address is called beside it: its pod as namespace/pod, else its host; None: it has no name."""
    pod, namespace = row[f"{side}_pod"], row.get(f"{side}_namespace")
    if pod is None:
        host: str | None = row[f"{side}_host"]
        return host
    return pod if namespace is None else f"{namespace}/{pod}"


def read(paths: Sequence[Path]) -> Names:
    """What the files say. Where two of them name the same field, the first of them counts. Raises NamesError."""
    return joined({path: told_by(path) for path in paths})


def told_by(path: Path) -> Told:
    """What a file or a pipe says. Raises NamesError."""
    source = Source.beside(path)
    try:
        if not is_capture(source.look(lambda head: len(head) >= MAGIC_BYTES)):
            return Told([names_in(input_name(source.name), _whole(source))], True)
    except InputError as error:
        raise NamesError(str(error)) from error
    from analyzer.names.capture_names import names_of_capture

    return Told(names_of_capture(source), False)


def joined(told: Mapping[Path, Told]) -> Names:
    """One table of what files say, the first of them first. Raises NamesError."""
    ranked = [(path, names) for path, each in told.items() for names in each.ranked]
    if len(ranked) == 1 and len({name.address for name in ranked[0][1]}) == len(ranked[0][1]):
        return Names(tuple(ranked[0][1]))  # nothing to decide
    by_address: dict[str, list[tuple[int, Name]]] = {}
    for number, (path, names) in enumerate(ranked):
        for name in dict.fromkeys(names):
            of_address = by_address.setdefault(name.address, [])
            of_address.append((number, name))
            if len(of_address) > MOST_NAMES:
                raise NamesError(f"{path}: more than {MOST_NAMES:,} names for {name.address}")
    rows: list[Name] = []
    conflicts: dict[Conflict, None] = {}
    for of_address in by_address.values():
        rows += _pieces(of_address, conflicts)
    return Names(tuple(rows), tuple(conflicts))


def _whole(source: Source) -> bytes:
    """All bytes of a file or a pipe, which is hostile like a capture: packed it may be a thousand times smaller."""
    data = bytearray()
    for block in source.blocks():
        data += block
        if len(data) > MOST_BYTES:
            raise NamesError(
                f"{input_name(source.name)}: more than {MOST_BYTES // 1_000_000} MB of names; "
                "a TSV (address, pod, zone) says the same in less"
            )
    return bytes(data)


def _pieces(told: Sequence[tuple[int, Name]], conflicts: dict[Conflict, None]) -> Iterable[Name]:
    """What is said of one address, a row for each piece of time in which the same is said."""
    if len(told) == 1:
        return [told[0][1]]
    edges = sorted({_begin(name) for _, name in told} | {_end(name) for _, name in told})
    rows: list[Name] = []
    for begin, end in pairwise(edges):
        valid = [(number, name) for number, name in told if _begin(name) <= begin and end <= _end(name)]
        if not valid:
            continue
        merged = [_agreed(field, valid, conflicts) for field in FIELDS]
        if rows and _end(rows[-1]) == begin and list(rows[-1][3:]) == merged:
            rows[-1] = rows[-1]._replace(end_ns=None if end == _LATEST else end)
        else:
            times = (None if begin == _EARLIEST else begin, None if end == _LATEST else end)
            rows.append(Name(told[0][1].address, *times, *merged))
    return rows


def _agreed(field: str, valid: Sequence[tuple[int, Name]], conflicts: dict[Conflict, None]) -> str | None:
    """The one value that the first file with any gives."""
    values = [(number, value) for number, name in valid if (value := getattr(name, field)) is not None]
    of_first = list(dict.fromkeys(value for number, value in values if number == values[0][0]))
    if len(of_first) > 1:
        conflicts[Conflict(valid[0][1].address, field, *of_first[:2])] = None
        return None
    return of_first[0] if of_first else None


def _begin(name: Name) -> int:
    return _EARLIEST if name.begin_ns is None else name.begin_ns


def _end(name: Name) -> int:
    return _LATEST if name.end_ns is None else name.end_ns
