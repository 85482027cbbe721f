"""The plan of very many objects, without storage: what the driver takes for it once each is listed and its first bytes were read.

plan.py [OBJECTS]     A million by default: of one capture point, 26 MB each, one behind the other; about ten make a task. What is
                      asked of storage for each is counted by tests/system/objects.
"""

from __future__ import annotations

import resource
import sys
from time import process_time

from analyzer.distributed.plan import plan
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.sources import Beginning, Source
from analyzer.spark.stages import packed_tasks

SIZE_BYTES = 26_000_000
SECOND_NS = 10**9


def main(count: int) -> None:
    names = (f"s3://captures/kafka1/{number:07}.pcap.zst" for number in range(count))
    sources = [
        Source(
            name,
            size_bytes=SIZE_BYTES,
            uri=name,
            is_packed=True,
            beginning=Beginning(number * SECOND_NS, b"", (number + 1) * SECOND_NS - 1),
        )
        for number, name in enumerate(names)
    ]
    began = process_time()
    made = plan(in_time_order(sources), task_bytes := 10 * 4 * SIZE_BYTES)
    planned = process_time() - began
    packs = packed_tasks([(task, frozenset()) for task in made.tasks])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        f"{count:,} objects: {len(made.tasks):,} tasks of {task_bytes / 1e6:,.0f} MB unpacked; plan {planned:.1f} CPU s, "
        f"packed {process_time() - began - planned:.1f} CPU s, {sum(map(len, packs)) / len(made.tasks):.0f} bytes a task; "
        f"at most {peak / 1e6:,.0f} MB"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
