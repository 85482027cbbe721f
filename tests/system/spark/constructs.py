"""Which questions both engines are asked: all by `make test-all`, else some, or views of theirs, that hold each construct of SQL
that any holds."""

from __future__ import annotations

import re

from effort import LONG

from analyzer.query import findings, metrics

# Texts and comments hold none.
_QUIET = re.compile(r"--[^\n]*|'[^']*'")
# A function by its name, the words of a clause, an operator. What a table with named columns is called says nothing, and what
# joins clauses stands in each question.
_CONSTRUCT = re.compile(r"\b[a-z]\w*\(|\b[A-Z]{2,}(?: [A-Z]{2,})*\b|\|\||<>|[*/%](?= )")
_COLUMNS = re.compile(r"\bAS \w+\(")
_JOINS = re.compile(r"\b(?:SELECT|AS|AND|OR|CASE|WHEN|THEN|ELSE|END|WHERE|HAVING|CAST|ON)\b")


def asked() -> dict[str, str]:
    """The SQL of questions by their names: `metrics/NAME`, `findings/NAME`, and `views/NAME` for all rows of a view."""
    every = {f"metrics/{name}": metrics.text(name) for name in metrics.names()}
    every |= {f"findings/{rule.name}": rule.sql for rule in findings.rules()}
    if LONG:
        return every
    views = {view for sql in every.values() for view in metrics.views_in(sql)}
    return _with_each_construct(every | {f"views/{name}": f"SELECT * FROM {name}" for name in views})


def _with_each_construct(questions: dict[str, str]) -> dict[str, str]:
    """For each construct the shortest question with its views, as to plan them takes the time: first for those that only long ones
    hold, which hold others too."""
    whole = {name: _plain(_with_views(sql)) for name, sql in sorted(questions.items())}
    holds = {name: set(_CONSTRUCT.findall(sql)) for name, sql in whole.items()}
    shortest: dict[str, str] = {}
    for name in sorted(whole, key=lambda each: len(whole[each])):
        shortest = dict.fromkeys(holds[name], name) | shortest
    found: dict[str, str] = {}
    for construct, name in sorted(shortest.items(), key=lambda each: (-len(whole[each[1]]), each)):
        if not any(construct in holds[other] for other in found):
            found[name] = questions[name]
    return found


def _plain(sql: str) -> str:
    return _JOINS.sub(",", _COLUMNS.sub("AS COLUMNS(", _QUIET.sub("", sql)))


def _with_views(sql: str) -> str:
    """The question, and each view that it reads."""
    return "\n".join((sql, *map(metrics.view, metrics.views_in(sql))))
