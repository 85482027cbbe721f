"""Error codes that belong to normal operation, and those that never do: facts for `errors.expected` and for the report.

An expected code that goes on beyond its time is a failure. Codes are Kafka's (protocol guide, "Error Codes").
"""

from __future__ import annotations

ANY = "*"

# (API, code) -> seconds for which it is normal; None: always.
EXPECTED: dict[tuple[str, int], int | None] = {
    (ANY, 89): None,  # a throttle, not a failure
    (ANY, 14): 10,
    (ANY, 16): 10,
    (ANY, 41): 10,
    ("JoinGroup", 79): None,
    ("Heartbeat", 27): None,
    ("SyncGroup", 27): None,
    ("OffsetCommit", 27): None,
    ("FindCoordinator", 15): 10,
    ("ApiVersions", 35): None,
    ("Fetch", 70): None,
    ("Fetch", 71): None,
    ("Fetch", 106): None,
    ("ShareFetch", 122): None,
    ("ShareFetch", 123): None,
    **{(api, code): 10 for api in ("Fetch", "Produce") for code in (5, 6, 74, 75, 78)},
    ("Metadata", 3): 5,
    ("Metadata", 5): 5,
    **{(api, 51): 5 for api in ("AddPartitionsToTxn", "InitProducerId", "Produce")},
    ("OffsetFetch", 88): None,
    ("ConsumerGroupDescribe", 69): None,
    ("ElectLeaders", 84): None,
    ("CreateTopics", 36): None,
    ("GetTelemetrySubscriptions", 117): None,
    ("PushTelemetry", 117): None,
}

# Success in disguise: the broker had the records already.
DUPLICATE_SEQUENCE_NUMBER = 46

# Never normal, whatever the API: work was refused, lost or done twice.
FAILURES = frozenset({-1, 1, 2, 7, 10, 19, 20, 22, 25, 29, 30, 31, 45, 47, 56, 58, 82, 90, 110, 113, 120})


def is_expected(api: str | None, code: int, lasted_ns: int) -> bool:
    """True when `code`, seen from `api` over `lasted_ns`, belongs to normal operation."""
    if code == DUPLICATE_SEQUENCE_NUMBER:
        return True
    key = (api or "", code) if (api or "", code) in EXPECTED else (ANY, code)
    if key not in EXPECTED:
        return False
    seconds = EXPECTED[key]
    return seconds is None or lasted_ns <= seconds * 1_000_000_000
