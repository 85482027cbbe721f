"""Request and response headers (KIP-482): which version of a header precedes a message.

The rule: a flexible message has request header v2 (with tagged fields) and response header v1, every other one v1 and
v0. The exceptions are the two constants below. A version that is newer than its schema is flexible, and so is an API that nobody
knows: since KIP-482 every new version is.
"""

from __future__ import annotations

from dissectors.kafka.schema.lookup import known_keys

# The one request whose header ends after the correlation id: (key, version).
CONTROLLED_SHUTDOWN_0 = (7, 0)
# A client that asks with an unknown version must be able to read the answer, so this header never changes.
API_VERSIONS = 18


def is_flexible(key: int, version: int) -> bool:
    """Whether a message has compact lengths and tagged fields."""
    known = known_keys().get(key)
    return known is None or version >= known.flexible_from or version > known.versions.last


def request_version(key: int, version: int) -> int:
    """0: key, version, correlation id; 1: and a client id, its length never compact; 2: and tagged fields."""
    if (key, version) == CONTROLLED_SHUTDOWN_0:
        return 0
    return 2 if is_flexible(key, version) else 1


def response_version(key: int, version: int) -> int:
    """0: correlation id; 1: and tagged fields."""
    return 1 if is_flexible(key, version) and key != API_VERSIONS else 0
