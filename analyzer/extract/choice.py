"""Which connections are wanted, and what is said at their packets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from analyzer.base.filters import literal
from analyzer.base.settings import Settings
from analyzer.base.text import exchange_id, printable
from analyzer.query.incidents import Finding
from analyzer.report.format import duration
from analyzer.report.known_partitions import Unknown, check
from analyzer.report.sentences import sentence
from dissectors.layout import UNKNOWN

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

    # (source high, low, port, destination high, low, port), as the columns of a segment.
    Flow = tuple[int, int, int, int, int, int]
    Window = tuple[int, int]
    Spans = dict[Flow, tuple[Window, ...]]

_MAPPED = 0xFFFF << 32
_MOST_IN_STATEMENT = 1_000


class ChoiceError(ValueError):
    """What was asked for is not in the captures; the message is for a person."""


@dataclass
class Choice:
    """Ids of connections; `comments`: (file, packet) -> texts; `spans`: when packets of each flow belong to them. `windows`: times
    (first, last); outside these only what names something is wanted; None: connections are wanted whole; without
    `names` what names something is not wanted either."""

    connections: set[int]
    windows: list[Window] | None = None
    names: bool = True
    spans: Spans = field(default_factory=dict)
    comments: dict[tuple[int, int], list[str]] = field(default_factory=dict)


def of_exchanges(dataset: Dataset, exchanges: Sequence[int]) -> set[int]:
    """The connections of exchanges. Raises ChoiceError for one that is not there."""
    return _known(dataset, exchanges, "exchange", "all_exchanges")


def in_partitions(dataset: Dataset, partitions: Iterable[tuple[str, int]]) -> list[int]:
    """The exchanges in the stories of partitions. Raises ChoiceError for one that nothing is about."""
    found: set[int] = set()
    for each in partitions:
        try:
            check(dataset, each)
        except Unknown as problem:
            raise ChoiceError(str(problem)) from problem
        dataset.choose(Settings(partition=each))
        _, portions = dataset.metric_in_portions("partition_story")
        found |= {row["exchange"] for portion in portions for row in portion}
    dataset.choose(Settings())
    return sorted(found)


def of_connections(dataset: Dataset, connections: Sequence[int]) -> set[int]:
    """The same for connections themselves."""
    return _known(dataset, connections, "connection", "all_connections")


def _known(dataset: Dataset, ids: Sequence[int], key: str, table: str) -> set[int]:
    if not ids:
        return set()
    rows = dataset.query(f"SELECT {key} AS id, connection FROM {table} WHERE {key} IN ({listed(dataset, ids)})")
    if missing := set(ids) - {row["id"] for row in rows}:
        raise ChoiceError(f"there is no {key} {exchange_id(min(missing))}; `kanalyze {key}s` lists all")
    return {row["connection"] for row in rows}


def of_findings(dataset: Dataset, chosen: Iterable[Finding]) -> set[int]:
    """The connections that findings and their symptoms name. Raises ChoiceError for a finding that names none."""
    wanted: set[int] = set()
    for each in chosen:
        found = {connection for one in (each, *each.symptoms) for connection in _named(dataset, one)}
        if not found:
            raise ChoiceError(f"the finding {each.rule.name} names no connection; choose by --client or --broker")
        wanted |= found
    return wanted


def of_evidence(dataset: Dataset, chosen: Iterable[Finding]) -> set[int]:
    """The connections of what shows findings and their symptoms; none where nothing is shown."""
    return of_exchanges(
        dataset, [shown.exchange for each in chosen for one in (each, *each.symptoms) for shown in one.evidence]
    )


def _named(dataset: Dataset, finding: Finding) -> set[int]:
    """Those of its evidence, and all of the client's host that it is about at its time; of the broker's where it names nothing
    else."""
    row = finding.row
    found = of_exchanges(dataset, [each.exchange for each in finding.evidence])
    found |= {row["connection"]} - {None} if "connection" in row else set()
    client, broker = row.get("client_address"), row.get("broker")
    about = [] if client is None else [f"client_address = {literal(client)}"]
    if broker is not None:
        about.append(f"{literal(broker)} IN (broker_address, broker_address || ':' || broker_port)")
    if not about or (found and client is None):
        return found
    begin, end = row.get("first_time_ns"), row.get("last_time_ns")
    if begin is not None and end is not None:
        about.append(f"coalesce(last_time_ns >= {begin} AND first_time_ns <= {end}, true)")
    rows = dataset.query(f"SELECT connection FROM all_connections WHERE {' AND '.join(about)}")
    return found | {row["connection"] for row in rows}


def all_of(dataset: Dataset) -> set[int]:
    """All connections."""
    return {row["connection"] for row in dataset.query("SELECT connection FROM all_connections")}


def of_filters(dataset: Dataset) -> set[int]:
    """The connections of all exchanges that the dataset's filters leave."""
    return {row["connection"] for row in dataset.query("SELECT DISTINCT connection FROM exchanges")}


def that_name_things(dataset: Dataset, connections: set[int]) -> set[int]:
    """Connections whose Metadata names the brokers of the same clusters and the topics behind ids, and those that tell who owns
    the delegation tokens of a login: without them, rows of the chosen connections would not say which broker, topic and user
    they are about."""
    if not connections:
        return set()
    chosen = f"(SELECT * FROM all_exchanges WHERE connection IN ({listed(dataset, connections)}))"
    rows = dataset.query(
        "WITH metadata AS (SELECT x.exchange, x.connection, c.cluster FROM all_exchanges AS x JOIN all_connections AS c "
        "ON c.connection = x.connection WHERE x.api_key = 3 AND x.status = 'answered'), "
        f"ids AS (SELECT DISTINCT e.topic_id FROM all_entries AS e JOIN {chosen} AS x ON x.exchange = e.exchange "
        "WHERE e.topic_id IS NOT NULL), "
        f"clusters AS (SELECT DISTINCT cluster FROM all_connections WHERE connection IN ({listed(dataset, connections)})) "
        "SELECT min(m.connection) AS connection FROM metadata AS m JOIN clusters AS c ON c.cluster = m.cluster "
        "GROUP BY m.cluster UNION "
        "SELECT min(m.connection) AS connection FROM all_entries AS e JOIN metadata AS m ON m.exchange = e.exchange "
        "JOIN ids AS i ON i.topic_id = e.topic_id GROUP BY i.topic_id UNION "
        "SELECT x.connection FROM all_exchanges AS x WHERE x.api_key IN (38, 41) AND x.status = 'answered' AND EXISTS "
        f"(SELECT 1 FROM all_logins WHERE token_id IS NOT NULL AND connection IN ({listed(dataset, connections)}))"
    )
    return {row["connection"] for row in rows} - connections


def windows_around(
    dataset: Dataset, chosen: Iterable[Finding], exchanges: Sequence[int], around_ns: int
) -> list[Window]:
    """The times of exchanges, and of the evidence of findings (without any, of what they found), with so much before and behind."""
    times: list[tuple[Any, Any]]
    times = [(each.row.get("first_time_ns"), each.row.get("last_time_ns")) for each in chosen if not each.evidence]
    ids = [*exchanges, *(shown.exchange for each in chosen for one in (each, *each.symptoms) for shown in one.evidence)]
    rows = dataset.query(
        "SELECT least(request_time_ns, response_time_ns) AS first, greatest(request_end_ns, response_end_ns, request_time_ns, "
        f"response_time_ns) AS last FROM all_exchanges WHERE exchange IN ({listed(dataset, ids)})"
    )
    times += [(row["first"], row["last"]) for row in rows]
    merged: list[Window] = []
    for first, last in sorted(
        (first - around_ns, last + around_ns) for first, last in times if None not in (first, last)
    ):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return merged


def _naming_times(dataset: Dataset, connections: set[int]) -> dict[int, list[Window]]:
    """When exchanges of these connections name something: software, logins, brokers, topics, tokens; beginnings of sessions."""
    found: dict[int, list[Window]] = {}
    for row in dataset.query(
        "SELECT connection, request_time_ns AS first, coalesce(response_end_ns, response_time_ns, request_end_ns, request_time_ns) "
        f"AS last FROM all_exchanges WHERE connection IN ({listed(dataset, connections)}) AND request_time_ns IS NOT NULL "
        "AND (api_key IN (3, 17, 18, 36, 38, 41) OR (api_key = 1 AND session_epoch = 0)) ORDER BY request_time_ns"
    ):
        found.setdefault(row["connection"], []).append((row["first"], row["last"]))
    return found


def add_spans(dataset: Dataset, choice: Choice) -> None:
    """Fills in which flows are wanted, and when."""
    found: dict[Flow, list[Window]] = {}
    named = {} if choice.windows is None or not choice.names else _naming_times(dataset, choice.connections)
    for row in dataset.query(
        "SELECT connection, client_address, client_port, broker_address, broker_port, first_time_ns, last_time_ns "
        f"FROM all_connections WHERE connection IN ({listed(dataset, choice.connections)})"
    ):
        ends = [(*_halves(row[f"{end}_address"]), row[f"{end}_port"]) for end in ("client", "broker")]
        first, last = row["first_time_ns"], row["last_time_ns"]
        spans = [(UNKNOWN, UNKNOWN) if None in (first, last) else (first, last)]
        if choice.windows is not None and spans[0][0] != UNKNOWN:
            clipped = ((max(first, begin), min(last, end)) for begin, end in choice.windows)
            spans = [*(span for span in clipped if span[0] <= span[1]), *named.get(row["connection"], ())]
        for source, target in (ends, reversed(ends)):
            found.setdefault((*source, *target), []).extend(spans)
    choice.spans = {flow: tuple(spans) for flow, spans in found.items()}


def _halves(address: str) -> tuple[int, int]:
    """An address as two signed 64-bit halves; IPv4 is ::ffff:a.b.c.d."""
    parsed = ip_address(address)
    number = int(parsed) | (_MAPPED if parsed.version == 4 else 0)
    high, low = number >> 64, number & (1 << 64) - 1
    return high - (high >> 63 << 64), low - (low >> 63 << 64)


def add_comments(dataset: Dataset, choice: Choice, findings: Sequence[tuple[int, Finding]]) -> None:
    """Says at the packets where messages of the chosen connections begin what they are, and what was found (number, finding)."""
    for row in dataset.query(
        "SELECT exchange, api_name, api_version, correlation_id, status, kind, latency_ns, error_code, request_file, "
        "request_packet, response_file, response_packet FROM all_exchanges "
        f"WHERE connection IN ({listed(dataset, choice.connections)})"
    ):
        for side in ("request", "response"):
            if row[f"{side}_packet"] is not None:
                place = row[f"{side}_file"], row[f"{side}_packet"]
                choice.comments.setdefault(place, []).append(_said(row, side))
    numbers = {row["path"]: row["file"] for row in dataset.query("SELECT path, file FROM captures")}
    for number, each in findings:
        text = printable(f"kanalyze finding {number}, {each.severity}: {sentence(each.rule.says, each.row)}")
        for shown in each.evidence:
            if shown.path in numbers and shown.packet is not None:
                choice.comments.setdefault((numbers[shown.path], shown.packet), []).append(text)


def _said(row: dict[str, Any], side: str) -> str:
    """kanalyze: Fetch v17 response, correlation id 7, exchange 00c3..., answered after 12 ms, error code 6"""
    name = row["api_name"] or "a message"
    version = "" if row["api_version"] is None else f" v{row['api_version']}"
    parts = [f"kanalyze: {name}{version} {side}", f"correlation id {row['correlation_id']}"]
    parts += [f"exchange {exchange_id(row['exchange'])}", row["status"].replace("_", " ")]
    if row["latency_ns"] is not None:
        parts[-1] += f" after {duration(row['latency_ns'])}"
    if side == "response" and row["error_code"]:
        parts.append(f"error code {row['error_code']}")
    return printable(", ".join(parts))


def listed(dataset: Dataset, ids: Collection[int]) -> str:
    """Ids for IN (...). Many are in a table: the engine holds kilobytes for each value of a statement while it plans."""
    text = ", ".join(str(number) for number in sorted(ids))
    if len(ids) <= _MOST_IN_STATEMENT:
        return text or "NULL"
    name = f"ids_{hash(frozenset(ids)) & (1 << 63) - 1}"
    dataset.connection().execute(
        f"CREATE TABLE IF NOT EXISTS {name} AS SELECT unnest(CAST('[{text}]' AS BIGINT[])) AS id"
    )
    return f"SELECT id FROM {name}"
