"""Whether the same requests were captured twice: of connections under other addresses, or carried on by a proxy.

That is asked before any view of the final tables is made: nearly all captures have none, and then the views that find such
connections are left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.query import resolve
from analyzer.query.dataset import Dataset

# So many connections, pairs of them and exchanges are looked at here, which takes less time than a plan.
FEW = 500
MOST_EXCHANGES = 20_000
_VIEWS = ("view_legs", "proxy_parts", "part_marks", "silent_halves", "redirected_legs", "forward_pairs")
# Legs of one connection are seen at the same time but for this (`resolve/view_legs.sql`).
_LEGS_APART_NS = 100_000_000
_LAGS_APART_NS = 20_000_000
# Those of a proxy with an address on each side begin and end so near to each other (`resolve/proxy_parts.sql`).
_BEGINS_APART_NS = 250_000_000
_ENDS_APART_NS = 5_000_000_000
# When a proxy connects, after it was connected to.
_EARLY_NS = 1_000_000
_LATE_NS = 10_000_000_000
_FRAMED = ["part", "client_side", "requests", "a_framed_bytes", "b_framed_bytes"]
_REQUEST = ["part", "request_time_ns", "client_id", "api_key", "api_version", "correlation_id", "request_bytes"]
# What a proxy may answer itself: ApiVersions, SaslHandshake, SaslAuthenticate.
_OWN = (18, 17, 36)
_OTHERS = ["a_packets", "b_packets", "a_lag_least_ns", "b_lag_least_ns", "origin"]
_SIDES = [f"{side}_{what}" for side in "ab" for what in ("address", "port", "start_seq", "stream_bytes", "gap_bytes")]


class _Asked(NamedTuple):
    """What a connection (a part) asked of a server, and when (ns). Of a `whole` one all was captured."""

    part: int
    client: str
    endpoint: tuple[str, int]
    requests: int
    request_bytes: float
    reply_bytes: float
    begin: int
    end: int
    has_begin: bool
    is_whole: bool


def is_any(folders: Sequence[Path], rows: Callable[[], Mapping[str, str]]) -> bool:
    """Whether connections whose raw tables lie in `folders` may be legs of one (`resolve/view_legs.sql`, `redirected_legs.sql`), or
    of one behind a proxy (`forward_pairs.sql`). `rows`: gives SQL of these tables, or of `part_marks` in place of exchanges."""
    parts, framed, exchanges = (
        [path for folder in folders if (path := folder / f"raw_{name}.parquet").exists()]
        for name in ("parts", "framed_parts", "exchanges")
    )
    if not parts or not _may_be(parts, framed, exchanges):
        return False
    views = {name: resolve.sql(name) for name in _VIEWS} | dict(rows())
    with Dataset(views, materialized=("proxy_parts",), threads=1, simple_plans=True) as dataset:

        def has(view: str) -> bool:
            return bool(dataset.query(f"SELECT 1 AS found FROM {view} LIMIT 1"))

        # A redirected connection is two halves, of one side each.
        halves = bool(dataset.query("SELECT 1 FROM raw_parts WHERE (a_packets = 0) <> (b_packets = 0) LIMIT 1"))
        return has("view_legs") or (halves and has("redirected_legs")) or (has("proxy_parts") and has("forward_pairs"))


def _may_be(parts: Sequence[Path], framed: Sequence[Path], exchanges: Sequence[Path]) -> bool:
    """False: all begin and end with other sequence numbers, and no host has the same requests as a client and as a server."""
    import pyarrow.parquet as pq

    if sum(pq.read_metadata(path).num_rows for path in parts) > FEW:
        return True
    # What has no time was with nothing else at the same time.
    read = _rows(parts, ["part", *_SIDES, "first_time_ns", "last_time_ns", "syn", "close", *_OTHERS])
    rows = {row[0]: row[1:] for row in read if None not in row[11:13]}
    if _share_numbers(rows.values()) or _are_halves(rows.values()):
        return True
    asked = [
        _asked(rows[row[0]], row) for row in _rows(framed, _FRAMED) if row[2] and row[1] is not None and row[0] in rows
    ]
    pairs = list(islice(chain(_serve_and_ask(asked), _side_by_side(asked)), FEW))
    return len(pairs) == FEW or (bool(pairs) and _ask_the_same(pairs, exchanges))


def _rows(paths: Sequence[Path], columns: list[str]) -> Iterator[tuple[Any, ...]]:
    import pyarrow.parquet as pq

    for path in paths:
        yield from zip(*(column.to_pylist() for column in pq.ParquetFile(path).read(columns).columns), strict=True)


def _share_numbers(rows: Iterable[tuple[Any, ...]]) -> bool:
    """Some of the conditions of `resolve/view_legs.sql`."""
    seen = defaultdict[int, list[tuple[Any, ...]]](list)
    for row in rows:
        own: dict[int, tuple[Any, ...]] = {}
        for (start, size, gaps), *lags in ((row[2:5], *row[16:18]), (row[7:10], *row[17:15:-1])):
            if start is not None:
                own |= dict.fromkeys((start, (start + size + gaps) % 2**32), (*row[10:12], row[18] >> 20, *lags))
        if any(_may_be_legs(one, other) for number, one in own.items() for other in seen.get(number, ())):
            return True
        for number, one in own.items():
            seen[number].append(one)
    return False


def _may_be_legs(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether both were there at the same time, and the clocks of the same hosts wrote their timestamps, where there are some."""
    lags = [x - y for x, y in zip(one[3:], other[3:], strict=True) if x is not None and y is not None]
    turn = 2**32 * 10**6
    drift = _LAGS_APART_NS + abs(one[0] - other[0]) // 1000
    return max(one[0], other[0]) - min(one[1], other[1]) <= _LEGS_APART_NS and (
        one[2] != other[2] or not lags or min(abs((lag + turn // 2) % turn - turn // 2) for lag in lags) <= drift
    )


def _are_halves(rows: Iterable[tuple[Any, ...]]) -> bool:
    """Some of the conditions of `resolve/redirected_legs.sql` and `silent_halves.sql`: one end sends on a connection without an
    answer, and gets packets on another one."""
    one_way = [
        (row[0:2], row[5:7]) if row[14] else (row[5:7], row[0:2]) for row in rows if (row[14] > 0) != (row[15] > 0)
    ]
    return not {sender for sender, _ in one_way}.isdisjoint(receiver for _, receiver in one_way)


def _asked(row: tuple[Any, ...], framed: tuple[Any, ...]) -> _Asked:
    part, client_side, requests, *sizes = framed
    ends = (row[0:2], row[5:7])
    mean = [size / requests for size in sizes]
    begin, end, syn, close = row[10:14]
    is_whole = syn % 2 == 1 and close != "none" and row[4] + row[9] == 0
    means = (mean[client_side], mean[1 - client_side])
    return _Asked(
        part, ends[client_side][0], ends[1 - client_side], requests, *means, begin, end, syn % 2 == 1, is_whole
    )


def _serve_and_ask(every: Iterable[_Asked]) -> Iterator[tuple[_Asked, _Asked]]:
    """Pairs as in `resolve/proxy_parts.sql` where a host is server and client, but for the point of capture."""
    serving, asking = defaultdict[str, list[_Asked]](list), defaultdict[str, list[_Asked]](list)
    for asked in every:
        serving[asked.endpoint[0]].append(asked)
        asking[asked.client].append(asked)
    for host, served in serving.items():
        yield from ((y, x) for y in asking.get(host, ()) for x in served if _carries_on(y, x))


def _carries_on(y: _Asked, x: _Asked) -> bool:
    """Whether a host may have asked with `y` what it was asked with `x`."""
    is_whole = x.is_whole and y.is_whole
    return (
        x.endpoint != y.endpoint
        and x.begin <= y.end
        and y.begin <= x.end
        and not (x.has_begin and y.has_begin and not -_EARLY_NS <= y.begin - x.begin <= _LATE_NS)
        and min(x.requests, y.requests) * (1.1 if is_whole else 20) + 2 >= max(x.requests, y.requests)
        and _within(1.5 if is_whole else 5, x.request_bytes, y.request_bytes)
        and _within(2 if is_whole else 20, x.reply_bytes, y.reply_bytes)
    )


def _side_by_side(every: Iterable[_Asked]) -> Iterator[tuple[_Asked, _Asked]]:
    """Pairs as in `resolve/proxy_parts.sql` that begin together and are alike, in so many exchanges between the same ends
    that it may be no chance."""
    recent: list[_Asked] = []
    met = defaultdict[frozenset[tuple[str, int]], list[tuple[_Asked, _Asked]]](list)
    for y in sorted(every, key=lambda asked: asked.begin):
        recent = [x for x in recent if y.begin - x.begin <= _BEGINS_APART_NS]
        for x in recent:
            if _are_alike(x, y):
                met[frozenset((x.endpoint, y.endpoint))].append((y, x))
        recent.append(y)
    for ends, pairs in met.items():
        # `least_met` of `resolve/proxy_parts.sql`.
        least = 4 if any(_is_loopback(address) for address, _ in ends) else 8
        if sum(max(x.requests, y.requests) for y, x in pairs) >= least:
            yield from pairs


def _ask_the_same(pairs: Iterable[tuple[_Asked, _Asked]], exchanges: Sequence[Path]) -> bool:
    """Whether three quarters of the requests that one connection of a pair had while there were both may be those of the other, as
    they are or numbered anew: a condition of `resolve/forwarded.sql`. True, too, where that is not at hand or takes longer than to
    ask the engine."""
    import pyarrow.parquet as pq

    if not exchanges or sum(pq.read_metadata(path).num_rows for path in exchanges) > MOST_EXCHANGES:
        return True
    asked = defaultdict[int, list[tuple[int, tuple[Any, ...]]]](list)
    for part, time, *request in _rows(exchanges, _REQUEST):
        if time is not None:
            asked[part].append((time, tuple(request)))
    for pair in pairs:
        begin, end = max(one.begin for one in pair), min(one.end for one in pair)
        ours, others = ([request for time, request in asked[one.part] if begin <= time <= end] for one in pair)
        if _share_most(ours, others) or _share_most(_kinds(ours), _kinds(others)):
            return True
    return False


def _kinds(requests: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Who asked for what, without the numbers and sizes that a proxy may change, and without what it may answer itself."""
    return [request[:3] for request in requests if request[1] not in _OWN]


def _share_most(ours: list[tuple[Any, ...]], others: list[tuple[Any, ...]]) -> bool:
    met = (Counter(ours) & Counter(others)).total()
    return met > 0 and met * 4 >= min(len(ours), len(others)) * 3


def _are_alike(x: _Asked, y: _Asked) -> bool:
    return (
        x.endpoint != y.endpoint
        and (x.client != y.client or _is_loopback(x.endpoint[0]) or _is_loopback(y.endpoint[0]))
        and abs(x.end - y.end) <= _ENDS_APART_NS
        and min(x.requests, y.requests) * 1.1 + 2 >= max(x.requests, y.requests)
        and _within(1.5, x.request_bytes, y.request_bytes)
        and _within(2, x.reply_bytes, y.reply_bytes)
    )


def _is_loopback(address: str) -> bool:
    return address.startswith("127.") or address == "::1"


def _within(times: float, one: float, other: float) -> bool:
    return min(one, other) * times >= max(one, other)
