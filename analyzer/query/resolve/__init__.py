"""Raw rows -> final tables: the views that runs on this machine and on Spark create, and the small tables that they join.

A view reads only those before it in VIEWS. docs/dev/recipes.md says what a new column takes.

- A *part* is a connection as one run saw it. Raw rows know parts and packet numbers of the run only; `resolve` turns
  these into connections, files and Wireshark's packet numbers. **`analyzer/base/tables.py` is the contract of the
  project.**
- Whether a connection is Kafka is decided at the end: `resolve/parts.sql` drops the frames of one that only looked
  like it, when all evidence is there (a reply that matched, a header exactly where a frame ended, a request read to
  its last byte).
- `connection_context` is what an exchange takes from its connection: role, cluster, node, user, whether the broker
  mutes, the way to it.
- Fetch sessions are told by changes, not states: `fetch_steps` has a row for each partition that a Fetch names, and
  the backlog of a session is a running sum, so 10,000 partitions cost no more than those that move.
- A connection with one direction captured (`connections.one_way`) proves no missing reply: its requests are
  `reply_lost` (`resolve/exchanges.sql`), and the unanswered SYNs to that host are no failed attempts
  (`connections_seen`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from analyzer.base.expected_errors import rules
from analyzer.ingest.facts.fact_tables import FACT_TABLES
from analyzer.query import sql_words
from dissectors.kafka.columns.program import error_fields
from dissectors.kafka.schema.error_codes import known_errors, sentence_sizes
from dissectors.kafka.schema.lookup import api_names
from dissectors.problems import KINDS as PROBLEM_KINDS

VIEWS = (
    "view_legs",
    "part_marks",
    "silent_halves",
    "redirected_legs",
    "view_members",
    "proxy_parts",
    "forward_pairs",
    "asked_parts",
    "view_times",
    "part_views",
    "forwarded",
    "framed_parts",
    "part_signs",
    "part_evidence",
    "parts",
    "earlier_clusters",
    "part_clusters",
    "earlier_nodes",
    "part_brokers",
    "muting_brokers",
    "capture_sides",
    "logins",
    "jumped_parts",
    "part_ways",
    "part_asked",
    "connection_context",
    "connections",
    "told_names",
    "batch_marks",
    "topic_names",
    "fetch_names",
    "fetch_steps",
    "fetch_sessions",
    "fetch_states",
    "crowded_exchanges",
    "exchange_facts",
    "jumped_exchanges",
    "exchanges",
    "throttled_requests",
    "mutes",
    "fetch_positions",
    "entries",
    "errors_told",
    "last_answers",
    "client_answers",
    "errors",
    "exchange_problems",
    "problems",
    "topic_ids",
    "brokers",
    "offered_versions",
    "static_members",
    "fact_times",
    "part_group_types",
    "group_types",
    "group_events",
    "own_assignments",
    "known_clusters",
    "known_nodes",
    "member_clients",
    "group_clients",
    "assignments",
    "transaction_events",
    "broker_events",
    "stored_batches",
    "batches",
    "queued_packets",
    "unread_silences",
    "forwards",
)
# With logs of requests: the lines, and which exchange each is. `exchanges` is then `logged_exchanges`, over what packets tell.
LOG_VIEWS = ("log_exchanges", "log_clocks", "log_moments", "log_pairs", "log_requests")
# The same of logs alone: each line is an exchange already, by the clock of the broker.
LONE_LOG_VIEWS = ("log_clocks", "log_moments", "log_pairs")
# Views over the rows of one run, which tasks compute where the rows are: what they give of all runs together is small, or moves
# to where a connection's rows meet. They are made before it is known which view of a connection counts, and joined later with
# `connection_context`, which has only those.
OF_RUNS = ("part_marks", "view_times", "part_signs", "fetch_names", "last_answers", "member_clients", "batch_marks")
# Raw tables with rows of connections: those of views that give no rows are left out.
OF_CONNECTIONS = frozenset(
    f"raw_{name}"
    for name in (
        *("exchanges", "entries", "errors", "queued", "silences", "problems", "parts", "framed_parts", "tls"),
        *(name for name, columns in FACT_TABLES.items() if ("part", "int64") in columns),
    )
)
_OTHER_VIEW = "SELECT 1 FROM part_views AS v WHERE v.part = r.part AND NOT v.is_main"
_READ = re.compile(r"\b(?P<word>FROM|JOIN) (?P<table>raw_\w+)\b(?P<alias> AS\b)?")
# Of what a proxy carried on, the rows are those of the leg before it. What all messages repeat about clusters stays.
OF_EXCHANGES = frozenset(
    f"raw_{name}"
    for name in (
        *("exchanges", "entries", "errors"),
        *(name for name, columns in FACT_TABLES.items() if ("exchange", "int64") in columns and name != "reported"),
    )
)
_FORWARDED = "SELECT 1 FROM forwarded AS f WHERE f.exchange = r.exchange"
# Made of all rows, and by these it is found which of them count.
_OF_ALL_ROWS = (
    *("view_legs", "silent_halves", "redirected_legs", "view_members", "proxy_parts", "forward_pairs", "asked_parts"),
    "part_views",
    "forwarded",
    "fact_times",
    *OF_RUNS,
)
_ONLY_SEEN_AGAIN = (
    "view_legs",
    "silent_halves",
    "redirected_legs",
    "view_members",
    "proxy_parts",
    "forward_pairs",
    "asked_parts",
    "view_times",
)
FACTS = ("problem_kinds", "error_names", "error_sentences", "error_fields", "expected_errors")


def views(
    api_keys: Collection[int],
    odd: bool = True,
    seen_again: bool = True,
    logged: bool = False,
    alone: bool = False,
    unnamed: bool = True,
) -> dict[str, str]:
    """Name -> SQL of every view of the final tables.

    `api_keys` are those that occurred; `odd`: a body could not be read, or the clock ran back within an exchange;
    `seen_again`: connections were captured several times on their way, or carried on by a proxy; `logged`: there are logs of
    requests, and without them nothing is planned for them; `alone`: there is no capture beside them; `unnamed`: some batches have
    the id of a topic that no message names.
    """
    facts = {
        "problem_kinds": _values(
            {"number": "INT", "kind": "STRING", "detail": "STRING"},
            ((n, kind.name, kind.sentence) for n, kind in PROBLEM_KINDS.items()),
        ),
        "error_names": _values({"code": "INT", "name": "STRING", "retriable": "BOOLEAN"}, known_errors().values()),
        "error_sentences": _values({"code": "INT", "bytes": "INT"}, sentence_sizes()),
        "error_fields": _values(
            {"api_key": "INT", "side": "STRING", "field": "INT", "path": "STRING", "level": "STRING"},
            _error_fields(api_keys),
        ),
        "expected_errors": _values(
            {
                "api_key": "INT",
                "code": "INT",
                "rule": "STRING",
                "seconds": "INT",
                "followed_by": "INT",
                "client_only": "BOOLEAN",
            },
            _expected(api_keys),
        ),
    }
    sources = {name: name for name in VIEWS}
    if not odd:
        sources["exchange_problems"] = "no_exchange_problems"
    if not unnamed:
        sources["topic_names"] = "names_as_told"
        del sources["batch_marks"]
    if not seen_again:
        sources |= {"part_views": "no_part_views", "forwarded": "no_forwarded"}
        for name in (*_ONLY_SEEN_AGAIN, "forwards"):
            del sources[name]
    if logged or alone:
        sources |= {name: name for name in LOG_VIEWS} | {
            "exchanges": "logged_exchanges",
            "exchanges_of_packets": "exchanges",
        }
    if alone:
        sources |= {name: f"lone_{name}" for name in LONE_LOG_VIEWS} | {
            "exchanges": "lone_exchanges",
            "exchanges_with_logs": "logged_exchanges",
        }
    texts = {name: sql(source) for name, source in sources.items()}
    if seen_again:
        texts = {name: text if name in _OF_ALL_ROWS else _of_one_view(text) for name, text in texts.items()}
    return facts | texts


def sql(view: str) -> str:
    """The SQL of a view over the rows of all views."""
    return sql_words.bare(sql_words.text(Path(__file__).parent / f"{view}.sql"))


def _of_one_view(text: str) -> str:
    """The SQL of a view that reads of each connection only the part that gives its rows (`part_views.sql`), and of each exchange
    only that of the first leg (`forwarded.sql`)."""

    def read(found: re.Match[str]) -> str:
        table = found["table"]
        if table not in OF_CONNECTIONS:
            return found[0]
        rows = f"SELECT * FROM {table} AS r WHERE NOT EXISTS ({_OTHER_VIEW})"
        if table in OF_EXCHANGES:
            rows += f" AND NOT EXISTS ({_FORWARDED})"
        return f"{found['word']} ({rows}){found['alias'] or f' AS {table}'}"

    return _READ.sub(read, text.replace("FROM fetch_names AS", f"FROM ({once('fetch_names')}) AS"))


def once(view: str) -> str:
    """SQL of the rows of a view of OF_RUNS, or of a raw table, without those of exchanges that a proxy carried on."""
    return f"SELECT * FROM {view} AS r WHERE NOT EXISTS ({_FORWARDED})"


def _error_fields(api_keys: Iterable[int]) -> Iterable[tuple[object, ...]]:
    for key in api_keys:
        for side in ("request", "response"):
            for number, (path, level) in error_fields(key, side).items():
                yield key, side, number, path, level


def _expected(api_keys: Collection[int]) -> Iterable[tuple[object, ...]]:
    keys = {name: key for key, name in api_names() if key in api_keys}
    for key, code, rule in rules(keys):
        yield key, code, rule.name, rule.seconds, rule.by, rule.client_only


def _values(types: Mapping[str, str], rows: Iterable[tuple[object, ...]]) -> str:
    """SQL of a small table."""
    return sql_words.rows(types, ("\t".join("" if cell is None else str(cell) for cell in row) for row in rows))
