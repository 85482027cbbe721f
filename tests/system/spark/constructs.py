"""Which questions both engines are asked: all by `make test-all`, else some that hold each construct of SQL that any holds."""

from __future__ import annotations

import re

from effort import LONG

from analyzer.query import findings, metrics

# Texts and comments hold none.
_QUIET = re.compile(r"--[^\n]*|'[^']*'")
# A function by its name, the words of a clause, an operator. What joins clauses stands in each question.
_CONSTRUCT = re.compile(r"\b[a-z]\w*\(|\b[A-Z]{2,}(?: [A-Z]{2,})*\b|\|\||<>|[*/%](?= )")
_JOINS = re.compile(r"\b(?:SELECT|AS|AND|OR|CASE|WHEN|THEN|ELSE|END|WHERE|HAVING|CAST|ON)\b")


def asked() -> dict[str, str]:
    """The SQL of questions by their names, `metrics/NAME` and `findings/NAME`."""
    every = {f"metrics/{name}": metrics.text(name) for name in metrics.names()}
    every |= {f"findings/{rule.name}": rule.sql for rule in findings.rules()}
    return every if LONG else _with_each_construct(every)


def _with_each_construct(questions: dict[str, str]) -> dict[str, str]:
    """Of questions that show the same, the shorter ones with their views: to plan them takes the time."""
    whole = {name: _JOINS.sub(",", _QUIET.sub("", _with_views(sql))) for name, sql in questions.items()}
    holds = {name: set(_CONSTRUCT.findall(sql)) for name, sql in whole.items()}
    wanted, found = set().union(*holds.values()), {}
    while wanted:
        name = max(sorted(holds), key=lambda each: len(holds[each] & wanted) / len(whole[each]))
        found[name] = questions[name]
        wanted -= holds[name]
    return found


def _with_views(sql: str) -> str:
    """The question, and each view that it reads."""
    return "\n".join((sql, *map(metrics.view, metrics.views_in(sql))))
