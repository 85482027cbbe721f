"""Runs the rules of `analyzer.query.findings` over a dataset: findings with evidence, the worst first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analyzer.query.finding_clusters import clusters_of, exchanges
from analyzer.query.findings import Rule, questions, rules
from analyzer.query.impact_causes import without_explained
from analyzer.query.incidents import HOST, Evidence, Finding, grouped, is_running
from analyzer.query.left_out import is_bug, leave_out
from analyzer.query.named_rows import add_names
from analyzer.query.of_applications import of_applications
from analyzer.query.seen_once import seen_once
from dissectors.formats.time_order_limits import PAUSE_NS

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

MOST_ROWS = 100  # of one rule
LATEST_NS = (1 << 63) - 1
# Columns of rules with an address and a port.
ENDPOINTS = ("broker", "advertised", "bootstrap", "asked_again", "told_by")


def find(dataset: Dataset, chosen: Sequence[Rule] | None = None) -> list[Finding]:
    """What the rules (None: all) find, the worst first; of one rule at most MOST_ROWS. Findings that others explain are their
    symptoms. Raises DatasetError.
    """
    with seen_once(dataset) as once:
        true = _with_true_condition(once, rules() if chosen is None else chosen)
        return _findings(once, [(rule, row) for rule in true for row in _rows(once, rule)])


def find_all(dataset: Dataset) -> list[Finding]:
    """As `find`, for an answer that says what it leaves out: there a rule that cannot be asked is left out of `dataset`."""
    try:
        return find(dataset)
    except Exception as error:
        if not is_bug(error):
            raise
    found = []
    with seen_once(dataset) as once:
        for rule in rules():
            try:
                found += [(rule, row) for true in _with_true_condition(once, [rule]) for row in _rows(once, true)]
            except Exception as error:
                if not is_bug(error):
                    raise
                leave_out(dataset, f"finding {rule.name.replace('_', ' ')}", error)
        return _findings(once, found)


def _findings(dataset: Dataset, told: Sequence[tuple[Rule, dict[str, Any]]]) -> list[Finding]:
    rows = [(rule, _with_brackets(row)) for rule, row in of_applications(dataset, _without_jumps(dataset, told))]
    _tell_brokers_of_a_host_apart(dataset, [row for _, row in rows])
    add_names(dataset, [row for _, row in rows])
    (time,) = dataset.ask("SELECT first_time_ns, last_time_ns FROM time_range")
    evidence = _evidence_of(dataset, {number for _, row in rows for number in exchanges(row)})
    found = [
        Finding(
            rule,
            row.get("severity") or rule.severity,
            row,
            tuple(evidence.get(number, Evidence(number, None, None)) for number in exchanges(row)),
            running=is_running(row, time["first_time_ns"], time["last_time_ns"]),
            captures=dataset.captures,
            cluster=cluster,
        )
        for (rule, row), cluster in zip(rows, clusters_of(dataset, [row for _, row in rows]), strict=True)
    ]
    return grouped(without_explained(dataset, found))


def _rows(dataset: Dataset, rule: Rule) -> list[dict[str, Any]]:
    with dataset.asking(f"finding {rule.name.replace('_', ' ')}"):
        # All columns count in the end, so that the order never depends on that of the rows below.
        return dataset.ask(
            f"SELECT * FROM ({rule.sql}\n) AS found ORDER BY weight DESC, 1, 2, 3, found LIMIT {MOST_ROWS}"
        )


def _without_jumps(
    dataset: Dataset, told: Sequence[tuple[Rule, dict[str, Any]]]
) -> Sequence[tuple[Rule, dict[str, Any]]]:
    """Without what speaks of a duration of a month or more while the clock of the capture jumped by as much: that may be the jump
    alone. The warning about the jump says so."""
    if not any(_longest_ns(row) >= PAUSE_NS for _, row in told):
        return told
    jumps = dataset.ask("SELECT begin_ns, end_ns FROM clock_jumps WHERE least_ns > 0")

    def spans_one(row: dict[str, Any]) -> bool:
        first_ns, last_ns = _first_ns(row), _last_ns(row)
        return any(first_ns <= jump["end_ns"] and last_ns >= jump["begin_ns"] for jump in jumps)

    return [(rule, row) for rule, row in told if _longest_ns(row) < PAUSE_NS or not spans_one(row)]


def _longest_ns(row: dict[str, Any]) -> int:
    lengths = (
        value for name, value in row.items() if name.endswith("_ns") and not name.endswith(("_time_ns", "_date_ns"))
    )
    return max((value for value in lengths if value is not None), default=0)


def _first_ns(row: dict[str, Any]) -> int:
    return min(row.get(name) or 0 for name in ("first_time_ns", "last_time_ns"))


def _last_ns(row: dict[str, Any]) -> int:
    """Without a time it may have been at any."""
    return max(row.get(name) or LATEST_NS for name in ("first_time_ns", "last_time_ns"))


def _with_brackets(row: dict[str, Any]) -> dict[str, Any]:
    """IPv6 addresses before a port in brackets (RFC 3986): SQL puts both together with a colon."""
    for name in ENDPOINTS:
        value = row.get(name)
        if isinstance(value, str):
            row[name] = in_brackets(value)
    return row


def in_brackets(endpoint: str) -> str:
    """An address with its port; of IPv6 the address in brackets."""
    if endpoint.count(":") < 2 or endpoint.startswith("["):
        return endpoint
    host, _, port = endpoint.rpartition(":")
    return f"[{host}]:{port}"


def _tell_brokers_of_a_host_apart(dataset: Dataset, rows: Sequence[dict[str, Any]]) -> None:
    """Takes the host out of rows about one of several brokers there: what one of them does, the others need not do."""
    placed = [row for row in rows if row.get(HOST) and row.get("broker")]
    if not placed or len(rows) < 2:
        return
    shared = {each["host"] for each in dataset.ask("SELECT host FROM shared_broker_hosts")}
    for row in placed:
        if row[HOST] in shared:
            row[HOST] = None


def _with_true_condition(dataset: Dataset, chosen: Sequence[Rule]) -> list[Rule]:
    """The rules whose conditions are true, by one question about each table instead of one for each rule."""
    (whole,) = dataset.ask("SELECT first_time_ns, last_time_ns FROM all_time_range")
    span_ns = (whole["last_time_ns"] or 0) - (whole["first_time_ns"] or 0)
    left = [each for each in chosen if each.lasts_ns <= span_ns]
    for place in range(max((len(each.conditions) for each in left), default=0)):
        told = {name: true for question in questions(left, place) for name, true in dataset.ask(question)[0].items()}
        left = [each for each in left if place >= len(each.conditions) or told[each.name] is True]
    return left


def _evidence_of(dataset: Dataset, wanted: set[int]) -> dict[int, Evidence]:
    """Exchange -> where its first message is, by one question for all."""
    if not wanted:
        return {}
    numbers = ", ".join(f"({number})" for number in sorted(wanted))
    rows = dataset.ask(
        "SELECT x.exchange, c.path, coalesce(x.request_packet, x.response_packet) AS packet "
        f"FROM (VALUES {numbers}) AS w(exchange) JOIN all_exchanges AS x ON x.exchange = w.exchange "
        "LEFT JOIN captures AS c ON c.file = coalesce(x.request_file, x.response_file)"
    )
    return {row["exchange"]: Evidence(row["exchange"], row["path"], row["packet"]) for row in rows}
