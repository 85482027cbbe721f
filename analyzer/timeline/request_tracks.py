"""Exchanges as tracks and slices: client, connection, and below it as many lines as requests were in flight at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analyzer.base.text import exchange_id, printable, shown_name
from analyzer.base.wait_kinds import kind_of
from analyzer.query.sql_words import folded
from analyzer.timeline import perfetto_format as perfetto

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

# A browser holds about 2 GB and needs some kB for a request with its parts.
MOST_REQUESTS = 200_000
MOST_FLOWS = 50_000
# In the order in which they are drawn; how a wait in a queue and one for a throttle alternate, nobody knows.
_PARTS = (
    ("send", "send_ns"),
    ("queue", "queue_part_ns"),
    ("throttle", "throttle_part_ns"),
    ("proxy", "proxy_part_ns"),
    ("broker", "broker_part_ns"),
    ("network", "network_ns"),
    ("unknown: broker or network", "unknown_ns"),
    ("receive", "receive_ns"),
)
_REQUESTS = """
SELECT exchange, connection, client_id, client_address, client_port, broker_address, broker_port, broker_id, api_name, api_version,
    kind, status, error_code, throttle_time_ms, request_time_ns, response_end_ns, response_time_ns, total_ns, request_packet,
    response_packet, request_bytes, response_bytes, send_ns, queue_part_ns, throttle_part_ns, proxy_part_ns,
    broker_part_ns, network_ns, unknown_ns, receive_ns
FROM exchange_parts
WHERE request_time_ns IS NOT NULL AND coalesce(response_end_ns, response_time_ns) >= request_time_ns
ORDER BY request_time_ns, exchange
"""
# A batch and the first Fetch of each client that brought it as it was sent; of the newest offset of a batch there is one.
_DELIVERED = folded(f"""
WITH carried AS (
    SELECT b.exchange, coalesce(b.topic, b.topic_id) AS topic, b.partition, b.stored_last_offset, b.side,
        coalesce(c.cluster, '') AS cluster, x.client_id, x.client_address, x.request_time_ns, x.response_end_ns
    FROM batches AS b
        JOIN exchanges AS x ON x.exchange = b.exchange
        JOIN connections AS c ON c.connection = b.connection
    WHERE b.stored_last_offset IS NOT NULL AND is_client(x.role)
)
SELECT p.exchange AS produced, min_by(f.exchange, (f.response_end_ns, f.exchange)) AS fetched
FROM carried AS p JOIN carried AS f
    ON f.side = 'response' AND f.cluster = p.cluster AND f.topic = p.topic AND f.partition = p.partition
    AND f.stored_last_offset = p.stored_last_offset AND f.response_end_ns >= p.request_time_ns
WHERE p.side = 'request'
GROUP BY p.exchange, f.client_id, f.client_address
ORDER BY produced, fetched
LIMIT {MOST_FLOWS}
""")


class TooMany(ValueError):
    """More requests than a viewer can show; the text says how many, and what to do."""


def packets(dataset: Dataset) -> Iterator[bytes]:
    """The pieces of the trace, in order. Raises TooMany before the first one; DatasetError."""
    (row,) = dataset.query("SELECT count(*) AS requests, min(request_time_ns) AS first_ns FROM exchanges")
    if row["requests"] > MOST_REQUESTS:
        raise TooMany(
            f"{row['requests']:,} requests are more than a browser can show ({MOST_REQUESTS:,}): choose some with --client, "
            "--broker, --api, --topic, --from and --to"
        )
    yield perfetto.head(row["first_ns"] or 0)
    flows: dict[int, list[int]] = defaultdict(list)
    ends: dict[int, list[int]] = defaultdict(list)
    for number, pair in enumerate(dataset.query(_DELIVERED), 1):
        flows[pair["produced"]].append(number)
        ends[pair["fetched"]].append(number)
    tracks = _Tracks()
    for exchange in dataset.query(_REQUESTS):
        yield from tracks.exchange(exchange, tuple(flows[exchange["exchange"]]), tuple(ends[exchange["exchange"]]))


class _Tracks:
    """Tracks are described when their first slice comes."""

    def __init__(self) -> None:
        self._clients: dict[tuple[Any, ...], int] = {}
        # Connection -> its lines: the track, and when its last slice ends.
        self._lines: dict[int, list[list[int]]] = defaultdict(list)
        self._tracks = 0

    def exchange(self, row: dict[str, Any], flows: tuple[int, ...], ends: tuple[int, ...]) -> Iterator[bytes]:
        begins = row["request_time_ns"]
        ended = row["response_end_ns"] if row["response_end_ns"] is not None else row["response_time_ns"]
        line = next((each for each in self._lines[row["connection"]] if each[1] <= begins), None)
        if line is None:
            made, line = self._line(row)
            yield from made
        line[1] = ended
        yield perfetto.begin(line[0], begins, _name(row), _about(row), flows, ends)
        yield from _parts(line[0], row, begins, ended)
        yield perfetto.end(line[0], ended)

    def _line(self, row: dict[str, Any]) -> tuple[list[bytes], list[int]]:
        key = (row["client_id"], row["client_address"])
        made = []
        if key not in self._clients:
            self._clients[key] = self._new()
            name = shown_name(f"{row['client_id'] or 'client'} at {row['client_address']}")
            made.append(perfetto.track(self._clients[key], name))
        lines = self._lines[row["connection"]]
        more = f" ({len(lines) + 1})" if lines else ""
        broker = f"{row['broker_address']}:{row['broker_port']}"
        name = f"port {row['client_port']} to {broker}{more}"
        lines.append([self._new(), 0])
        made.append(perfetto.track(lines[-1][0], name, self._clients[key]))
        return made, lines[-1]

    def _new(self) -> int:
        self._tracks += 1
        return self._tracks


def _parts(line: int, row: dict[str, Any], begins: int, ended: int) -> Iterator[bytes]:
    """What is known of where the time went, one behind the other, within the request."""
    at = begins
    for name, column in _PARTS:
        length = min(row[column] or 0, ended - at)
        if length > 0:
            yield perfetto.begin(line, at, name)
            at += length
            yield perfetto.end(line, at)


def _name(row: dict[str, Any]) -> str:
    words = kind_of(row["kind"]).words
    return printable(row["api_name"] or "unknown API") + (f", {words}" if words else "")


def _about(row: dict[str, Any]) -> dict[str, str | int]:
    about: dict[str, str | int] = {"exchange": exchange_id(row["exchange"])}
    names = (
        "api_version",
        "request_packet",
        "response_packet",
        "request_bytes",
        "response_bytes",
        "error_code",
        "throttle_time_ms",
    )
    return about | {name: row[name] for name in names if row[name] is not None}
