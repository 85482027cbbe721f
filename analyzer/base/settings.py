"""The settings of a question about the tables: what to group by, how fine in time, which duration to measure.

Metrics read them as the view `settings`, one row; so a metric is one text for all settings. There is one flag per
dimension, `by_<name>`: null when the user named none (the metric then groups as it does by default), else true or
false. `every_ns` is the length of a time slot, null for the whole time. A `subject` is the group that a request names,
else its topic; unlike `topic` it counts a request with several topics once. An `error` is the first error code of the reply,
0 where there is none. An `app` is the application that a client is of, else its client id.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzer.base.filters import literal

DIMENSIONS = (
    "api", "version", "error", "client", "app", "principal", "broker", "topic", "partition", "group", "subject", "connection",
    "pod", "namespace", "workload", "zone",
)  # fmt: skip
# Of these the rows have one, in `client_name`.
NAMES = ("pod", "namespace", "workload", "zone")
# latency: from the last byte of the request to the first of the reply; service: the broker's own part of it, as far as packets
# tell; broker: the same only where they prove it, and the reply says that it was not throttled; total: from the first byte of the
# request to the last of the reply.
MEASURES = ("latency", "service", "broker", "total")
# What the table of a verb begins with: the most of one thing; the first word is what costs most.
SORTS = {
    "latency": {"cost": "p99 x count", "count": "", "p99": "", "max": "", "errors": ""},
    "throttle": {
        "cost": "throttle time",
        "count": "throttled replies",
        "share": "throttled of all replies",
        "max": "longest one",
    },
    "errors": {"cost": "failures, before codes of normal operation", "count": "", "lasted": "", "burst": ""},
    "clients": {
        "cost": "time waited, without waits by design",
        "requests": "",
        "bytes": "",
        "errors": "",
        "throttled": "",
    },
    "topics": {"cost": "bytes written and read", "written": "", "read": "", "lag": "", "errors": ""},
    "groups": {
        "cost": "time in rebalances",
        "rebalances": "",
        "lag": "",
        "commits": "",
        "errors": "with failed commits",
    },
}
COST = "cost"
# A metric lists at most so many time slots.
MOST_SLOTS = 10_000
_READ = re.compile(r"\bs\.(\w+)\b")


@dataclass(frozen=True, slots=True)
class Settings:
    """`by`: names of DIMENSIONS, empty for the metric's own; `every_ns`: length of a time slot, ns, None for one;
    `measure`: one of MEASURES, the duration that percentiles are of; `most`: latency is asked of the so many keys, without their
    slots, that come first, None: of all; `sort`: a word of SORTS, what the rows are ordered by; `price`: what a GB across
    zones costs, None: it is not known; `partition`: name or id of a topic and number of its partition, None: all partitions.
    """

    by: tuple[str, ...] = ()
    every_ns: int | None = None
    measure: str = "latency"
    most: int | None = None
    sort: str = COST
    price: float | None = None
    partition: tuple[str, int] | None = None

    def __post_init__(self) -> None:
        for name in self.by:
            if name not in DIMENSIONS:
                raise ValueError(f"cannot group by {name!r}; there are: {', '.join(DIMENSIONS)}")
        if len(set(self.by) & set(NAMES)) > 1:
            raise ValueError(f"cannot group by several of {', '.join(NAMES)} at the same time")
        if self.measure not in MEASURES:
            raise ValueError(f"cannot measure {self.measure!r}; there are: {', '.join(MEASURES)}")
        if not any(self.sort in words for words in SORTS.values()):
            raise ValueError(f"cannot sort by {self.sort!r}")
        if self.price is not None and not 0 <= self.price < float("inf"):
            raise ValueError(f"invalid price: {self.price}")
        if self.every_ns is not None and self.every_ns < 1:
            raise ValueError(f"invalid time slot: {self.every_ns} ns")

    def sql(self) -> str:
        """The SELECT of the view `settings`."""
        return f"SELECT {', '.join(f'{value} AS {name}' for name, value in self._values().items())}"

    def folded(self, sql: str) -> str:
        """`sql` with the values in place of columns of `settings AS s`. The answer is the same, but an engine that sees the values
        reads no column that is not needed.
        """
        values = self._values()
        return _READ.sub(lambda found: values.get(found[1], found[0]), sql)

    def _values(self) -> dict[str, str]:
        """Column -> SQL of its value."""
        every = "NULL" if self.every_ns is None else str(self.every_ns)
        flags = {f"by_{name}": str(name in self.by).lower() if self.by else "NULL" for name in DIMENSIONS}
        casts = {name: f"CAST({value} AS BOOLEAN)" for name, value in flags.items()}
        words = {"measure": f"'{self.measure}'", "sort": f"'{self.sort}'"}
        price = {"price": f"CAST({'NULL' if self.price is None else repr(self.price)} AS DOUBLE)"}
        topic, number = self.partition or (None, None)
        story = {
            "story_topic": "CAST(NULL AS VARCHAR)" if topic is None else literal(topic),
            "story_partition": f"CAST({'NULL' if number is None else number} AS INTEGER)",
        }
        return {"every_ns": f"CAST({every} AS BIGINT)"} | words | price | story | casts
