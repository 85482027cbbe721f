"""Findings: one SQL file per rule, from the tables to rows that say what is wrong, how bad it is, and where to look.

A file begins with its head, comment lines of the form `-- word: text`, in this order:

    -- severity: high, medium or info          info is never on the first screen
    -- rank: 10                                order among those of one severity, lower first
    -- when: errors having bool_or(code = 7)   a table, and what must be true of all its rows together for the rule to find
                                               anything: most rules end here, and those of a table in one question
    -- and: repeated_offsets having count(*) > 0
                                               may be missing: what must be true besides, asked of those that are left
    -- lasts: s(10)                         may be missing: how long, in ns, captures last in which the rule may find something
    -- says: {client_id} is throttled {muted_share} of its time[, user {principal}]
    -- do: what a person should do about it
    -- look: kanalyze throttle[ --client {client_id}]
    -- explains: head_of_line, unanswered      may be missing; rules whose findings about the same are symptoms of this one,
                                            or about anything, where the name ends with *; in parentheses the values of
                                            `api_name` or `name`; such a finding must have one of them: failing(Fetch|Produce)
    -- delays: nobody                       may be missing; of rules about waste, the future, or what itself only follows:
                                            they explain no impact but what they name
    -- costs: time, refused(NOT_CONTROLLER)  may be missing; accounts of impact (`kanalyze impact`): a finding explains what is
                                            in them about the same, at the same time; in parentheses the only APIs, errors or ends

Words in braces are columns of a row, written as their names say (`_ns`: a duration, `_time_ns`: a time of day, `_date_ns`: with its
day, `_share`: per cent, `_bytes`, `_ms`, `_per_s`); `{replies|reply|replies}` is a count with its noun; a part in brackets is left
out when one of its columns is null. After the head come comments for readers, and the SELECT. Columns with a meaning of their own:

    weight            required; orders the rows of one rule, greater first
    severity          overrides that of the head
    evidence...       any number of columns that begin so: ids of exchanges to look at
    first_time_ns, last_time_ns    when it happened
    connection        the connection it is about
    who, client_address, broker, topic, partition, group_id    what it is about; `explains` compares these and the times

A rule that speaks of a rate has at least 30 events behind it, or is silent.

- A finding begins with a condition (`when: TABLE having ...`): one question per table tells which rules are asked.
  Let it say all that one pass can tell (how many, how slow, for how long): a rule that is asked in vain costs more
  than all conditions.
- Findings are conclusions, and are held against truth like bytes: the lab's captures say what was done, to whom and
  when, and the first finding must name it; on healthy days nothing is medium or high (`lab/score.py`,
  `tests/system/lab/test_incidents.py`).
- One incident is one finding (`query/incidents.py`): a rule names the rules that it explains, and their findings
  about the same subject at the same time are below it (`symptoms`; `effect` in text). Severity is what was lost,
  for whom and for how long; an incident has that of its cause. A rule that sees little evidence is silent: ten slow
  requests behind a p99, three attempts behind "gone".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from analyzer.query import sql_words

FOLDER = Path(__file__).parent
SEVERITIES = ("high", "medium", "info")
HEAD = ("severity", "rank", "when", "says", "do", "look")
AND = "and"
LASTS = "lasts"
WITH_AND = ("severity", "rank", "when", AND, "says", "do", "look")
EXPLAINS = "explains"
DELAYS, NOBODY = "delays", "nobody"
COSTS = "costs"
OPTIONAL = (AND, LASTS, EXPLAINS, DELAYS, COSTS)
# Accounts of `metrics/views/impacts.sql`, in the order in which they are shown.
ACCOUNTS = (
    "data", "refused", "unanswered", "connections", "no progress", "connecting", "rebalance", "time", "repeated",
)  # fmt: skip
# Of these a unit is what took 500 ms or longer.
LOSE_TIME = ("connecting", "rebalance", "time")
_LINE = re.compile(r"-- (\w+): (.+)")
_EXPLAINED = re.compile(r"(\w+)(\*?)(?:\(([\w|]+)\))?")
_COST = re.compile(r"([\w ]+)(?:\(([\w|]+)\))?")


class Explained(NamedTuple):
    """A rule whose findings another rule explains: those about the same, or `anywhere`; only those whose `api_name` or `name`
    is one of `words`, if there are any.
    """

    rule: str
    anywhere: bool
    words: tuple[str, ...]


class Cost(NamedTuple):
    """An account of impact that a rule explains in part: all about the same, or only what has one of `words` as its API, error or
    end, if there are any.
    """

    account: str
    words: tuple[str, ...]


class Condition(NamedTuple):
    """SQL over all rows of a table together."""

    table: str
    sql: str


class Rule(NamedTuple):
    """One rule. Unless the captures last `lasts_ns` and all `conditions` are true (later ones take longer) it finds nothing.
    `explains` are rules whose findings are symptoms of this one when they are about the same, at the same time. `delays_nobody`:
    nobody waits because of what it finds.
    """

    name: str
    severity: str
    rank: int
    conditions: tuple[Condition, ...]
    says: str
    do: str
    look: str
    sql: str
    explains: tuple[Explained, ...] = ()
    delays_nobody: bool = False
    costs: tuple[Cost, ...] = ()
    lasts_ns: int = 0


def names() -> list[str]:
    """The names of all rules."""
    return sorted(path.stem for path in FOLDER.glob("*.sql"))


def rule(name: str) -> Rule:
    """The rule of a file. An unknown name is a KeyError, a head that is not whole a ValueError."""
    path = FOLDER / f"{name}.sql"
    if not path.is_file():
        raise KeyError(f"no finding {name!r}; there are: {', '.join(names())}")
    sql = sql_words.text(path)
    lines = [_LINE.fullmatch(line) for line in sql.splitlines()[: len(HEAD) + len(OPTIONAL)]]
    head = {match[1]: match[2] for match in lines if match and match[1] in (*HEAD, *OPTIONAL)}
    order = tuple(word for word in head if word not in (LASTS, EXPLAINS, DELAYS, COSTS))
    explains = tuple(_explained(path, word) for word in head.pop(EXPLAINS, "").replace(",", " ").split())
    costs = tuple(_cost(path, each) for each in head.pop(COSTS, "").split(", ") if each)
    if (delays := head.pop(DELAYS, None)) not in (None, NOBODY):
        raise ValueError(f"{path.name}: delays: {delays!r} is not {NOBODY!r}")
    lasts_ns = int(head.pop(LASTS, 0))
    asked = [head.get("when"), head.pop(AND, None)]
    if order not in (HEAD, WITH_AND) or head["severity"] not in SEVERITIES:
        raise ValueError(f"{path.name}: the head of a finding is {', '.join(HEAD)}, in this order")
    conditions = tuple(_condition(path, text) for text in asked if text is not None)
    told = (head["says"], head["do"], head["look"])
    return Rule(
        name,
        head["severity"],
        int(head["rank"]),
        conditions,
        *told,
        sql_words.bare(sql),
        explains,
        delays is not None,
        costs,
        lasts_ns,
    )


def _condition(path: Path, text: str) -> Condition:
    table, having, sql = text.partition(" having ")
    if not having:
        raise ValueError(f"{path.name}: {text!r} is not: a table having a condition")
    return Condition(table, sql)


def _explained(path: Path, text: str) -> Explained:
    match = _EXPLAINED.fullmatch(text)
    if match is None:
        raise ValueError(f"{path.name}: {text!r} names no rule that is explained")
    name, star, words = match.groups()
    return Explained(name, bool(star), tuple(words.split("|")) if words else ())


def _cost(path: Path, text: str) -> Cost:
    match = _COST.fullmatch(text)
    if match is None or match[1] not in ACCOUNTS:
        raise ValueError(f"{path.name}: {text!r} is no account of impact: {', '.join(ACCOUNTS)}")
    return Cost(match[1], tuple(match[2].split("|")) if match[2] else ())


def rules() -> list[Rule]:
    """All rules, the most severe first."""
    return sorted(map(rule, names()), key=lambda each: (SEVERITIES.index(each.severity), each.rank, each.name))


def questions(chosen: Iterable[Rule], place: int) -> list[str]:
    """One question for each table that the conditions at a place are about: a row with a boolean for each rule, under its name."""
    tables: dict[str, list[str]] = {}
    for each in chosen:
        if place < len(each.conditions):
            table, sql = each.conditions[place]
            tables.setdefault(table, []).append(f"{sql} AS {each.name}")
    return [f"SELECT {', '.join(conditions)} FROM {table}" for table, conditions in tables.items()]
