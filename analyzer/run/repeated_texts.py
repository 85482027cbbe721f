"""Texts that repeat, as numbers: in a large report client ids, groups, topics, addresses and words are of an ENUM type.

The engine then holds, compares, sorts and joins numbers where it would copy and hash texts. A question still reads and writes
texts, in the order of texts. When Parquet is written of them, the engine writes the numbers as they are, as those of texts in a
dictionary: of texts it would look up each one, which takes five times as long. In SQL of a person the columns are texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from analyzer.base.filters import literal
from analyzer.base.wait_kinds import KINDS
from analyzer.ingest import raw_tables
from analyzer.ingest.facts import batches
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
# Columns of views that are of type WORDS: of connections `role`, which becomes that of exchanges; of `kinds` what these join by.
OF_EXCHANGES = {
    "connection_context": ("role",),
    "exchanges": ("api_name", "kind", "request_decoded", "response_decoded", "status"),
    "kinds": ("kind",),
}
# Only where they are written: a question for one of these words skips what has others in the files, and would not see them.
WRITTEN = {"entries": ("side",), "batches": ("side", "codec", "timestamp_type", "unopened")}
# Those whose words are those of a raw table, unchanged.
RAW_WORDS = {
    "request_decoded": raw_tables.DECODED,
    "response_decoded": raw_tables.DECODED,
    **{field.name: field.type for field in batches.FIELDS if isinstance(field.type, tuple)},
}
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
    all_words = {*raw_tables.STATUSES, *KINDS, *ROLES, *words, *chain.from_iterable(RAW_WORDS.values())}
    listed = f"SELECT * FROM (VALUES {_rows(all_words)}) AS words(text)"
    if "raw_exchanges" in raw:  # names of unknown keys too
        greatest = max(key for key, _ in api_names())
        listed += f" UNION SELECT api_name FROM ({raw['raw_exchanges']}) WHERE api_key > {greatest}"
    return {TEXTS: " UNION ".join(found), WORDS: listed}


def with_numbers(raw: Mapping[str, str]) -> dict[str, str]:
    """SQL of raw tables with columns of type TEXTS, by name."""
    casts: dict[str, list[str]] = {}
    for name, column in _columns(raw):
        casts.setdefault(name, []).append(f"CAST({column} AS {TEXTS}) AS {column}")
    return {name: f"SELECT * REPLACE ({', '.join(each)}) FROM ({raw[name]})" for name, each in casts.items()}


def with_words(views: Mapping[str, str], columns_of: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """SQL of those of these views that have columns of words, in which they are of type WORDS, by name."""
    return {
        name: f"SELECT * REPLACE ({', '.join(map(_as_word, columns))}) FROM (\n{views[name]}\n) AS w"
        for name, columns in columns_of.items()
        if name in views
    }


def _as_word(column: str) -> str:
    """SQL of a column of words. A text takes three times as long to become a number as an element of a list to be found; and a
    function of a raw column is asked once for each text of its dictionary, a CAST for each row."""
    names = dict(api_names())
    if column == "api_name":
        listed = _list(names.get(key) for key in range(max(names) + 1))
        known = f"list_extract(CAST({listed} AS {WORDS}[]), api_key + 1)"
        made = (
            f"CASE WHEN api_key BETWEEN 0 AND {max(names)} THEN {known} "
            f"WHEN api_key > {max(names)} THEN CAST(api_name AS {WORDS}) END"
        )
    elif column in RAW_WORDS:
        listed = _list(RAW_WORDS[column])
        made = f"list_extract(CAST({listed} AS {WORDS}[]), list_position({listed}, {column}))"
    else:
        made = f"CAST({column} AS {WORDS})"
    return f"{made} AS {column}"


def _list(texts: Iterable[str | None]) -> str:
    return f"[{', '.join('NULL' if text is None else literal(text) for text in texts)}]"


def _columns(raw: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The columns of type TEXTS of the raw tables that there are."""
    written = {name: [field.name for field in fields] for name, fields in _RAW.items()}
    written |= {name: [column for column, kind in columns if kind == "string"] for name, columns in FACT_TABLES.items()}
    for name, columns in written.items():
        if f"raw_{name}" in raw:
            yield from ((f"raw_{name}", column) for column in columns if column in TEXT_COLUMNS)


def _rows(words: Iterable[str]) -> str:
    return ", ".join(f"({literal(word)})" for word in sorted(words))
