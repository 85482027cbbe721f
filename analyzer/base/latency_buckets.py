"""The logarithmic buckets in which durations are counted; SQL of metrics makes the same ones.

Bucket b holds durations in (2^((b - 1) / 64), 2^(b / 64)] seconds, the buckets of Prometheus' native histograms of schema 6 and
(numbered one lower) of OpenTelemetry's exponential histograms of scale 6. A duration told by the middle of its bucket is at
most 0.55 % from the exact one.
"""

from __future__ import annotations

PER_DOUBLING = 64
# What took no time has no logarithm. One ns is in bucket -1,913.
NO_TIME = -2_000


def middle_ns(bucket: int) -> int:
    """The duration that represents those of a bucket, in ns."""
    return 0 if bucket == NO_TIME else round(1e9 * 2 ** ((bucket - 0.5) / PER_DOUBLING))
