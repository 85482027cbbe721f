"""What windows that leave hand on to those that come: rows that tell who and what open connections are.

Of each open connection the first and the last exchange of each API, with the facts read from these, and all steps of its logins;
facts of bodies as far as an exchange that is handed on had the body; of each partition that it fetches, what was last asked and
told. So a connection keeps its client, user, broker, group, the names of its topics and the state of its fetch sessions for as long
as it is open, in as many rows as it has APIs and partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from analyzer.ingest.facts.fact_tables import FACT_TABLES
from analyzer.query.table_views import parquet

# Tables whose rows of open connections are all handed on: a login has several steps in one API.
_WHOLE = ("login_steps", "token_owners")
# Large tables that only totals and questions about their own time read.
_LEFT = ("batches",)
_NEVER = "WHERE false"


def carry(folders: Sequence[Path], live: Path, target: Path) -> None:
    """Writes what is to be kept of the raw tables in `folders` into the new folder `target`. `live` has the rows of connections
    that are open. Raises OSError."""
    import _duckdb as engine

    target.mkdir()
    with engine.connect(":memory:", config={"threads": 1}) as database:
        for name, sql in _questions(folders, live):
            database.execute(f"CREATE TABLE {name} AS {sql}")
            if name.startswith("raw_"):
                path = str(target / f"{name}.parquet").replace("'", "''")
                database.execute(f"COPY {name} TO '{path}' (FORMAT parquet)")


def _questions(folders: Sequence[Path], live: Path) -> Iterator[tuple[str, str]]:
    """(name of a table, its SQL), each after those that it reads."""
    yield "open_parts", f"SELECT part FROM ({parquet([live / 'raw_parts.parquet'])})"
    is_open = "part IN (SELECT part FROM open_parts)"
    exchanges, entries = (f"({_rows(name, folders, live)})" for name in ("exchanges", "entries"))
    # A request is read before the exchange has ended, maybe in another window.
    unended = f"{is_open} AND exchange NOT IN (SELECT exchange FROM {exchanges})"
    yield "raw_entries", f"{_fetched(exchanges, entries, is_open)} UNION ALL SELECT * FROM {entries} WHERE {unended}"
    of_api = "PARTITION BY part, api_key, token ORDER BY request_time_ns"
    yield (
        "raw_exchanges",
        f"SELECT * FROM {exchanges} WHERE {is_open} "
        f"QUALIFY row_number() OVER ({of_api} DESC) = 1 OR row_number() OVER ({of_api}) = 1 "
        "OR exchange IN (SELECT exchange FROM raw_entries)",
    )
    yield "raw_whole", f"SELECT DISTINCT part FROM ({parquet(_files('whole', folders))}) WHERE {is_open}"
    if errors := _files("errors", folders):
        yield "raw_errors", f"SELECT * FROM ({parquet(errors)}) WHERE {unended}"
    for name in ("queued", "silences", "problems", "parts", "framed_parts", "tls"):
        # None of these, but the columns that they have.
        yield f"raw_{name}", f"SELECT * FROM ({parquet([live / f'raw_{name}.parquet'])}) {_NEVER}"
    kept = f"exchange IN (SELECT exchange FROM raw_exchanges) OR {unended}"
    for name, columns in FACT_TABLES.items():
        files = _files(name, folders)
        if not files:
            continue
        of_body = columns[0][0] == "body"
        wanted = "body IN (SELECT body FROM raw_reported)" if of_body else is_open if name in _WHOLE else kept
        yield (
            f"raw_{name}",
            f"SELECT DISTINCT * FROM ({parquet(files)}) {_NEVER if name in _LEFT else 'WHERE ' + wanted}",
        )


def _fetched(exchanges: str, entries: str, is_open: str) -> str:
    """SQL of what consumers' fetches last asked and learned about each partition, from which `fetch_steps` knows the state of a
    session: the last entry of each side that says something, and that with which the session was opened."""
    kept = (
        "PARTITION BY e.part, f.session_id, coalesce(e.topic_id, e.topic), e.partition, e.side, e.forgotten, "
        "e.high_watermark >= 0, f.session_epoch = 0 ORDER BY coalesce(f.request_time_ns, f.response_time_ns) DESC, f.exchange DESC"
    )
    return (
        f"SELECT e.* FROM {entries} AS e JOIN {exchanges} AS f ON f.exchange = e.exchange "
        f"WHERE f.api_key = 1 AND coalesce(f.replica_id, -1) < 0 AND e.{is_open} QUALIFY row_number() OVER ({kept}) = 1"
    )


def _rows(name: str, folders: Sequence[Path], live: Path) -> str:
    """SQL of the rows of a raw table; a window without any has no file."""
    files = _files(name, folders)
    return parquet(files) if files else f"SELECT * FROM ({parquet([live / f'raw_{name}.parquet'])}) {_NEVER}"


def _files(name: str, folders: Sequence[Path]) -> list[Path]:
    return [path for folder in folders if (path := folder / f"raw_{name}.parquet").exists()]
