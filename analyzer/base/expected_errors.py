"""Error codes that are normal operation, and those that never are: the rules for `errors.expected` and for the report.

An expected code that is returned for longer than its time is a failure. Codes are Kafka's (protocol guide, "Error Codes").
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
    # A session that is gone is opened anew at once; again and again, none is kept.
    ("ShareFetch", 122): 10,
    ("ShareFetch", 123): 10,
    **{(api, code): 10 for api in ("Fetch", "Produce") for code in (5, 6, 74, 75, 78)},
    # Asked while leadership moves: a broker hears of the new leader's epoch later or earlier than who asks.
    ("OffsetForLeaderEpoch", 74): 10,
    ("OffsetForLeaderEpoch", 75): 10,
    ("Metadata", 3): 5,
    ("Metadata", 5): 5,
    **{(api, 51): 5 for api in ("AddPartitionsToTxn", "InitProducerId", "Produce")},
    ("OffsetFetch", 88): 10,
    ("ConsumerGroupDescribe", 69): None,
    ("ElectLeaders", 84): None,
    ("CreateTopics", 36): None,
    ("GetTelemetrySubscriptions", 117): None,
    ("PushTelemetry", 117): 60,  # the client asks for its subscription, and pushes again
}

# Codes that are normal only if the client goes on as it should, or for their seconds in a row, if they have any:
# (API, code) -> the API whose later request of the client must be answered without an error.
FOLLOWED: dict[tuple[str, int], str] = {
    ("ApiVersions", 35): "ApiVersions",  # the client asks again with a version that the broker knows
    # The markers of the transaction before are still being written: the producer tries again until it may go on.
    ("AddPartitionsToTxn", 51): "AddPartitionsToTxn",
    ("ConsumerGroupDescribe", 69): "DescribeGroups",  # not a group of the new protocol: the client uses the older API
    ("JoinGroup", 79): "JoinGroup",  # the client joins again under the member id that it was given (KIP-394)
}
API_KEYS = {"AddPartitionsToTxn": 24, "ApiVersions": 18, "DescribeGroups": 15, "JoinGroup": 11}
# Codes whose time counts from the client's first request about a topic, which may be under creation.
ON_FIRST_USE = frozenset({("Metadata", 3), ("Metadata", 5)})

# Not an error: the broker had the records already.
DUPLICATE_SEQUENCE_NUMBER = 46

# Never normal, whatever the API: work was refused, lost or done twice.
FAILURES = frozenset({-1, 1, 2, 7, 10, 19, 20, 22, 25, 29, 30, 31, 45, 47, 56, 58, 82, 90, 110, 113, 120})
# Failures that a replica may meet while it catches up: normal between brokers.
NORMAL_BETWEEN_BROKERS = frozenset({1})


class Rule(NamedTuple):
    """When a code of an API is normal. `name`: always, passing (for at most `seconds` in a row), first_use (for `seconds` from its
    first time), followed (a request of the API with key `by` is answered later, or `seconds` are not over) or never
    (`client_only`: not judged between brokers).
    """

    name: str
    seconds: int | None = None
    by: int | None = None
    client_only: bool = False


def rules(keys: Mapping[str, int]) -> Iterator[tuple[int | None, int, Rule]]:
    """(API key, code, rule) for the APIs of `keys` (name -> key); a rule with key None is for all APIs without one of their own."""
    for code in sorted(FAILURES | {DUPLICATE_SEQUENCE_NUMBER} | {code for api, code in EXPECTED if api == ANY}):
        yield None, code, _rule(ANY, code)
    for api, code in sorted(EXPECTED):
        if api in keys:
            yield keys[api], code, _rule(api, code)


def _rule(api: str, code: int) -> Rule:
    if code in FAILURES:
        return Rule("never", client_only=code in NORMAL_BETWEEN_BROKERS)
    if (api, code) in FOLLOWED:
        return Rule("followed", EXPECTED[api, code], API_KEYS[FOLLOWED[api, code]])
    seconds = EXPECTED.get((api, code))
    if seconds is None:
        return Rule("always")
    return Rule("first_use" if (api, code) in ON_FIRST_USE else "passing", seconds)


def is_expected(api: str | None, code: int, lasted_ns: int | None) -> bool | None:
    """Whether `code`, returned by `api` for `lasted_ns` (None: not known), is normal operation; None: that time would tell."""
    if code == DUPLICATE_SEQUENCE_NUMBER:
        return True
    key = (api or "", code) if (api or "", code) in EXPECTED else (ANY, code)
    if key not in EXPECTED:
        return False
    seconds = EXPECTED[key]
    if seconds is None:
        return True
    return None if lasted_ns is None else lasted_ns <= seconds * 1_000_000_000
