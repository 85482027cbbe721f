"""How the SQL engine is set up, and how it is closed off before it runs what a person wrote.

It never installs or loads an extension by itself, as it would over the network when SQL names a function or an address that one of
them knows, and it finds no variables of ours by their names. Closed off it reads the files of the tables and nothing else of the
machine, and nothing can change that.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.base import address_space
from analyzer.base.filters import literal
from analyzer.query.table_views import unglob

if TYPE_CHECKING:
    import duckdb

# Optimizers that are worth their time for any number of rows.
NEEDED_OPTIMIZERS = (
    "cte_inlining",
    "deliminator",
    "expression_rewriter",
    "extension",
    "filter_pullup",
    "filter_pushdown",
    "in_clause",
    "regex_range",
    "unnest_rewriter",
    "unused_columns",
)
_PROGRESS_BAR = "enable_progress_bar"
# Of so many threads the engine takes an eighth of the memory for each GROUP BY: 2 MB are cleared for one or two threads, which of
# few rows takes longer than all else.
_THREADS_OF_SMALL_TABLES = 3


def config(memory_bytes: int, spill: Path, threads: int | None, few_rows: bool = False) -> dict[str, Any]:
    """What an engine is opened with. `threads` None: one per core, where the memory to map is not limited; `few_rows`: whether one
    thread is to begin with small tables."""
    found: dict[str, Any] = {
        "memory_limit": f"{memory_bytes}B",
        "temp_directory": str(spill),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "python_enable_replacements": False,
    }
    threads = threads or address_space.threads()
    if threads == 1 and few_rows:
        # Of threads that are the caller's the engine begins none.
        found["external_threads"] = threads = _THREADS_OF_SMALL_TABLES
    return found if threads is None else found | {"threads": threads, "async_threads": 0}


def set_up(database: duckdb.DuckDBPyConnection, simple_plans: bool) -> None:
    """What is set once an engine is open; `simple_plans`: without most of its optimizer."""
    if simple_plans:
        known = database.execute("SELECT name FROM duckdb_optimizers()").fetchall()
        dropped = ",".join(name for (name,) in known if name not in NEEDED_OPTIMIZERS)
        database.execute(f"SET GLOBAL disabled_optimizers = '{dropped}'")
    # Ten metrics read the footers of the same files, which do not change while they are open.
    database.execute("SET GLOBAL parquet_metadata_cache = true")
    # Though a database in memory has no log, the engine compresses what is new in its tables whenever it would cut one, after
    # 16 MB, and a question waits for that: longer than all scans of these tables gain.
    database.execute("SET GLOBAL wal_autocheckpoint = '1 TB'")


def close_off(database: duckdb.DuckDBPyConnection, places: Iterable[Path]) -> None:
    """From now on the engine opens these files, and those below these directories, alone, reaches no network, and its settings stay
    as they are. What it has attached, and its own temporary directory, it may still use."""
    # Of what a signal interrupted, or another thread did, only the rest is left to do.
    if _setting(database, "enable_external_access"):
        # The engine asks for a path as it was written, in which a glob may be escaped, and for the one that it then opens.
        names = ", ".join(literal(name) for place in places for name in (str(place), unglob(str(place))))
        database.execute(f"SET GLOBAL allowed_directories = [{names}]")
        database.execute(f"SET GLOBAL allowed_paths = [{names}]")
        # Each new connection turns its progress bar off.
        database.execute(f"SET GLOBAL allowed_configs = ['{_PROGRESS_BAR}']")
        database.execute("SET GLOBAL enable_external_access = false")
    if not _setting(database, "lock_configuration"):
        database.execute("SET GLOBAL lock_configuration = true")


def without_progress_bar(connection: duckdb.DuckDBPyConnection) -> None:
    """In a process without a script (`python -c`, a notebook) the engine draws a progress bar on stdout. Where it has none (a
    notebook without widgets) it refuses to set the option, so it is asked first.
    """
    if _setting(connection, _PROGRESS_BAR):
        connection.execute(f"SET {_PROGRESS_BAR} = false")


def _setting(connection: duckdb.DuckDBPyConnection, name: str) -> bool:
    row = connection.execute(f"SELECT current_setting({literal(name)})").fetchone()
    return bool(row and row[0])
