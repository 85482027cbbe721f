"""JSON Schema (draft 2020-12) of what verbs print with --format json: part of what a version of kanalyze promises.

Rows of metrics are described by the columns that the engine says their SQL has, so a schema cannot say more than the answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from analyzer.query.questions import PARTS

Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
# Verb -> the metrics whose rows it prints: the first as it is, the others with --part or --every.
ROWS: Mapping[str, tuple[str, ...]] = {
    **{verb: tuple(dict.fromkeys(parts.values())) for verb, parts in PARTS.items()},
    "brokers": ("brokers",),
    "clients": ("clients",),
    "connections": ("connections",),
    "errors": ("errors",),
    "latency": ("latency",),
    "profile": ("profile",),
    "throttle": ("throttle", "throttle_over_time"),
    "unanswered": ("unanswered",),
}
OBJECTS = ("report", "findings", "exchanges", "check", "diff", "sql", "doctor")
# They print objects, a line each: the schema is that of a line.
LINES = ("dump", "show", "watch")
_KEY: Schema = {"type": ["string", "null"], "pattern": "^[0-9a-f]{16}$"}
_TYPES = {"DOUBLE": "number", "FLOAT": "number", "BOOLEAN": "boolean", "VARCHAR": "string"}
_MOMENT = "A moment, ns since the epoch (UTC)."


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
        return head | {"type": "array", "items": {"type": "object"}}
    if verb == "check":
        return head | {"type": "array", "items": _check()}
    if verb == "diff":
        return head | _comparison()
    if verb == "findings":
        return head | {"type": "array", "items": _finding()}
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
    kind = _TYPES.get(sql_type, "integer" if "INT" in sql_type else "string")
    found: Schema = {"type": [kind, "null"]}
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
    moment: Schema = {"type": ["integer", "null"], "description": _MOMENT}
    severity: Schema = {"enum": ["high", "medium", "low", "info"]}
    evidence = _object(
        {"exchange": _KEY, "path": {"type": ["string", "null"]}, "packet": {"type": ["integer", "null"]}}
    )
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
            "numbers": {"type": "object", "description": "The columns of the rule."},
            "evidence": {"type": "array", "items": evidence},
            "symptoms": {"type": "array", "items": symptom},
        }
    )


def _exchange_with_bodies() -> Schema:
    found = _rows_of_tables()
    body: Schema = {"type": ["object", "null"], "description": "As `kanalyze decode` has it; secrets as their size."}
    left_out: Schema = {"type": "integer", "description": "Bytes of a body that was too large to be shown whole."}
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
            "matched": {"type": "integer", "description": "Rows that the limit is about."},
            "judged": {"type": "integer", "description": "Of those, rows with a value."},
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
    return _object({name: {"type": [names[each] for each in each_of]} for name, each_of in kinds.items()})


def _doctor() -> Schema:
    from analyzer.cli.environment_checks import BROKEN, NOTE, OK, Check

    check = _fields(Check)
    check["properties"]["state"] = {"enum": [OK, NOTE, BROKEN]}
    return _object({"checks": {"type": "array", "items": check}})


def _watch() -> Schema:
    from analyzer.watch.told import Pulse

    moment: Schema = {"type": ["integer", "null"], "description": _MOMENT}
    told: dict[str, Schema] = {
        "number": {"type": "integer"},
        "new": {"type": "boolean", "description": "Whether this line is the first that has it."},
        "over": {"type": "boolean"},
        "age_ns": {"type": "integer"},
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
    from analyzer.report.json_report import METRICS

    properties: dict[str, Schema] = {
        name: metric(name) if name == "coverage" else {"type": "array", "items": metric(name)} for name in METRICS
    }
    properties["findings"] = {"type": ["array", "null"], "items": _finding()}
    properties["readable"] = _readable()
    return _with_not_shown(_object(properties), ["findings", "readable"])
