"""Error codes that belong to normal operation, and those that never do: facts for `errors.expected` and for the report.

An expected code that goes on beyond its time is a failure. Codes are Kafka's (protocol guide, "Error Codes").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

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

# The same, but only where what the client does next shows that nothing is wrong.
# (API, code) -> the API of which a later request of the client must be answered without an error.
FOLLOWED: dict[tuple[str, int], str] = {
    ("ApiVersions", 35): "ApiVersions",  # asked again in a version that the broker knows
    ("ConsumerGroupDescribe", 69): "DescribeGroups",  # no group of that protocol: ask the older way
}
API_KEYS = {"ApiVersions": 18, "DescribeGroups": 15}
# Codes of which the time counts from the client's first request about a topic: it may be on its way.
ON_FIRST_USE = frozenset({("Metadata", 3), ("Metadata", 5)})

# Success in disguise: the broker had the records already.
DUPLICATE_SEQUENCE_NUMBER = 46

# Never normal, whatever the API: work was refused, lost or done twice.
FAILURES = frozenset({-1, 1, 2, 7, 10, 19, 20, 22, 25, 29, 30, 31, 45, 47, 56, 58, 82, 90, 110, 113, 120})
# Of those, what a replica may meet on its way back into the group of replicas.
NO_FAILURES_OF_BROKERS = frozenset({1})


class Rule(NamedTuple):
    """How to judge a code of an API. `name`: always, passing (for `seconds` in a row), first_use (for `seconds` from its first
    time), followed (`by`, the key of an API, is answered later) or never (`client_only`: not judged between brokers)."""

    name: str
    seconds: int | None = None
    by: int | None = None
    client_only: bool = False


def rules(keys: Mapping[str, int]) -> Iterator[tuple[int | None, int, Rule]]:
    """(API key, code, rule) for the APIs of `keys` (name -> key); a rule with key None is for those without their own."""
    for code in sorted(FAILURES | {DUPLICATE_SEQUENCE_NUMBER} | {code for api, code in EXPECTED if api == ANY}):
        yield None, code, _rule(ANY, code)
    for api, code in sorted(EXPECTED):
        if api in keys:
            yield keys[api], code, _rule(api, code)


def _rule(api: str, code: int) -> Rule:
    if code in FAILURES:
        return Rule("never", client_only=code in NO_FAILURES_OF_BROKERS)
    if (api, code) in FOLLOWED:
        return Rule("followed", by=API_KEYS[FOLLOWED[api, code]])
    seconds = EXPECTED.get((api, code))
    if seconds is None:
        return Rule("always")
    return Rule("first_use" if (api, code) in ON_FIRST_USE else "passing", seconds)


def is_expected(api: str | None, code: int, lasted_ns: int) -> bool:
    """True when `code`, seen from `api` over `lasted_ns`, belongs to normal operation."""
    if code == DUPLICATE_SEQUENCE_NUMBER:
        return True
    key = (api or "", code) if (api or "", code) in EXPECTED else (ANY, code)
    if key not in EXPECTED:
        return False
    seconds = EXPECTED[key]
    return seconds is None or lasted_ns <= seconds * 1_000_000_000
