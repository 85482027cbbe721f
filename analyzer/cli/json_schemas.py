"""JSON Schema (draft 2020-12) of what verbs print with --format json: part of what a version of kanalyze promises.

Rows of metrics are described by the columns that the engine says their SQL has, so a schema cannot say more than the answer.
Integers are numbers, exact, also beyond 2^53: engines that load JSON lines, Python and typed languages read them as int64, and text
would be no number to them. `format: int64` (of OpenAPI's registry) marks where a reader that has doubles only may round.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from analyzer.query.questions import OF_LOG, PARTS

Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
# Verb -> the metrics whose rows it prints: the first as it is, the others with --part or --every.
ROWS: Mapping[str, tuple[str, ...]] = {
    **{verb: tuple(dict.fromkeys(parts.values())) for verb, parts in PARTS.items()},
    "brokers": ("brokers",),
    "clients": ("clients",),
    "connections": ("connections",),
    "errors": ("errors",),
    "impact": ("impact",),
    "latency": ("latency", OF_LOG),
    "partition": ("partition_story",),
    "profile": ("profile", OF_LOG),
    "throttle": ("throttle", "throttle_over_time"),
    "unanswered": ("unanswered",),
}
OBJECTS = ("report", "findings", "exchanges", "check", "diff", "sql", "doctor")
# They print objects, a line each: the schema is that of a line.
LINES = ("dump", "show", "watch")
_KEY: Schema = {"type": ["string", "null"], "pattern": "^[0-9a-f]{16}$"}
_TYPES = {"DOUBLE": "number", "FLOAT": "number", "BOOLEAN": "boolean", "VARCHAR": "string"}
_INT64: Schema = {"type": "integer", "format": "int64"}
_INT64_OR_NULL: Schema = _INT64 | {"type": ["integer", "null"]}
# The types of integers that a double has exactly.
_SHORT = ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER")
_MOMENT = "A moment, ns since the epoch (UTC): beyond 2^53, where a double has it to 256 ns."


def has_schema(verb: str) -> bool:
    """Whether a verb's JSON is described."""
    return verb in ROWS or verb in OBJECTS or verb in LINES


def what(verb: str) -> str:
    """What the schema of a verb is of, for its help."""
    words = {"dump": "a line", "show": "a line of --format json", "watch": "a line of --format jsonl"}
    return words.get(verb, "--format json")


def text(verb: str) -> str:
    """The schema of a verb's JSON, as JSON."""
    return json.dumps(schema(verb), indent=2, ensure_ascii=False)


def schema(verb: str) -> Schema:
    """The schema of what `kanalyze VERB --format json` prints. A verb without one is a KeyError."""
    head = {"$schema": DRAFT, "title": f"kanalyze {verb}: {what(verb)}"}
    if verb == "watch":
        return head | _watch()
    if verb in LINES:
        return head | _exchange_with_bodies()
    if verb == "sql":
        # What its columns are the statement says.
        about = "Integers are int64, exact: `*_time_ns` and some others are beyond 2^53."
        return head | {"type": "array", "items": {"type": "object", "description": about}}
    if verb == "check":
        return head | {"type": "array", "items": _check()}
    if verb == "diff":
        return head | _comparison()
    if verb == "findings":
        return head | {"type": "array", "items": _finding_with_costs()}
    if verb == "exchanges":
        return head | {"type": "array", "items": _rows_of_tables()}
    if verb == "report":
        return head | _report()
    if verb == "doctor":
        return head | _doctor()
    found = [{"title": name, "type": "array", "items": metric(name)} for name in ROWS[verb]]
    return head | (found[0] | {"title": head["title"]} if len(found) == 1 else {"anyOf": found})


def metric(name: str) -> Schema:
    """The schema of a row of a metric."""
    from analyzer.page.page_data import meaning
    from analyzer.query.dataset import Dataset
    from analyzer.query.metrics import text as sql

    with Dataset({}, threads=1) as nothing:
        columns = nothing.query(f"DESCRIBE {nothing.settings.folded(sql(name))}")
    return _object(
        {row["column_name"]: _type(row["column_name"], row["column_type"]) for row in columns}, meaning(name)
    )


def _type(name: str, sql_type: str) -> Schema:
    from analyzer.base.tables import is_key, is_moment

    if is_key(name):
        return _KEY
    if "INT" in sql_type:
        found = {"type": ["integer", "null"]} if sql_type in _SHORT else _INT64_OR_NULL
    else:
        found = {"type": [_TYPES.get(sql_type, "string"), "null"]}
    return found | ({"description": _MOMENT} if is_moment(name) else {})


def _object(properties: Mapping[str, Schema], about: str = "") -> Schema:
    """An object that has all of these and nothing else."""
    found: Schema = {"type": "object", "properties": dict(properties), "required": list(properties)}
    return found | {"additionalProperties": False} | ({"description": about} if about else {})


def _rows_of_tables() -> Schema:
    from analyzer.base.tables import SQL_TYPES, TABLES

    columns = {
        column.name: _type(column.name, SQL_TYPES[column.type].upper()) | {"description": column.sentence}
        for column in TABLES["exchanges"]
    }
    return _object(columns, "One request with its reply.")


def _finding() -> Schema:
    words: Schema = {"type": "string"}
    moment = _INT64_OR_NULL | {"description": _MOMENT}
    severity: Schema = {"enum": ["high", "medium", "low", "info"]}
    evidence = _object({"exchange": _KEY, "path": {"type": ["string", "null"]}, "packet": _INT64_OR_NULL})
    times = {"first_time_ns": moment, "last_time_ns": moment}
    symptom = _object({"finding": words, "severity": severity, "sentence": words, **times})
    return _object(
        {
            "finding": words | {"description": "The rule that found it."},
            "severity": severity,
            "sentence": words,
            "do": words,
            "look": words | {"description": "A command that shows more."},
            **times,
            "running": {"type": ["boolean", "null"], "description": "Whether it went on until the end."},
            "connection": _KEY,
            "numbers": {"type": "object", "description": "The columns of the rule; integers are int64."},
            "evidence": {"type": "array", "items": evidence},
            "symptoms": {"type": "array", "items": symptom},
        }
    )


def _finding_with_costs() -> Schema:
    words: Schema = {"type": "string"}
    also = _object({"number": _INT64, "times": _INT64})
    costs = _object(
        {
            "account": words | {"description": "An account of `kanalyze impact`."},
            "what": {"type": ["string", "null"]},
            "between_brokers": {"type": "boolean"},
            "times": _INT64,
            "lost_ns": _INT64_OR_NULL,
            "also": {"type": "array", "items": also, "description": "Other findings that may be the cause, by number."},
        }
    )
    return _object(_finding()["properties"] | {"costs": {"type": "array", "items": costs}})


def _exchange_with_bodies() -> Schema:
    found = _rows_of_tables()
    body: Schema = {
        "type": ["object", "null"],
        "description": "As `kanalyze decode` has it, int64 as numbers; secrets as their size.",
    }
    left_out = _INT64 | {"description": "Bytes of a body that was too large to be shown whole."}
    for side in ("request", "response"):
        found["properties"][side] = body
        found["required"].append(side)
        found["properties"][f"{side}_left_out_bytes"] = left_out
    return found


def _check() -> Schema:
    from analyzer.compare.checks import FAILED, NOT_MEASURED, PASSED

    words: Schema = {"type": "string"}
    limit: Schema = {"type": ["number", "null"]}
    rows: Schema = {
        "type": "array",
        "items": {"type": "object"},
        "description": "Rows of the metric that break the limit.",
    }
    return _object(
        {
            "check": words,
            "passed": {"type": "boolean"},
            "verdict": {"enum": [PASSED, FAILED, NOT_MEASURED]},
            "metric": words,
            "column": words,
            "min": limit,
            "max": limit,
            "matched": _INT64 | {"description": "Rows that the limit is about."},
            "judged": _INT64 | {"description": "Of those, rows with a value."},
            "failed": rows,
            "not_measured": {
                "type": ["string", "null"],
                "description": "Why it is not known whether the limit was kept.",
            },
        }
    )


def _comparison() -> Schema:
    from typing import get_args, get_type_hints

    from analyzer.compare.captures import Comparison

    lists: dict[str, Schema] = {
        part: {"type": "array", "items": _fields(get_args(kind)[0])}
        for part, kind in get_type_hints(Comparison).items()
    }
    whole = _object(lists | {"readable": _object({"before": _readable(), "after": _readable()})})
    return whole | {"required": ["readable"]}  # with --part it has one of the lists


def _fields(row: type) -> Schema:
    """The schema of a dataclass or named tuple of plain values."""
    from typing import get_args, get_type_hints

    names = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
    kinds = {name: get_args(hint) or (hint,) for name, hint in get_type_hints(row).items()}
    return _object(
        {
            name: {"type": [names[each] for each in of]} | ({"format": "int64"} if int in of else {})
            for name, of in kinds.items()
        }
    )


def _doctor() -> Schema:
    from analyzer.cli.environment_checks import BROKEN, NOTE, OK, Check

    check = _fields(Check)
    check["properties"]["state"] = {"enum": [OK, NOTE, BROKEN]}
    return _object({"checks": {"type": "array", "items": check}})


def _watch() -> Schema:
    from analyzer.watch.told import Pulse

    moment = _INT64_OR_NULL | {"description": _MOMENT}
    told: dict[str, Schema] = {
        "number": _INT64,
        "new": {"type": "boolean", "description": "Whether this line is the first that has it."},
        "over": {"type": "boolean"},
        "age_ns": _INT64,
    }
    rows: dict[str, Schema] = {
        name: {"type": "array", "items": metric(name)} for name in ("latency", "throttle", "errors")
    }
    found = _object(
        {
            "from_ns": moment,
            "to_ns": moment,
            "readable": _readable(),
            "reading": _fields(Pulse),
            "run": {"type": "object", "description": "Counts since the beginning."},
            "coverage": metric("coverage"),
            **rows,
            "findings": {"type": "array", "items": _object(told | _finding()["properties"])},
        }
    )
    return _with_not_shown(found, [name for name in found["required"] if name not in (*rows, "coverage", "run")])


def _with_not_shown(found: Schema, required: list[str]) -> Schema:
    """What could not be asked is named there, with the reason, and is missing otherwise."""
    found["properties"]["not_shown"] = {"type": "object"}
    found["required"] = required
    return found


def _readable() -> Schema:
    return _object(
        {
            "verdict": {"enum": ["whole", "partly", "nothing"]},
            "reasons": {"type": "array", "items": {"type": "string"}},
            "sentence": {"type": ["string", "null"]},
        }
    )


def _report() -> Schema:
    from analyzer.report.json_report import METRICS, OF_LOGS

    properties: dict[str, Schema] = {
        name: metric(name) if name == "coverage" else {"type": "array", "items": metric(name)}
        for name in (*METRICS, *OF_LOGS)
    }
    properties["findings"] = {"type": ["array", "null"], "items": _finding()}
    properties["readable"] = _readable()
    return _with_not_shown(_object(properties), ["findings", "readable"])
