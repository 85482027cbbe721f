"""The SQL of a run on this machine: its raw tables as views, the final tables over them, and which views are computed once.

A view is planned anew for each question that reads it, so results that are small and that many questions read are held as
tables of the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.base.memory import question_memory_bytes
from analyzer.base.tables import SQL_TYPES, TABLES
from analyzer.base.wait_kinds import sql as kinds_sql
from analyzer.ingest.facts.batches import FIELDS as BATCHES
from analyzer.ingest.facts.fact_tables import FACT_TABLES, no_rows
from analyzer.ingest.raw_tables import ENTRIES, EXCHANGES, Field
from analyzer.query import resolve
from analyzer.query.table_views import null_column, parquet
from analyzer.run import repeated_texts, seen_again

if TYPE_CHECKING:
    from analyzer.base.options import Options
    from analyzer.ingest.run_tables import Run
    from analyzer.ingest.summary import Summary

# Raw tables that each process writes, and those that the process in charge writes once for all of them.
OF_EACH_PROCESS = ("exchanges", "entries", "errors", "queued", "silences", "problems", "parts", "framed_parts", "tls")
OF_THE_RUN = ("whole", "splits", "jumps", "notes")
# Raw tables to which a task adds rows of connections that it could not finish. The rows have a part number of the task;
# `raw_joined` says which part of the stitched connections that is. Rows of complete connections keep the task's number.
RESOLVED_IN_TASKS = ("exchanges", "entries", "errors", "queued")
OF_TASKS = tuple(
    f"raw_{name}"
    for name in (*RESOLVED_IN_TASKS, *(name for name, columns in FACT_TABLES.items() if ("part", "int64") in columns))
)
_JOINED = (
    "SELECT r.* REPLACE (coalesce(j.joined_to, r.part) AS part) FROM ({rows}) AS r "
    "LEFT JOIN raw_joined AS j ON j.part = r.part"
)
# Views with a row for each connection, or each part of one.
_A_ROW_EACH = (
    "view_legs",
    "silent_halves",
    "redirected_legs",
    "view_members",
    "proxy_parts",
    "forward_pairs",
    "asked_parts",
    "part_views",
    "forwarded",
    "parts",
    "part_evidence",
    "part_clusters",
    "part_brokers",
    "part_ways",
    "connection_context",
    "connections",
)
# Views with at most one row per input, connection or fact.
CONNECTION_VIEWS = (
    "captures",
    "raw_splits",
    "raw_jumps",
    "jumped_parts",
    "raw_whole",
    "raw_notes",
    "raw_joined",
    *resolve.FACTS,
    *_A_ROW_EACH,
    "muting_brokers",
    "capture_sides",
    "logins",
    "topic_names",
)
# Views that take a window function over exchanges or entries, and have fewer rows than these.
WINDOW_VIEWS = (
    "jumped_exchanges",
    "fetch_steps",
    "exchange_facts",
    "mutes",
    "fact_times",
    "group_events",
    "assignments",
    "transaction_events",
    "broker_events",
    "topic_ids",
    "brokers",
    "log_clocks",
    "log_pairs",
)
# Raw tables with columns that are left out where nobody reads them.
WITH_SELDOM = {"exchanges": EXCHANGES, "entries": ENTRIES, "batches": BATCHES}
# Columns of final exchanges that no section of the report and no finding reads, or that are made of others which were left out.
UNREAD = (
    "acks_inferred",
    "broker_evidence",
    "broker_max_ns",
    "generation_id",
    "inner_api_key",
    "inner_client_id",
    "session_epoch",
    "session_id",
)
COMPUTED_ONCE = (*CONNECTION_VIEWS, *WINDOW_VIEWS)
# The raw table of logs of requests.
REQUEST_LOG = "raw_log_requests.parquet"
# Raw tables that several views read: of a small capture opening their files takes longer than reading them.
READ_OFTEN = ("raw_exchanges", "raw_entries", "raw_parts", "raw_framed_parts", "raw_reported", "raw_group_steps")
# APIs of whose exchanges `resolve/group_events.sql` makes rows: OffsetCommit, Heartbeat.
_EVENTS = {8, 12}
# Final tables each of whose rows is made of a row of a raw table: without such rows nothing is planned for them.
MADE_OF = {
    "assignments": "assigned",
    "batches": "batches",
    "broker_events": "broker_steps",
    "brokers": "broker_facts",
    "errors": "errors",
    "logins": "login_steps",
    "offered_versions": "version_facts",
    "queued_packets": "queued",
    "topic_ids": "topic_facts",
    "transaction_events": "transaction_steps",
    "unread_silences": "silences",
}
# A row for each API of each connection, made of few that all share: to write them takes longer than to join them for each question.
JOINED_EACH_TIME = ("offered_versions",)
# Tables of so many rows fit into the memory of the database with room to spare.
MOST_HELD_EXCHANGES = 150_000
MOST_HELD_ENTRIES = 500_000
# What a held exchange takes in the database, and the part of its memory that all may take.
HELD_EXCHANGE_BYTES = 450
PART_FOR_EXCHANGES = 2
# What a batch takes in the view `produced`, where each has an entry.
PRODUCED_BYTES = 100
# Of more connections what has a row for each is held in a file: several tables as wide as theirs.
MOST_HELD_CONNECTIONS = 100_000
OF_EACH_CONNECTION = (*_A_ROW_EACH, "connection_requests", "all_totals")


def views(folder: Path, run: Run, options: Options) -> dict[str, str]:
    """Name -> SQL of each raw table and of each view that makes final tables of them. `folder` has the tables of the run."""
    raw = {f"raw_{name}": parquet([folder / f"raw_{name}.parquet"]) for name in OF_THE_RUN}
    raw |= rows_of(run.folders)
    captures = {"captures": parquet([folder / "captures.parquet"])}
    unnamed = has_unnamed(run.folders)
    made = made_of(run.summary, run.folders, logged=bool(options.request_logs), alone=run.is_log, unnamed=unnamed)
    if run.is_log or options.request_logs:
        raw["raw_log_requests"] = parquet([folder / REQUEST_LOG])
    for table in without_rows(run.folders, run.summary):
        del made[table]
    if has_numbers(run.summary, options):
        raw, made = numbered(raw, made, options.seldom)
    if not options.seldom:
        raw |= {f"raw_{name}": _without(raw[f"raw_{name}"], fields) for name, fields in WITH_SELDOM.items()}
        made |= _without_offsets(made)
    return raw | captures | made | (_held(made, run, options) if holds_exchanges(options) else {})


def types(run: Run, options: Options) -> dict[str, str]:
    """The types that the SQL of `views` names, each with a SELECT of its texts."""
    return types_of(run.folders) if has_numbers(run.summary, options) else {}


def types_of(folders: Sequence[Path]) -> dict[str, str]:
    """The types that the SQL of `numbered` names. They are made before any view, `raw_joined` included."""
    return repeated_texts.types(_written_rows(folders))


def numbered(
    raw: Mapping[str, str], made: Mapping[str, str], are_written: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """SQL of raw tables, and of the views that make final tables of them, with texts that repeat of ENUM types; with
    `are_written` those too that only files gain by."""
    words = repeated_texts.OF_EXCHANGES | (repeated_texts.WRITTEN if are_written else {})
    return {**raw, **repeated_texts.with_numbers(raw)}, {
        **made,
        **repeated_texts.with_words({**made, "kinds": kinds_sql()}, words),
    }


def is_large(folder: Path) -> bool:
    """Whether a run, whose raw tables lie in `folder`, has so many rows that its texts had better be numbered (`is_small`)."""
    import pyarrow.parquet as pq

    def rows(name: str) -> int:
        return sum(pq.read_metadata(path).num_rows for path in _files(name, [folder]))

    return rows("exchanges") > MOST_HELD_EXCHANGES or rows("entries") > MOST_HELD_ENTRIES


def rows_of(folders: Sequence[Path]) -> dict[str, str]:
    """Name -> SQL of the raw tables that processes wrote into `folders`; rows of tasks have the part that they were joined to."""
    raw = _written_rows(folders)
    if joined := _files("joined", folders):
        raw |= {name: under_joined_parts(raw[name]) for name in OF_TASKS if name in raw}
        raw["raw_joined"] = parquet(joined)
    return raw


def _written_rows(folders: Sequence[Path]) -> dict[str, str]:
    """The same as they were written."""
    raw = {f"raw_{name}": parquet(files) for name in OF_EACH_PROCESS if (files := _files(name, folders))}
    return raw | {f"raw_{name}": _fact_table(name, folders) for name in FACT_TABLES}


def under_joined_parts(rows: str) -> str:
    """SQL of rows of tasks, each under the part of the stitched connection to which it belongs (`raw_joined`)."""
    return _JOINED.format(rows=rows)


def made_of(
    summary: Summary,
    folders: Sequence[Path] = (),
    marks: str | None = None,
    logged: bool = False,
    alone: bool = False,
    unnamed: bool = True,
) -> dict[str, str]:
    """Name -> SQL of the views that make final tables of the raw ones. `folders`: raw tables of all connections, where those of
    several runs meet; `marks`: SQL of `part_marks` of these runs, where their exchanges are elsewhere; `logged`: there are logs of
    requests; `alone`: they are all that there is; `unnamed`: some batches may have the id of a topic that no message names."""

    def rows() -> dict[str, str]:
        return rows_of(folders) | ({} if marks is None else {"part_marks": marks})

    again = not alone and (summary.saw_several_points or seen_again.is_any(folders, rows))
    return resolve.views(summary.api_keys, summary.odd, again, logged, alone, unnamed)


def has_unnamed(folders: Sequence[Path]) -> bool:
    """Whether batches have the id of a topic that no message names."""
    import pyarrow.parquet as pq

    def ids(raw: str) -> set[str | None]:
        columns = (
            pq.ParquetFile(path, read_dictionary=["topic_id"]).read(["topic_id"])["topic_id"]
            for path in _files(raw, folders)
        )
        return {topic for column in columns for chunk in column.chunks for topic in chunk.dictionary.to_pylist()}

    return bool(ids("batches") - ids("topic_facts") - {None})


def without_rows(folders: Sequence[Path], summary: Summary) -> list[str]:
    """Final tables that have no rows, as the raw tables in `folders` tell: what is not there needs no plan."""
    import pyarrow.parquet as pq

    def some(raw: str) -> bool:
        return any(pq.read_metadata(path).num_rows for path in _files(raw, folders))

    found = [table for table, raw in MADE_OF.items() if not some(raw)]
    # Commits and failed heartbeats are events without a body.
    return [*found, *([] if summary.api_keys & _EVENTS or some("group_steps") else ["group_events"])]


def holds_exchanges(options: Options) -> bool:
    """Whether exchanges without some of their columns are computed once: some fifty rules and sections read them, and each would
    join and compute them anew."""
    return not options.seldom


def has_numbers(summary: Summary, options: Options) -> bool:
    """Whether texts that repeat are of an ENUM type: of a large capture, where no question of a person may meet one."""
    return (options.numbered or not options.seldom) and not is_small(summary)


def many_connections(summary: Summary) -> bool:
    return summary.rows["parts"] > MOST_HELD_CONNECTIONS


def in_file(summary: Summary, options: Options) -> tuple[str, ...]:
    """The views that are computed once but have too many rows to be held in memory."""
    many = many_connections(summary)
    most = _memory_bytes(options) // PART_FOR_EXCHANGES
    fits = not holds_exchanges(options) or (not many and summary.rows["exchanges"] * HELD_EXCHANGE_BYTES <= most)
    few = summary.rows["entries"] * PRODUCED_BYTES <= most
    return (
        *(OF_EACH_CONNECTION if many else ()),
        *(() if fits else ("exchanges",)),
        *(() if fits and few else ("produced",)),
    )


def _memory_bytes(options: Options) -> int:
    return options.memory_bytes or question_memory_bytes()


def _held(made: Mapping[str, str], run: Run, options: Options) -> dict[str, str]:
    """The SQL of exchanges that are computed once, without columns that nobody reads: whoever reads one gets an error, and never
    a null that would mean something. Without a log of requests its columns are left out too: `logged_parts` has no rows then."""
    left_out = {*UNREAD, *(field.name for field in EXCHANGES if field.seldom)}
    views = {}
    if not run.is_log and not options.request_logs:
        of_log = [column for column in TABLES["exchanges"] if column.name.startswith("log_")]
        left_out |= {column.name for column in of_log}
        nulls = ", ".join(null_column(column.name, column.type) for column in of_log)
        views["logged_parts"] = f"SELECT CAST(NULL AS BIGINT) AS exchange, {nulls} WHERE false"
    held = ", ".join(column.name for column in TABLES["exchanges"] if column.name not in left_out)
    return views | {"exchanges": f"SELECT {held} FROM (\n{made['exchanges']}\n) AS x"}


def _without_offsets(made: Mapping[str, str]) -> dict[str, str]:
    """The views of record batches without the offsets of produced ones, which take a window function over all of them: the engine
    leaves a join that nobody reads out of hardly any question."""
    if "batches" not in made:
        return {}
    unread = ", ".join(_not_read(f"stored_{end}_offset", "BIGINT") for end in ("base", "last"))
    return {
        "stored_batches": f"SELECT * FROM ({made['stored_batches']}) AS s WHERE false",
        "batches_as_read": made["batches"],
        "batches": f"SELECT * REPLACE ({unread}) FROM batches_as_read",
    }


def computed_once(summary: Summary, options: Options) -> tuple[str, ...]:
    """Views to be computed once, when a question first reads them. Of a small capture these are the final tables too, except
    where columns of them were left out."""
    if is_small(summary):
        left_out = {*JOINED_EACH_TIME, *(() if options.seldom else WITH_SELDOM)}
        final = (name for name in TABLES if name not in left_out)
        found = {*COMPUTED_ONCE, *(READ_OFTEN if options.seldom else ()), *final}
    else:
        found = set(COMPUTED_ONCE)
        if summary.rows["errors"] <= MOST_HELD_ENTRIES:
            found.add("errors")
    if holds_exchanges(options):
        found.add("exchanges")
        # Rules and sections read those of its rows that say something, and sums (`all_group_news`, `all_group_requests`).
        found.discard("group_events")
        found.add("produced")
    return tuple(found)


def is_small(summary: Summary, fraction: float = 1) -> bool:
    """Whether the rows of exchanges and entries are at most this fraction of what the database holds in memory."""
    return (
        summary.rows["exchanges"] <= fraction * MOST_HELD_EXCHANGES
        and summary.rows["entries"] <= fraction * MOST_HELD_ENTRIES
    )


def _without(rows: str, fields: Sequence[Field]) -> str:
    """SQL of a raw table without some of its columns. Whoever reads one gets an error, and never a null that would mean
    something."""
    columns = ", ".join(_not_read(field.name, _sql_type(field)) for field in fields if field.seldom)
    return f"SELECT *, {columns} FROM ({rows})"


def _not_read(name: str, sql_type: str) -> str:
    return f"CAST(error('{name}: not read for this report') AS {sql_type}) AS {name}"


def _sql_type(field: Field) -> str:
    return "VARCHAR" if isinstance(field.type, tuple) or field.type == "text" else SQL_TYPES[field.type]


def _fact_table(name: str, folders: Sequence[Path]) -> str:
    """Facts are written where there are some. Those of a body are written once a run, so those of several runs are made one;
    those of an exchange have the number of a part, which no other run has."""
    paths = _files(name, folders)
    if not paths:
        return no_rows(name)
    rows = parquet(paths)
    return rows if len(paths) == 1 or ("part", "int64") in FACT_TABLES[name] else f"SELECT DISTINCT * FROM ({rows})"


def _files(name: str, folders: Sequence[Path]) -> list[Path]:
    """The files of one raw table."""
    return [path for folder in folders if (path := folder / f"raw_{name}.parquet").exists()]
