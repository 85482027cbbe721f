"""Findings as sentences: the templates of `analyzer.query.findings` filled with values, captured strings made safe."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from analyzer.base.text import printable
from analyzer.query.incidents import Finding
from analyzer.query.named_rows import with_names
from analyzer.report.format import (
    argument,
    bits_per_second,
    can_be_typed,
    clock,
    count,
    duration,
    milliseconds,
    moment,
    rate,
    safe,
    share,
    shown_name,
    size,
    things,
)

# What `applications.software` is called before the name of one.
_SOFTWARE = {
    "Kafka Connect": "Connect cluster",
    "Kafka Streams": "Streams application",
    "Flink": "Flink job",
    "Spark": "Spark query",
}
# Columns whose values are client ids: one that is a word of a language ("late", "reader") would be read as part of the sentence.
_CLIENTS = ("who", "client_id")
_WORD = re.compile(r"[a-z]+")
# A column that no capture has filled, which is shown whole.
_OURS = "advice"
# Of a client without an id the address is all that is known: it is said once.
_ADDRESS_ALONE = "{client_address}"
_ADDRESS_AND_NAME = f"{_ADDRESS_ALONE}[ ({{who}})]"
# A part that may be left out, or a place for a value.
_PART = re.compile(r"\[([^\[\]]*)\]|\{[^{}]*\}")
_PLACE = re.compile(r"\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}")
# The end of a column's name -> how its values are written; the first that fits.
_FORMS: tuple[tuple[str, Callable[[Any], str]], ...] = (
    ("_time_ns", clock),
    ("_date_ns", moment),
    ("_ns", duration),
    ("_ms", milliseconds),
    ("_share", share),
    ("_bytes", size),
    ("_bytes_per_s", lambda value: f"{size(int(value))}/s"),
    ("_bits_per_s", bits_per_second),
    ("_per_s", lambda value: f"{rate(value)}/s"),
)


def sentence(template: str, row: dict[str, Any]) -> str:
    """The template with the row's values, each as its column's name says; safe to print. A client of an application is named with
    it, an address with its host or pod."""
    if row.get("who") == row.get("client_address"):
        template = template.replace(_ADDRESS_AND_NAME, _ADDRESS_ALONE)
    if row.get("application_clients"):
        row = {**row, "who": _of_application(row)}
    if names := row.get("names"):
        return _filled(template, row, lambda name, value: with_names(_written(name, value), names))
    return _filled(template, row, _written)


def _of_application(row: dict[str, Any]) -> str:
    """connector-consumer-s3-0 (Connect cluster etl, the worst of 3 clients)"""
    name = f"{_SOFTWARE.get(row['software'], row['software'])} {row['application']}"
    clients = row["application_clients"]
    return f"{row['who']} ({name}{f', the worst of {count(clients)} clients' if clients > 1 else ''})"


def command(template: str, row: dict[str, Any]) -> str:
    """A command line for a shell: values are quoted, and a part whose value cannot be typed is left out."""
    return _filled(
        template, row, lambda _, value: argument(printable(str(value))), lambda value: can_be_typed(str(value))
    )


def look(finding: Finding) -> str:
    """The command that shows more of a finding, ready for a shell."""
    return f"{command(finding.rule.look, finding.row)} {finding.captures}"


def _filled(
    template: str, row: dict[str, Any], write: Callable[[str, Any], str], fits: Callable[[Any], bool] | None = None
) -> str:
    """One pass: what was filled in is never read as a template."""

    def place(match: re.Match[str]) -> str:
        name, one, many = match.groups()
        return write(name, row[name]) if one is None else things(row[name] or 0, one, many)

    def part(match: re.Match[str]) -> str:
        if match[1] is None:
            return _PLACE.sub(place, match[0])
        values = [row[each[1]] for each in _PLACE.finditer(match[1])]
        whole = all(value is not None and (fits is None or fits(value)) for value in values)
        return _PLACE.sub(place, match[1]) if whole else ""

    return _PART.sub(part, template)


def _written(name: str, value: Any) -> str:
    if value is None:
        return "unknown"
    for end, form in _FORMS:
        if name.endswith(end):
            return form(value)
    if isinstance(value, (int, float)):
        return count(value) if isinstance(value, int) else rate(value)
    if name == _OURS:
        return shown_name(str(value))
    return f'"{value}"' if name in _CLIENTS and _WORD.fullmatch(str(value)) else safe(str(value))
