"""What is read of a message whose version is newer than its schema: only what proves itself.

A new version may change a body anywhere. What has stayed in all of Kafka's history is the beginning of replies: the throttle time,
then an error code, or one of them. So by the newest version that is known `front` names the fields that come first and are a
throttle time or an error code; of requests, those that tell the client's software, with which ApiVersions begins. They are read
together or not at all: when each of them is plausible, and a length behind them too. Nothing behind them is guessed: it may be
another field, or of another type.

Plausible is

- a throttle time of 0 to MOST_THROTTLE_MS: quotas are measured in windows of seconds, so brokers announce seconds;
- an error code from LEAST_ERROR to the greatest that is known. 0 is no news: another error may be behind it;
- a name or version of software as KIP-511 wants it, of at most MOST_TEXT_BYTES: letters, digits, dots and hyphens, a letter or
  digit first and last;
- the length or count of what follows, when it is no longer than the message, and null only where null is foreseen.

What remains possible: a version that inserts a small number before a throttle time or an error code, or a text before the name
of the software, is read wrongly where the length behind it looks right by chance. Kafka has not done so up to 4.4: a test reads
each version of each message by the one before.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from dissectors.kafka.schema.error_codes import known_errors
from dissectors.kafka.schema.fields import Api, Field

MOST_THROTTLE_MS = 3_600_000
LEAST_ERROR = -1
MOST_TEXT_BYTES = 64

# Role of a field that may be read -> its type; by direction.
_ROLES = {
    "request": {"software_name": "string", "software_version": "string"},
    "response": {"throttle": "int32", "error": "int16"},
}
_SIZED = ("string", "bytes", "records")


class Front(NamedTuple):
    """The fields that may be read, in their order, and what is checked behind them: a `length`, if one follows, which is null only
    if it `may_be_null`."""

    fields: tuple[Field, ...]
    length: bool
    may_be_null: bool


def is_newer(api: Api | None, version: int) -> bool:
    """Whether the version is beyond the newest that the schema of an API knows; False without a schema."""
    return api is not None and version > api.versions.last


def front(api: Api, direction: str) -> Front:
    """What may be read of a newer "request" or "response" of an API. Without fields: nothing."""
    wanted = _ROLES[direction]
    version = api.versions.last
    fields: list[Field] = []
    for each in api.message(direction).fields:
        if version not in each.versions or each.tag is not None:
            continue
        if (
            each.is_array
            or _may_be_null(each, version)
            or not any(wanted.get(role) == each.type for role in each.roles)
        ):
            return Front(tuple(fields), each.is_array or each.type in _SIZED, _may_be_null(each, version))
        fields.append(each)
    return Front(tuple(fields), False, False)


@cache
def most_error() -> int:
    """The greatest error code that is plausible."""
    return max(known_errors())


def _may_be_null(field: Field, version: int) -> bool:
    return field.nullable is not None and version in field.nullable
