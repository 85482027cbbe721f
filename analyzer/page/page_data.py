"""What a page shows: metrics, findings and the slowest exchanges of one dataset, as one object of JSON.

Everything comes from what verbs print, so a page of a capture and one of its export are the same, and each number has a command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.base.filters import Filters
from analyzer.base.settings import Settings
from analyzer.base.wait_kinds import KINDS
from analyzer.page.page_tables import harmless, packed, table, value
from analyzer.page.partition_lanes import Lanes, lanes
from analyzer.page.slots import midnight_ns, slot_ns
from analyzer.query.dataset import Dataset
from analyzer.query.incidents import Finding
from analyzer.query.left_out import leave_out
from analyzer.query.metrics import text as metric_text
from analyzer.query.questions import NEWEST_RELEASE, narrowed
from analyzer.query.readability import readability
from analyzer.report import between, beyond
from analyzer.report.facts import Facts
from analyzer.report.finding_rows import as_object
from analyzer.report.format import argument, moment, time_range
from analyzer.report.latency_components import PARTS
from analyzer.report.readability_words import sentence
from analyzer.report.sections.attention import mark
from analyzer.version import VERSION

# Lines of a tree of messages, by the exchange: (offset and size, depth, text).
Trees = Mapping[int, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Question:
    """A table of the page: the rows of `metric` by `by`, over time or not, at most `most` of them."""

    metric: str
    by: tuple[str, ...] = ()
    over_time: bool = False
    most: int | None = 400
    wanted: Mapping[str, Sequence[str]] = field(default_factory=dict)


QUESTIONS = {
    # Over the whole time: what verbs print.
    "latency": Question("latency"),
    "latency_by_broker": Question("latency", ("broker",)),
    "latency_histogram": Question("latency_histogram", most=8_000),
    "slowest": Question("slowest"),
    "throttle": Question("throttle"),
    "errors": Question("errors"),
    "unanswered": Question("unanswered"),
    "clients": Question("clients"),
    "connections": Question("connections"),
    "topics": Question("topics"),
    "zones": Question("zones"),
    "lag": Question("lag"),
    "delivery": Question("delivery"),
    "groups": Question("groups"),
    "rebalances": Question("rebalances", most=1_000),
    "group_members": Question("group_members", most=1_000),
    "group_timeline": Question("group_timeline", most=2_000),
    "transactions": Question("transactions"),
    "transaction_list": Question("transaction_list", most=1_000),
    "producers": Question("producers"),
    "readiness": Question("readiness", wanted={"release": (NEWEST_RELEASE,)}),
    "foreign_connections": Question("foreign_connections", most=100),
    # In slots of time: what is drawn over the time axis, and what a selection adds up.
    "activity_by_api": Question("activity", (), True, None),
    "activity_by_client": Question("activity", ("client",), True, None),
    "activity_by_broker": Question("activity", ("broker",), True, None),
    "latency_over_time": Question("latency", (), True, 6_000),
    "latency_heat": Question("latency_heat", (), True, None),
    "errors_over_time": Question("errors_over_time", (), True, None),
    "throttle_over_time": Question("throttle_over_time", (), True, None),
    "topic_traffic": Question("topic_traffic", (), True, None),
    "lag_over_time": Question("lag_over_time", (), True, None),
    "connection_churn": Question("connection_churn", (), True, 6_000),
}
# Asked only where a broker's log of requests was read.
OF_LOGS = {"broker_log": Question("broker_log")}

# What a side of a connection is called, as `who` of `analyzer.names` says it.
_WHO = {
    "client": "coalesce(CASE WHEN client_pod IS NOT NULL THEN concat_ws('/', client_namespace, client_pod) END, client_host)",
    "broker": "coalesce(broker_pod, broker_host)",
}
# Rows in such number that they are held by column.
MANY = "slowest_thousand"
# Rows of the partitions that have a lane.
LANES = "partition_lanes"

# Section of the page -> the command line whose numbers it shows.
COMMANDS = {
    "overview": "kanalyze",
    "findings": "kanalyze findings",
    "time": "kanalyze latency --every {every}",
    "profile": "kanalyze profile",
    "latency": "kanalyze latency",
    "flows": "kanalyze topics --part producers",
    "readers": "kanalyze topics --part consumers",
    "topics": "kanalyze topics",
    "zones": "kanalyze zones",
    "delivery": "kanalyze topics --part delivery",
    "lag": "kanalyze topics --part lag",
    "clients": "kanalyze clients",
    "latency_by_broker": "kanalyze latency --by broker",
    "brokers": "kanalyze brokers",
    "errors": "kanalyze errors",
    "throttle": "kanalyze throttle",
    "groups": "kanalyze groups",
    "rebalances": "kanalyze groups --part rebalances",
    "members": "kanalyze groups --part members",
    "transactions": "kanalyze transactions",
    "transaction_list": "kanalyze transactions --part list",
    "producers": "kanalyze transactions --part producers",
    "connections": "kanalyze connections",
    "unanswered": "kanalyze unanswered",
    "readiness": "kanalyze readiness",
    "slowest": "kanalyze latency",
    "exchanges": "kanalyze exchanges",
}


def page_data(dataset: Dataset, trees: Callable[[list[int]], Trees]) -> dict[str, Any]:
    """The object that the page is drawn from. `trees` gives the messages of exchanges as lines, where the captures are at hand.
    Raises DatasetError.

    A question that could not be answered, for lack of memory or disk or by a bug, is named in `not_shown`, with the reason.
    """
    facts = Facts(dataset)
    coverage = facts.coverage()
    first, last = time_of(dataset, coverage)
    origin, every = midnight_ns(first), slot_ns(last - first, coverage["captured_ns"])
    tables = {}
    asked = QUESTIONS | (OF_LOGS if dataset.is_logged else {})
    for name, question in asked.items():
        try:
            tables[name] = _table(dataset, question, origin, every)
        except Exception as error:
            if leave_out(dataset, name, error) is None:
                raise
            tables[name] = table([], 0, origin)
    found = _found(facts)
    told = _lanes(dataset, facts, found, every)
    tables[LANES] = table(told.rows, len(told.rows), origin)
    words = filter_words(dataset.filters)
    slowest = [row["exchange"] for row in facts.rows("slowest")] if "slowest" not in dataset.left_out else []
    return {
        "version": VERSION,
        "captures": harmless(dataset.captures),
        "files": harmless(facts.paths()[:200]),
        "number_of_files": coverage["files"],
        "origin_ms": origin // 1_000_000,
        "origin": moment(origin),
        "time": {
            "first_ns": first - origin,
            "last_ns": last - origin,
            "every_ns": every,
            "text": time_range(first, last),
            "captured_ns": coverage["captured_ns"],
        },
        "captured": captured(dataset, origin, first, last),
        "coverage": {name: value(name, each, origin) for name, each in coverage.items()},
        "readable": _readable(dataset),
        "beyond": harmless(beyond.sentence(facts.rows("offered_beyond"))),
        "between": harmless(between.sentences(facts.rows("between")) if coverage["behind_connections"] else []),
        "warnings": harmless(dataset.warnings),
        "filters": harmless(_filters(dataset)),
        "findings": [_finding(facts, number, each, origin, words) for number, each in enumerate(found, 1)],
        "tables": tables,
        "names": harmless(_names(dataset)) if facts.has_names else {},
        "packed": {MANY: _many(dataset, facts, origin)},
        "not_shown": harmless(dataset.left_out),
        "commands": {
            name: harmless(facts.ask(text.format(every=_span(every))) + words) for name, text in COMMANDS.items()
        },
        "partitions": [_partition(facts, each, words) for each in told.drawn],
        "partitions_left_out": [_partition(facts, each, words) for each in told.left_out],
        "show": harmless(facts.ask("kanalyze show")),
        "means": {name: meaning(question.metric) for name, question in asked.items()} | {LANES: meaning(LANES)},
        "kinds": {name: kind.words for name, kind in KINDS.items()},
        "parts": {name: list(words) for name, words in PARTS.items()},
        "trees": {f"{exchange:016x}": list(lines) for exchange, lines in trees(slowest).items()} if slowest else {},
    }


def _names(dataset: Dataset) -> dict[str, str]:
    """Address -> what it is called; where that changed, all names."""
    sides = (f"SELECT {side}_address AS address, {who} AS name FROM connections" for side, who in _WHO.items())
    rows = dataset.query(
        f"SELECT DISTINCT address, name FROM ({' UNION ALL '.join(sides)}) WHERE name IS NOT NULL ORDER BY ALL"
    )
    found: dict[str, str] = {}
    for row in rows:
        found[row["address"]] = f"{found[row['address']]}, {row['name']}" if row["address"] in found else row["name"]
    return found


def _found(facts: Facts) -> Sequence[Finding]:
    try:
        return facts.findings()
    except Exception as error:
        if not facts.leave_out("findings", error):
            raise
        return ()


def _lanes(dataset: Dataset, facts: Facts, found: Sequence[Finding], every: int) -> Lanes:
    try:
        with dataset.asking("partitions"):
            return lanes(dataset, found, every)
    except Exception as error:
        if not facts.leave_out(LANES, error):
            raise
        return Lanes([], [], [])


def _partition(facts: Facts, partition: tuple[str, int], words: str) -> dict[str, Any]:
    """A partition with the command that tells its story."""
    topic, number = partition
    command = f"{facts.ask('kanalyze partition')} {argument(f'{topic}-{number}')}{words}"
    return dict(harmless({"topic": topic, "partition": number, "command": command}))


def _many(dataset: Dataset, facts: Facts, origin: int) -> dict[str, Any]:
    try:
        with dataset.asking("the slowest requests"):
            return packed(facts.rows(MANY), origin)
    except Exception as error:
        if not facts.leave_out(MANY, error):
            raise
        return packed([], origin)


def _table(dataset: Dataset, question: Question, origin_ns: int, every_ns: int) -> dict[str, Any]:
    dataset.choose(Settings(question.by, every_ns if question.over_time else None))
    try:
        with dataset.asking(question.metric.replace("_", " ")):
            rows, total = dataset.first_rows(narrowed(question.metric, question.wanted), question.most)
    finally:
        dataset.choose(Settings())
    return table(rows, total, origin_ns)


def time_of(dataset: Dataset, coverage: dict[str, Any]) -> tuple[int, int]:
    """The time that the page is about: what filters leave of the captures'; of no packets a nanosecond in 1970."""
    (row,) = dataset.query("SELECT first_time_ns, last_time_ns FROM time_range")
    first = row["first_time_ns"] if row["first_time_ns"] is not None else coverage["first_time_ns"]
    last = row["last_time_ns"] if row["last_time_ns"] is not None else coverage["last_time_ns"]
    return (0, 1) if first is None or last is None else (first, max(last, first + 1))


def captured(dataset: Dataset, origin: int, first: int, last: int) -> list[list[int]]:
    """The times that files cover, joined where they touch, ns from the origin: what lies between them is not known."""
    rows = dataset.query(
        "SELECT first_time_ns, last_time_ns FROM captures WHERE first_time_ns IS NOT NULL ORDER BY first_time_ns"
    )
    slack = max((last - first) // 400, 1_000_000_000)
    spans: list[list[int]] = []
    for row in rows:
        begin, end = row["first_time_ns"] - origin, row["last_time_ns"] - origin
        if spans and begin <= spans[-1][1] + slack:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([begin, end])
    return spans


def _readable(dataset: Dataset) -> dict[str, Any]:
    """What could not be read, for everything and for each question that a section of the page answers."""
    asks = (
        "everything",
        "findings",
        "latency",
        "throttle",
        "errors",
        "topics",
        "groups",
        "transactions",
        "clients",
        "unanswered",
        "readiness",
    )
    verdicts = {ask: readability(dataset, ask) for ask in asks}
    return {
        ask: {
            "verdict": verdict.verdict,
            "sentence": harmless(sentence(verdict)),
            "reasons": [reason.kind for reason in verdict.reasons],
        }
        for ask, verdict in verdicts.items()
    }


def _filters(dataset: Dataset) -> str:
    from analyzer.report.readability_words import asked

    return asked(dataset.filters) if dataset.filters else ""


def _finding(facts: Facts, number: int, finding: Finding, origin: int, words: str) -> dict[str, Any]:
    """A finding as `kanalyze findings --format json` has it, moments counted from the origin, and the commands beside it."""
    found = as_object(finding)
    for each in (found, *found["symptoms"]):
        for name in ("first_time_ns", "last_time_ns"):
            each[name] = value(name, each[name], origin)
    found["numbers"] = {name: value(name, each, origin) for name, each in found["numbers"].items()}
    found["number"] = number
    found["mark"] = mark(finding).removeprefix(", ")
    found["extract"] = (
        facts.ask("kanalyze extract") + words + f" --finding {number} --comment -o finding-{number}.pcapng"
    )
    found["shows"] = [facts.show(each.exchange) for each in finding.evidence]
    return dict(harmless(found))


def meaning(metric: str) -> str:
    """What the head of a metric's file says: its question, and what its columns mean."""
    lines = []
    for line in metric_text(metric).splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    return " ".join(lines).replace("`", "")


def filter_words(filters: Filters) -> str:
    """The filters as options of a command line, quoted for a shell, with a blank in front; empty without filters.

    Two numbers are the same only if they are about the same requests, so each command of the page has them.
    """
    globs = {"client": filters.clients, "broker": filters.brokers, "api": filters.apis, "topic": filters.topics}
    globs |= {"namespace": filters.namespaces, "zone": filters.zones}
    words = [(f"--{name}", glob) for name, given in globs.items() for glob in given]
    for name, ns in (("from", filters.from_ns), ("to", filters.to_ns)):
        if ns is not None:
            words.append((f"--{name}", moment(ns, 9).replace(" ", "T")))
    return "".join(f" {name} {argument(glob)}" for name, glob in words)


def _span(ns: int) -> str:
    """A length of time as `--every` takes it."""
    for unit, name in ((3_600_000_000_000, "h"), (60_000_000_000, "m"), (1_000_000_000, "s")):
        if ns % unit == 0:
            return f"{ns // unit}{name}"
    return f"{ns // 1_000_000}ms"
