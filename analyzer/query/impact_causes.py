"""What findings explain of the accounts of impact, and by how much: each request, and each connection, is given to one finding.

A rule names the accounts in its head (`-- costs:`, see `analyzer.query.findings`). One of its findings, or a symptom below it,
explains what is in such an account when both are about the same (as in `analyzer.query.incidents`) and their times touch. What
several findings explain goes to the first of them by rank, as a symptom does; the others are also possible. So explained and
unexplained together are all that `kanalyze impact` counts (of the time: what took 500 ms or longer).

A finding of the rule UNEXPLAINED is such an entry of an account by itself. It is the last to be given anything, and is told when
what is left for it is above the limits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from analyzer.base.filters import literal
from analyzer.base.impact_limits import LIMITS
from analyzer.query.findings import ACCOUNTS, LOSE_TIME, Cost, rule
from analyzer.query.incidents import HOST, SLACK_NS, Finding

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

# The rule whose findings are entries of accounts.
UNEXPLAINED = "unexplained"
# Account -> how many must be left of an entry; of the others: `refusals`. A group waits whenever it starts: of `rebalance` a long
# wait must be among them, and is enough.
_LEAST = {"time": 3, "rebalance": 1}
# A column of `told` below -> its type.
_COLUMNS = {
    "place": "INTEGER",
    "account": "VARCHAR",
    "words": "VARCHAR[]",
    "from_ns": "BIGINT",
    "until_ns": "BIGINT",
    "cluster": "VARCHAR",
    "who": "VARCHAR",
    "application": "VARCHAR",
    "client_address": "VARCHAR",
    "broker": "VARCHAR",
    "host": "VARCHAR",
    "topic": "VARCHAR",
    "topic_id": "VARCHAR",
    "group_id": "VARCHAR",
    "connection": "BIGINT",
    "api_name": "VARCHAR",
    "name": "VARCHAR",
    "between_brokers": "BOOLEAN",
}
_SUBJECTS = ("who", "application", "client_address", "broker", "group_id")
_QUESTION = f"""
WITH told AS (SELECT * FROM (VALUES {{rows}}) AS t({", ".join(_COLUMNS)})),
units AS (
    SELECT
        row_number() OVER () AS unit,
        i.account,
        i.what,
        i.between_brokers,
        i.api_name,
        i.connection,
        l.cluster,
        i.group_id,
        i.at_ns,
        i.until_ns,
        CASE WHEN i.account IN {LOSE_TIME} THEN i.slow_ns WHEN i.account = 'unanswered' THEN i.waited_ns END AS lost_ns,
        -- Whoever sent no request has no name.
        CASE WHEN i.exchange IS NOT NULL THEN coalesce(nullif(i.client_id, ''), i.client_address) END AS who,
        a.application,
        i.client_address,
        i.broker_address AS host,
        CASE WHEN contains(i.broker_address, ':') THEN '[' || i.broker_address || ']' ELSE i.broker_address END
            || ':' || CAST(i.broker_port AS STRING) AS broker,
        i.topics
    FROM {{view}} AS i
        LEFT JOIN clustered_connections AS l ON l.connection = i.connection
        LEFT JOIN applications AS a ON a.client_address = i.client_address AND a.client_id = i.client_id
    WHERE (i.account NOT IN {LOSE_TIME} OR i.slow_ns IS NOT NULL) AND i.account IN {{accounts}}
),
hits AS (
    SELECT u.unit, t.place
    FROM units AS u JOIN told AS t ON t.account = u.account
    WHERE (t.words IS NULL OR list_contains(t.words, u.what) OR list_contains(t.words, u.api_name))
        AND (t.until_ns IS NULL OR (u.at_ns <= t.until_ns AND u.until_ns >= t.from_ns))
        AND (t.api_name IS NULL OR u.api_name IS NULL OR t.api_name = u.api_name)
        AND (t.name IS NULL OR u.account <> 'refused' OR t.name = u.what)
        AND (t.cluster IS NULL OR u.cluster IS NULL OR t.cluster = u.cluster)
        AND (t.between_brokers IS NULL OR t.between_brokers = u.between_brokers)
        AND {" AND ".join(f"(t.{name} IS NULL OR u.{name} IS NULL OR t.{name} = u.{name})" for name in _SUBJECTS)}
        AND (t.host IS NULL OR t.host IN (u.host, u.client_address))
        AND (t.topic IS NULL OR u.topics IS NULL OR list_contains(u.topics, t.topic) OR list_contains(u.topics, t.topic_id))
        -- At least one of them is compared; a connection only where there is nothing else.
        AND (t.connection = u.connection OR t.host IS NOT NULL OR (t.topic IS NOT NULL AND u.topics IS NOT NULL)
            OR {" OR ".join(f"t.{name} = u.{name}" for name in _SUBJECTS)})
),
given AS (
    SELECT unit, list_sort(list(DISTINCT place)) AS places
    FROM hits
    GROUP BY unit
)
SELECT
    u.account, u.what, u.between_brokers, g.places, count(*) AS times, TRY_CAST(sum(u.lost_ns) AS BIGINT) AS lost_ns,
    max(u.lost_ns) AS longest_ns
FROM units AS u LEFT JOIN given AS g ON g.unit = u.unit
GROUP BY u.account, u.what, u.between_brokers, g.places
ORDER BY u.account, u.what, u.between_brokers, g.places
"""


@dataclass(slots=True)
class Share:
    """What one finding (None: none) explains of an account: requests or connections, and the time that they lost, where known,
    with the longest. `also`: how many of them other findings may explain as well, by the places of these in the list.
    """

    account: str
    what: str | None
    between_brokers: bool
    finding: int | None
    times: int = 0
    lost_ns: int | None = None
    longest_ns: int = 0
    also: dict[int, int] = field(default_factory=dict)


def shares(dataset: Dataset, found: Sequence[Finding], accounts: Sequence[str] = ACCOUNTS) -> list[Share]:
    """What each of the findings explains of these accounts, then what none does; in the order of the list. Raises DatasetError."""
    # The others take longer, and nobody asks about them in a report.
    are_few = {cost.account for cost in rule(UNEXPLAINED).costs}.issuperset(accounts)
    view = "impacts_to_explain" if are_few else "impacts"
    order = sorted(range(len(found)), key=lambda at: (found[at].rule.rank, *found[at].order()))
    told = [row for place, at in enumerate(order) for row in _told(place, found[at])]
    # Without a row the types would not be known.
    rows = ", ".join(map(_values, told or [{"place": -1, "account": ""}]))
    kept: dict[tuple[Any, ...], Share] = {}
    for row in dataset.ask(_QUESTION.format(rows=rows, view=view, accounts=f"({', '.join(map(literal, accounts))})")):
        places = [order[place] for place in row["places"] or ()]
        key = row["account"], row["what"], row["between_brokers"], places[0] if places else None
        share = kept.setdefault(key, Share(*key))
        share.times += row["times"]
        share.longest_ns = max(share.longest_ns, row["longest_ns"] or 0)
        if row["lost_ns"] is not None:
            share.lost_ns = (share.lost_ns or 0) + row["lost_ns"]
        for other in places[1:]:
            share.also[other] = share.also.get(other, 0) + row["times"]
    return sorted(kept.values(), key=_order)


def by_finding(told: Sequence[Share]) -> dict[int | None, list[Share]]:
    """The shares of each finding, by its place in the list; None: what none explains."""
    found = defaultdict[int | None, list[Share]](list)
    for share in told:
        found[share.finding].append(share)
    return found


def without_explained(dataset: Dataset, found: Sequence[Finding]) -> list[Finding]:
    """All findings but those of UNEXPLAINED whose rest is below the limits; `explained` is how much of the others is explained.
    Raises DatasetError.
    """
    entries = {at: each.row for at, each in enumerate(found) if each.rule.name == UNEXPLAINED}
    if not entries:
        return list(found)
    told = by_finding(shares(dataset, found, sorted({row["account"] for row in entries.values()})))
    kept = []
    for at, each in enumerate(found):
        if at in entries:
            left = told.get(at, ())
            if not _is_above_limits(each.row["account"], left):
                continue
            each = replace(
                each, row=each.row | {"explained": each.row["times"] - sum(share.times for share in left) or None}
            )
        kept.append(each)
    return kept


def _is_above_limits(account: str, left: Sequence[Share]) -> bool:
    enough = sum(share.times for share in left) >= _LEAST.get(account, LIMITS["refusals"])
    return enough and (account != "rebalance" or any(share.longest_ns >= LIMITS["stuck_ns"] for share in left))


def _order(share: Share) -> tuple[Any, ...]:
    at = share.finding
    return at is None, at or 0, ACCOUNTS.index(share.account), share.between_brokers, -share.times, share.what or ""


def _told(place: int, finding: Finding) -> Iterator[dict[str, Any]]:
    for each in (finding, *finding.symptoms):
        for cost in each.rule.costs:
            # An entry of an account is that of one error or end.
            if each.rule.name == UNEXPLAINED:
                cost = cost._replace(words=(each.row["what"],) if each.row["what"] else ())
            if each.row.get("account", cost.account) == cost.account:
                yield _row(place, each, cost)


def _row(place: int, finding: Finding, cost: Cost) -> dict[str, Any]:
    row = finding.row
    told = {name: row.get(name) for name in _COLUMNS} | {"place": place, "account": cost.account, "words": cost.words}
    told["cluster"] = finding.cluster
    first, last = row.get("first_time_ns"), row.get("last_time_ns")
    if first is not None and last is not None:
        told |= {"from_ns": first - SLACK_NS, "until_ns": last + SLACK_NS}
    # Of several clients it names one.
    if row.get("clients") or row.get("others") or row.get("application_clients", 1) > 1:
        told |= {"who": None, "client_address": None}
    else:
        told["application"] = None
    # Records of all producers are gone, and another broker has acknowledged them.
    if cost.account == "data":
        told |= {"who": None, "client_address": None, "broker": None}
    # All ports of a host are meant.
    if told[HOST] is not None:
        told["broker"] = None
    return told


def _values(row: dict[str, Any]) -> str:
    return f"({', '.join(f'CAST({_written(row.get(name))} AS {kind})' for name, kind in _COLUMNS.items())})"


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(literal, value))}]" if value else "NULL"
    return "NULL" if value is None else literal(value) if isinstance(value, str) else str(int(value))
