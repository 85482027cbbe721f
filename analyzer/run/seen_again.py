"""Whether connections were captured again under other addresses: before any view of the final tables is made, as nearly all
captures have none, and then the views that join such connections are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analyzer.query import resolve
from analyzer.query.dataset import Dataset
from analyzer.query.table_views import parquet

NUMBERS = [f"{side}_{what}" for side in "ab" for what in ("start_seq", "stream_bytes", "gap_bytes")]
FEW = 10_000


def has_legs(folders: Sequence[Path]) -> bool:
    """Whether connections whose raw tables lie in `folders` may be legs of one (`resolve/view_legs.sql`)."""
    parts = [path for folder in folders if (path := folder / "raw_parts.parquet").exists()]
    if not _may_share_numbers(parts):
        return False
    framed = [path for folder in folders if (path := folder / "raw_framed_parts.parquet").exists()]
    views = {"raw_parts": parquet(parts), "raw_framed_parts": parquet(framed), "view_legs": resolve.sql("view_legs")}
    with Dataset(views, threads=1) as dataset:
        return bool(dataset.query("SELECT 1 AS found FROM view_legs LIMIT 1"))


def _may_share_numbers(parts: Sequence[Path]) -> bool:
    """Whether two directions of connections may begin or end with the same sequence number. Few connections are asked here, which
    takes less time than a plan."""
    import pyarrow.parquet as pq

    if sum(pq.read_metadata(path).num_rows for path in parts) > FEW:
        return True
    seen: set[int] = set()
    for path in parts:
        for a_start, a_bytes, a_gaps, b_start, b_bytes, b_gaps in zip(
            *(column.to_pylist() for column in pq.read_table(path, columns=NUMBERS).columns), strict=True
        ):
            ends = [(a_start, a_bytes + a_gaps), (b_start, b_bytes + b_gaps)]
            own = {number for start, size in ends if start is not None for number in (start, (start + size) % 2**32)}
            if own & seen:
                return True
            seen |= own
    return False
