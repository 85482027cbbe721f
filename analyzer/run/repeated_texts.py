"""Texts that repeat, as numbers: in a large report client ids, groups, topics, addresses and words are of an ENUM type.

The engine then holds, compares, sorts and joins numbers where it would copy and hash texts. A question still reads and writes
texts, in the order of texts. Only where exchanges are held as a table: in files that are written, and in SQL of a person, the
columns are texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from analyzer.base.filters import literal
from analyzer.base.wait_kinds import KINDS
from analyzer.ingest import raw_tables
from analyzer.ingest.facts.fact_tables import FACT_TABLES
from dissectors.kafka.schema.lookup import api_names

# The type of texts that the capture brings, and of words that kanalyze makes.
TEXTS = "texts"
WORDS = "words"
# Columns of raw tables that are of type TEXTS: what final tables, rules and metrics join and group by.
TEXT_COLUMNS = frozenset(
    (
        "a_address",
        "b_address",
        "client_id",
        "from_address",
        "group_id",
        "member_id",
        "topic",
        "topic_id",
        "transactional_id",
    )
)
# Columns of exchanges that are of type WORDS, and what `resolve/connection_context.sql` says in `role`.
WORD_COLUMNS = frozenset(("api_name", "kind", "request_decoded", "response_decoded", "role", "status"))
ROLES = ("client", "controller", "follower", "forwarding", "raft", "share_coordinator", "txn_coordinator")
_RAW = {
    "exchanges": raw_tables.EXCHANGES,
    "entries": raw_tables.ENTRIES,
    "errors": raw_tables.ERRORS,
    "parts": raw_tables.PARTS,
    "queued": raw_tables.QUEUED,
}


def types(raw: Mapping[str, str]) -> dict[str, str]:
    """Type -> SELECT of its texts, which may repeat. `raw` is the SQL of raw tables, by name."""
    found = (f"SELECT {column} AS text FROM ({raw[name]})" for name, column in _columns(raw))
    words = (name for _, name in api_names())
    all_words = {*raw_tables.STATUSES, *raw_tables.DECODED, *KINDS, *ROLES, *words}
    return {TEXTS: " UNION ".join(found), WORDS: f"SELECT * FROM (VALUES {_rows(all_words)}) AS words(text)"}


def with_numbers(raw: Mapping[str, str]) -> dict[str, str]:
    """SQL of raw tables with columns of type TEXTS, by name."""
    casts: dict[str, list[str]] = {}
    for name, column in _columns(raw):
        casts.setdefault(name, []).append(f"CAST({column} AS {TEXTS}) AS {column}")
    return {name: f"SELECT * REPLACE ({', '.join(each)}) FROM ({raw[name]})" for name, each in casts.items()}


def with_words(sql: str, column: str) -> str:
    """SQL of a view in which a column of words is of type WORDS."""
    return f"SELECT * REPLACE (CAST({column} AS {WORDS}) AS {column}) FROM (\n{sql}\n) AS w"


def held_column(name: str) -> str:
    """SQL of a column of exchanges as it is held."""
    if name == "api_name":
        # An element of a list is found in a third of the time that a text takes to become a number.
        return f"CASE WHEN api_key >= 0 THEN list_extract(CAST([{_names_of_keys()}] AS {WORDS}[]), api_key + 1) END AS api_name"
    return f"CAST({name} AS {WORDS}) AS {name}" if name in WORD_COLUMNS else name


def _names_of_keys() -> str:
    names = dict(api_names())
    return ", ".join(literal(names[key]) if key in names else "NULL" for key in range(max(names) + 1))


def _columns(raw: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The columns of type TEXTS of the raw tables that there are."""
    written = {name: [field.name for field in fields] for name, fields in _RAW.items()}
    written |= {name: [column for column, kind in columns if kind == "string"] for name, columns in FACT_TABLES.items()}
    for name, columns in written.items():
        if f"raw_{name}" in raw:
            yield from ((f"raw_{name}", column) for column in columns if column in TEXT_COLUMNS)


def _rows(words: Iterable[str]) -> str:
    return ", ".join(f"({literal(word)})" for word in sorted(words))
