"""Findings for programs: JSON, JSON lines and CSV. Ids are 16 hex digits, times int64 ns, captured strings made harmless."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TextIO

from analyzer.base.text import csv_cell, exchange_id, json_text
from analyzer.query.finding_clusters import EVIDENCE
from analyzer.query.impact_causes import Share, by_finding
from analyzer.query.incidents import Finding
from analyzer.report.sentences import look, sentence

if TYPE_CHECKING:
    import pyarrow

_OWN = ("severity", "weight", "connection", "first_time_ns", "last_time_ns")


def as_object(finding: Finding) -> dict[str, Any]:
    """One finding: `numbers` are the columns of its rule, `evidence` the exchanges with file and packet number, `symptoms` the
    findings that it explains, in short.
    """
    row = finding.row
    connection = row.get("connection")
    return {
        "finding": finding.rule.name,
        "severity": finding.severity,
        "sentence": sentence(finding.rule.says, row),
        "do": sentence(finding.rule.do, row),
        "look": look(finding),
        "first_time_ns": row.get("first_time_ns"),
        "last_time_ns": row.get("last_time_ns"),
        "running": finding.running,
        "connection": None if connection is None else exchange_id(connection),
        "numbers": {name: value for name, value in row.items() if name not in _OWN and not name.startswith(EVIDENCE)},
        "evidence": [
            {"exchange": exchange_id(each.exchange), "path": each.path, "packet": each.packet}
            for each in finding.evidence
        ],
        "symptoms": [
            {
                "finding": each.rule.name,
                "severity": each.severity,
                "sentence": sentence(each.rule.says, each.row),
                "first_time_ns": each.row.get("first_time_ns"),
                "last_time_ns": each.row.get("last_time_ns"),
            }
            for each in finding.symptoms
        ],
    }


def as_table(found: Sequence[Finding]) -> pyarrow.Table:
    """Findings as an Arrow table: the fields of `as_object`, keys as numbers, `numbers` as JSON."""
    import pyarrow

    text, number = pyarrow.string(), pyarrow.int64()
    moments = [("first_time_ns", number), ("last_time_ns", number)]
    evidence = pyarrow.struct([("exchange", number), ("path", text), ("packet", number)])
    symptoms = pyarrow.struct([("finding", text), ("severity", text), ("sentence", text), *moments])
    words = [(name, text) for name in ("finding", "severity", "sentence", "do", "look")]
    lists = [("evidence", pyarrow.list_(evidence)), ("symptoms", pyarrow.list_(symptoms))]
    schema = pyarrow.schema(
        [*words, *moments, ("running", pyarrow.bool_()), ("connection", number), *lists, ("numbers", text)]
    )
    rows = [
        as_object(each) | {"connection": each.row.get("connection"), "evidence": [asdict(one) for one in each.evidence]}
        for each in found
    ]
    return pyarrow.Table.from_pylist([row | {"numbers": json_text(row["numbers"])} for row in rows], schema)


def costs_of(told: Sequence[Share]) -> list[dict[str, Any]]:
    """What one finding explains of the accounts of impact; `also`: other findings that may be the cause, and of how many."""
    return [
        {
            "account": each.account,
            "what": each.what,
            "between_brokers": each.between_brokers,
            "times": each.times,
            "lost_ns": each.lost_ns,
            "also": [{"number": at + 1, "times": times} for at, times in sorted(each.also.items())],
        }
        for each in told
    ]


def write(found: Sequence[Finding], told: Sequence[Share], form: str, stream: TextIO) -> None:
    """`json`: one array; `jsonl`: a line each; `csv`: a line each, the first evidence in columns of its own, without what the
    findings explain."""
    costs = by_finding(told)
    objects = [as_object(finding) | {"costs": costs_of(costs.get(at, ()))} for at, finding in enumerate(found)]
    if form == "json":
        stream.write(json_text(objects, indent=2) + "\n")
    elif form == "jsonl":
        stream.writelines(json_text(each) + "\n" for each in objects)
    else:
        _write_csv(objects, stream)


def _write_csv(objects: Sequence[dict[str, Any]], stream: TextIO) -> None:
    words = ("finding", "severity", "sentence", "do", "look", "first_time_ns", "last_time_ns", "running", "connection")
    lines = csv.writer(stream, lineterminator="\n")
    lines.writerow([*words, "exchange", "path", "packet"])
    for each in objects:
        first = each["evidence"][0] if each["evidence"] else {"exchange": None, "path": None, "packet": None}
        cells = [each[word] for word in words] + [first["exchange"], first["path"], first["packet"]]
        lines.writerow([csv_cell(cell) if isinstance(cell, str) else cell for cell in cells])
