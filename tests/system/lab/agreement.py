"""Compares exchanges with the broker's log and with the frame list: pure functions that are tested themselves.

An exchange is a dict with the columns of table `exchanges` plus `error_codes`, the codes of its reply's rows in table
`errors`. The log's README names what a broker does not log; each such reason is a function of its own here, and an
exchange or a log line that has none of them is a difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from oracle import FrameRow, LogLine, broker_of

Exchange = dict[str, Any]

METADATA, SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE, ENVELOPE = 3, 17, 18, 36, 58
UNSUPPORTED_VERSION = 35
# The log's times are whole milliseconds, and its clock is read a moment after the packet was captured.
LOG_SLACK_NS = 2_000_000


@dataclass
class Matching:
    """Which log line belongs to which exchange, and what is left on both sides."""

    pairs: list[tuple[LogLine, Exchange]] = field(default_factory=list)
    lines: list[LogLine] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)


def requests(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """The rows that stand for a request frame, in the order of the capture: no orphaned replies, no SASL tokens."""
    rows = (row for row in exchanges if row["status"] != "orphan_reply" and row["kind"] != "sasl_token")
    return sorted(rows, key=lambda row: row["request_time_ns"])


def connection_name(exchange: Exchange) -> str:
    broker = f"{exchange['broker_address']}:{exchange['broker_port']}"
    return f"{broker}-{exchange['client_address']}:{exchange['client_port']}"


def match(exchanges: Iterable[Exchange], lines: Iterable[LogLine]) -> Matching:
    """Pairs by connection, correlation id and API key, in order of occurrence: ids and ports come again.

    A forwarded line has the header of a client's request and the connection of the envelope around it: never a frame.
    """
    waiting: dict[tuple[str, int, int], deque[Exchange]] = defaultdict(deque)
    for row in requests(exchanges):
        waiting[connection_name(row), row["correlation_id"], row["api_key"]].append(row)
    found = Matching()
    for line in lines:
        queue = waiting.get((line.connection, line.correlation_id, line.api_key))
        if line.forwarded or not queue:
            found.lines.append(line)
        else:
            found.pairs.append((line, queue.popleft()))
    found.exchanges = [row for queue in waiting.values() for row in queue]
    return found


def line_reasons(found: Matching) -> Counter[str]:
    """Why log lines have no exchange, counted; what nothing explains is counted as `unexplained`."""
    rows = [row for _, row in found.pairs] + found.exchanges
    first = min((row["request_time_ns"] for row in rows), default=0)
    last = max((row["response_end_ns"] or row["request_end_ns"] for row in rows), default=0)

    def reason(line: LogLine) -> str:
        if line.forwarded:
            return "forwarded"
        if line.started_ns < first or line.logged_ns > last:
            return "edge of the capture"
        return "unexplained"

    return Counter(map(reason, found.lines))


def host_of(connection: str) -> str:
    """The host of its broker."""
    return broker_of(connection).rpartition(":")[0]


def exchange_reasons(found: Matching) -> Counter[str]:
    """Why exchanges have no log line, counted; what nothing explains is counted as `unexplained`."""
    log = [line for line, _ in found.pairs] + found.lines
    # Of each host: a broker that is killed takes its last lines with it.
    logged: dict[str, list[int]] = defaultdict(list)
    for line in log:
        logged[host_of(line.connection)].append(line.logged_ns)
    sasl_brokers = {broker_of(line.connection) for line in log if line.sasl}
    times: dict[str, list[int]] = defaultdict(list)
    for _, row in found.pairs:
        times[connection_name(row)].append(row["request_time_ns"])

    def reason(row: Exchange) -> str:
        name = connection_name(row)
        if row["api_key"] == ENVELOPE:
            return "envelope"
        if broker_of(name) in sasl_brokers and row["api_key"] in (SASL_HANDSHAKE, SASL_AUTHENTICATE):
            return "login"
        logged_before = any(time <= row["request_time_ns"] for time in times[name])
        logged_after = any(time >= row["request_time_ns"] for time in times[name])
        if broker_of(name) in sasl_brokers and row["api_key"] == API_VERSIONS and not logged_before:
            return "before a login"
        if row["response_time_ns"] is None and not logged_after:
            return "never answered"
        end = row["response_end_ns"]
        told = logged[host_of(name)]
        if end is not None and not (told and min(told) + LOG_SLACK_NS < end < max(told) - LOG_SLACK_NS):
            return "edge of the log"
        return "unexplained"

    return Counter(map(reason, found.exchanges))


def log_differences(line: LogLine, row: Exchange) -> Iterator[str]:
    """What the broker says of a request and the exchange does not."""
    yield from _unequal("api_version", row["api_version"], line.api_version)
    yield from _unequal("client_id", row["client_id"] or "", line.client_id)
    replied = row["response_time_ns"] is not None
    if not line.answered:
        yield from _unequal("status", row["status"], "no_reply_expected")
    elif replied:
        yield from _unequal("status", row["status"], "answered")
        yield from _body_differences(line, row)
    elif row["status"] not in ("pending", "closed", "abandoned", "reply_lost"):
        yield f"status: {row['status']}, but the log has an answer"


def _body_differences(line: LogLine, row: Exchange) -> Iterator[str]:
    # A client may ask in a version that nobody but its own release knows; the broker answers in version 0.
    unknown_version = line.api_key == API_VERSIONS and UNSUPPORTED_VERSION in line.errors
    # librdkafka ends its Metadata requests for all topics with bytes too many, which brokers pass over.
    passed_over = row["request_decoded"] == "trailing" and line.api_key == METADATA
    if not passed_over and not (unknown_version and row["request_decoded"] == "unsupported"):
        yield from _unequal("request_decoded", row["request_decoded"], "full")
    yield from _unequal("response_decoded", row["response_decoded"], "full")
    yield from _unequal("throttle_time_ms", row["throttle_time_ms"], line.throttle_time_ms)
    yield from _unequal("error codes", Counter(row["error_codes"]), Counter(line.errors))
    yield from _unequal("error_count", row["error_count"] or 0, len(line.errors))
    yield from _unequal("error_code", row["error_code"] or 0, line.errors[0] if line.errors else 0)


def _unequal(what: str, ours: object, theirs: object) -> Iterator[str]:
    if ours != theirs:
        yield f"{what}: {ours!r}, the log says {theirs!r}"


def frame_row(exchange: Exchange) -> FrameRow:
    """An exchange as the frame list would write it: sizes without the four bytes of the length field."""
    response_bytes = exchange["response_bytes"]
    return FrameRow(
        connection=connection_name(exchange),
        correlation_id=exchange["correlation_id"],
        api_key=exchange["api_key"],
        api_version=exchange["api_version"],
        request_bytes=exchange["request_bytes"] - 4,
        response_bytes=None if response_bytes is None else response_bytes - 4,
        request_first_ns=exchange["request_time_ns"],
        request_last_ns=exchange["request_end_ns"],
        response_first_ns=exchange["response_time_ns"],
        response_last_ns=exchange["response_end_ns"],
    )


def frame_differences(exchanges: Iterable[Exchange], frames: Sequence[FrameRow]) -> Iterator[str]:
    """Rows of the frame list that we have not, to the byte and the nanosecond, and rows of ours that it has not."""
    ours = Counter(
        frame_row(row) if row["status"] != "orphan_reply" else f"orphaned reply {row['correlation_id']}"
        for row in exchanges
        if row["kind"] != "sasl_token"
    )
    theirs = Counter(frames)
    yield from (f"missing: {row}" for row in (theirs - ours).elements())
    yield from (f"invented: {row}" for row in (ours - theirs).elements())
