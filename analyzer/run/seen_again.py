"""Whether the same requests were captured twice: of connections under other addresses, or carried on by a proxy.

That is asked before any view of the final tables is made: nearly all captures have none, and then the views that find such
connections are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.query import resolve
from analyzer.query.dataset import Dataset

# So many connections are asked here, which takes less time than a plan.
FEW = 500
_VIEWS = ("view_legs", "proxy_parts", "part_marks", "forward_pairs")
TOGETHER_NS = 100_000_000
_FRAMED = ["part", "client_side", "requests", "a_framed_bytes", "b_framed_bytes"]
_SIDES = [f"{side}_{what}" for side in "ab" for what in ("address", "port", "start_seq", "stream_bytes", "gap_bytes")]


class _Asked(NamedTuple):
    """What a connection asked of a server."""

    endpoint: tuple[str, int]
    requests: int
    reply_bytes: float


def is_any(folders: Sequence[Path], rows: Callable[[], Mapping[str, str]]) -> bool:
    """Whether connections whose raw tables lie in `folders` may be legs of one (`resolve/view_legs.sql`), or of one behind a proxy
    (`resolve/forward_pairs.sql`). `rows`: gives SQL of these tables, or of `part_marks` in place of exchanges."""
    parts, framed = (
        [path for folder in folders if (path := folder / f"raw_{name}.parquet").exists()]
        for name in ("parts", "framed_parts")
    )
    if not parts or not _may_be(parts, framed):
        return False
    views = {name: resolve.sql(name) for name in _VIEWS} | dict(rows())
    with Dataset(views, materialized=("proxy_parts",), threads=1, simple_plans=True) as dataset:

        def has(view: str) -> bool:
            return bool(dataset.query(f"SELECT 1 AS found FROM {view} LIMIT 1"))

        return has("view_legs") or (has("proxy_parts") and has("forward_pairs"))


def _may_be(parts: Sequence[Path], framed: Sequence[Path]) -> bool:
    """False: all begin and end with other sequence numbers, and no host is client and server of connections alike."""
    import pyarrow.parquet as pq

    if sum(pq.read_metadata(path).num_rows for path in parts) > FEW:
        return True
    rows = {row[0]: row[1:] for row in _rows(parts, ["part", *_SIDES, "first_time_ns", "last_time_ns"])}
    return _share_numbers(rows.values()) or _serve_and_ask(rows, _rows(framed, _FRAMED))


def _rows(paths: Sequence[Path], columns: list[str]) -> Iterator[tuple[Any, ...]]:
    import pyarrow.parquet as pq

    for path in paths:
        yield from zip(*(column.to_pylist() for column in pq.ParquetFile(path).read(columns).columns), strict=True)


def _share_numbers(rows: Iterable[tuple[Any, ...]]) -> bool:
    """Some of the conditions of `resolve/view_legs.sql`."""
    seen = defaultdict[int, list[tuple[int, int]]](list)
    for row in rows:
        first, last = row[10:12]
        sides = ((start, size + gaps) for start, size, gaps in (row[2:5], row[7:10]) if start is not None)
        own = {number for start, size in sides for number in (start, (start + size) % 2**32)}
        if any(max(first, x) - min(last, y) <= TOGETHER_NS for number in own for x, y in seen.get(number, ())):
            return True
        for number in own:
            seen[number].append((first, last))
    return False


def _serve_and_ask(rows: Mapping[int, tuple[Any, ...]], framed: Iterable[tuple[Any, ...]]) -> bool:
    """Some of the conditions of `resolve/proxy_parts.sql`."""
    serving, asking = defaultdict[str, list[_Asked]](list), defaultdict[str, list[_Asked]](list)
    for part, client_side, requests, *sizes in framed:
        if requests and client_side is not None and part in rows:
            ends = (rows[part][0:2], rows[part][5:7])
            asked = _Asked(ends[1 - client_side], requests, sizes[1 - client_side] / requests)
            serving[asked.endpoint[0]].append(asked)
            asking[ends[client_side][0]].append(asked)
    return any(
        x.endpoint != y.endpoint
        and min(x.requests, y.requests) * 20 >= max(x.requests, y.requests)
        and min(x.reply_bytes, y.reply_bytes) * 20 >= max(x.reply_bytes, y.reply_bytes)
        for host, served in serving.items()
        for y in asking.get(host, ())
        for x in served
    )
