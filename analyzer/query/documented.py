"""SQL that a person wrote: it finds the tables of docs/tables.md, and what goes wrong is told in lines of its own text.

The tables are views in a database beside the one of metrics and findings, so that nothing else is listed, named or suggested.
They have the columns that SQL finds beyond those of the tables, too (`analyzer.base.tables.sql_columns`). The engine reads the
files of these tables and no others, and reaches no network (`Dataset.close_off`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from unicodedata import east_asian_width

from analyzer.base.filters import literal
from analyzer.base.tables import ROW_OF, TABLES, is_key, sql_columns
from analyzer.query.dataset import DatasetError, sql_errors
from analyzer.query.export import Rows

if TYPE_CHECKING:
    import duckdb
    import pyarrow

    from analyzer.query.dataset import Dataset

T = TypeVar("T")
DATABASE = "kanalyze"
TAB = "\t"
# Questions about all tables.
_ABOUT_ALL = re.compile(r"\bshow\b", re.IGNORECASE)
# DuckDB lists the columns of every database with these, in one line for each table.
_LIST = re.compile(r"\s*(describe|show\s+all\s+tables)[\s;]*", re.IGNORECASE)
_TEXT = re.compile(r"'(?:[^']|'')*'")
# A comment, a text, a quoted name; or a name that the statement gives; or a column compared with ids as they are printed.
_ID = "'[0-9a-f]{16}'"
_COMPARED = re.compile(
    rf"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"
    |\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$|\bas\s+"?(?P<given>\w+)
    |\b(?P<column>\w+)(?P<ids>\s*(?:==?|<>|!=)\s*{_ID}|\s+(?:not\s+)?in\s*\(\s*{_ID}(?:\s*,\s*{_ID})*\s*\))""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# What finds more than the documented tables: the database of metrics and findings, and lists of all databases.
_OTHERS = re.compile(
    r"""\b(?:memory"?\s*\.|information_schema\b|pg_catalog\b|pragma_\w+\s*\(|sqlite_\w*(?:master|schema)\b
    |duckdb_(?!logical_type)\w+\s*\(|show\s+databases\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_OTHER_SUGGESTED = re.compile(r'\nDid you mean "memory\.[^\n]*')
# What a person is not able to do here.
_INSTALL = re.compile(r"\n+Please try installing.*", re.DOTALL)
_NO_FILES = "only the tables of the captures are read; --unsafe-sql (in Python unsafe_sql=True) lets SQL read files of this machine"
# Where DuckDB points at a statement: the number of the line, the line, and a mark below it.
_PLACE = re.compile(r"^LINE (\d+): (.*)\n( *)\^", re.MULTILINE)


def documented_rows(dataset: Dataset, statement: str) -> Rows:
    """The result of one SELECT of a person, not yet computed. Raises DatasetError."""
    return Rows(_Wrapped(dataset), _one_select(dataset, with_keys(statement)))


def documented_arrow(dataset: Dataset, statement: str) -> pyarrow.Table:
    """The result of one SELECT of a person as an Arrow table. Raises DatasetError."""
    return documented_rows(dataset, statement).batches().read_all()


def with_keys(statement: str) -> str:
    """The statement with ids of 16 hex digits as the numbers that keys are, where a key is compared with them:
    exchange = '00c3...', connection IN ('00c3...', ...). What the statement itself calls by the name of a key may be a text."""
    given = {match["given"].lower() for match in _COMPARED.finditer(statement) if match["given"]}

    def number(match: re.Match[str]) -> str:
        column = (match["column"] or "").lower()
        if not is_key(column) or column in given:
            return match[0]
        return match["column"] + _TEXT.sub(lambda text: str(int(text[0][1:-1], 16)), match["ids"])

    return _COMPARED.sub(number, statement)


class _Wrapped:
    """Runs what `Rows` makes of a person's statement, which begins at the second line."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def query(self, sql: str) -> list[dict[str, Any]]:
        def ask(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
            result = connection.execute(sql)
            names = [column[0] for column in result.description or ()]
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

        return _asked(self._dataset, sql, ask)

    def batches(self, sql: str, *, rows: int) -> pyarrow.RecordBatchReader:
        import duckdb  # noqa: F401 (what gives connections their relations)

        return _asked(self._dataset, sql, lambda connection: connection.sql(sql).to_arrow_reader(rows))


def _one_select(dataset: Dataset, statement: str) -> str:
    """The statement, when it is one, has rows, and names no other database; a list of tables as the SELECT that lists the
    documented ones.
    """
    if _LIST.fullmatch(statement):
        return _listed()
    if other := _OTHERS.search(_TEXT.sub("''", statement)):
        name = other[0].rstrip('(." ')
        raise DatasetError(f"{name}: only documented tables can be read; `show tables` and `describe TABLE` list them")
    with _own_lines(0):
        found = _connection(dataset).extract_statements(statement)
    if len(found) != 1:
        raise DatasetError(f"expected one SELECT, got {len(found) or 'no'} statements")
    kind = found[0].type.name
    # PIVOT is more than one statement to DuckDB.
    if kind not in ("SELECT", "MULTI"):
        raise DatasetError(f"expected a SELECT, got {kind}")
    return statement


def _listed() -> str:
    rows = (
        f"({literal(name)}, {len(TABLES[name]) + len(sql_columns(name))}, {literal(ROW_OF[name])})"
        for name in sorted(TABLES)
    )
    return f"SELECT * FROM (VALUES {', '.join(rows)}) AS tables (name, columns, one_row_per)"


def _asked(dataset: Dataset, sql: str, ask: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
    """Creates the views of the tables that the SQL names, then asks. After an error about a name all are there, so that DuckDB
    suggests one of them.
    """
    import _duckdb as engine

    connection = _connection(dataset)
    names = set(re.findall(r"\w+", sql.lower()))
    _create(dataset, connection, TABLES if _ABOUT_ALL.search(sql) else [name for name in TABLES if name in names])
    with _own_lines(1):
        try:
            return ask(connection)
        except (engine.CatalogException, engine.BinderException):
            _create(dataset, connection, TABLES)
            return ask(connection)


def _connection(dataset: Dataset) -> duckdb.DuckDBPyConnection:
    dataset.close_off()
    connection = dataset.connection("documented")
    connection.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {DATABASE}")
    connection.execute(f"USE {DATABASE}")
    return connection


def _create(dataset: Dataset, connection: duckdb.DuckDBPyConnection, tables: Iterable[str]) -> None:
    names = list(tables)
    dataset.ensure(names)
    for name in names:
        more = "".join(f", {sql} AS {column}" for column, sql in sql_columns(name).items())
        connection.execute(f"CREATE VIEW IF NOT EXISTS {DATABASE}.{name} AS SELECT *{more} FROM memory.{name}")


@contextmanager
def _own_lines(before: int) -> Iterator[None]:
    """Errors of DuckDB as DatasetError, their lines counted from behind the first `before` ones."""

    def own(place: re.Match[str]) -> str:
        number, line, indent = place.groups()
        label = f"LINE {int(number) - before}: "
        column = len(indent) - len(f"LINE {number}: ")
        return f"{label}{line.replace(TAB, ' ')}\n{' ' * (len(label) + column + _tabs_before(column, line))}^"

    try:
        with sql_errors():
            yield
    except DatasetError as error:
        import _duckdb as engine

        text = _PLACE.sub(own, _INSTALL.sub("", _OTHER_SUGGESTED.sub("", str(error))))
        if isinstance(error.__cause__, engine.PermissionException):
            text += f"\n{_NO_FILES}"
        raise DatasetError(text) from error.__cause__


def _tabs_before(column: int, line: str) -> int:
    """How many tabs are before a column of a line, where DuckDB counts none for a tab, and two for a wide letter."""
    tabs = width = 0
    for letter in line:
        if letter == TAB:
            tabs += 1
        elif width >= column:
            break
        else:
            width += 2 if east_asian_width(letter) in "WF" else 1
    return tabs
