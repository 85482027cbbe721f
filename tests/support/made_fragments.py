"""Fragments with chosen keys and payloads, and nothing else in them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from analyzer.distributed import fragments


def made_fragments(flows: Sequence[int], numbers: Sequence[int], payloads: Sequence[bytes]) -> pa.Table:
    """Of kind SEGMENT."""
    count = len(flows)
    columns = [flows, numbers, bytes(count), [bytes(fragments.WIDTH)] * count, payloads]
    return pa.table(
        {
            field.name: pa.array(list(values), field.type)
            for field, values in zip(fragments.schema(), columns, strict=True)
        },
        schema=fragments.schema(),
    )
