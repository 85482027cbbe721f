"""What the schema language describes: APIs, their two messages, structs inside byte fields, and their fields."""

from __future__ import annotations

from dataclasses import dataclass

OPEN = 32767

_PRIMITIVES = "bool int8 int16 uint16 int32 uint32 int64 float64 string bytes records uuid"

# What a field may mean to the analysis: the first three mark arrays (whose elements become rows, count as topics, count
# as partitions), the fourth an array of what leaves a fetch session, all others single values. @secret, @secret_by_name,
# @secret_if_marked and @echo (text that may repeat a secret) say what is not shown: `analyzer/messages/secrets.py`.
# @embedded marks bytes that hold a message of their own, @protocol_type the field that tells which one.
_ROLES = """
    row topics partitions forgotten
    topic topic_id partition entity
    error message throttle records count
    secret secret_by_name secret_if_marked echo
    embedded protocol_type
    group member generation transactional_id
    offset high_watermark last_stable_offset log_start_offset leader_epoch timestamp preferred_read_replica
    replica_id acks max_wait min_bytes isolation_level session_id session_epoch timeout rack
    software_name software_version mechanism
    broker producer_id producer_epoch
"""

PRIMITIVES = frozenset(_PRIMITIVES.split())
ROLES = frozenset(_ROLES.split())


class SchemaError(ValueError):
    """A schema file that does not follow the language; the message begins with file:line."""


@dataclass(frozen=True, slots=True)
class Span:
    """Versions `first` to `last`, both included; `last` is 32767 where the text says `4+`."""

    first: int
    last: int

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version <= self.last

    def __str__(self) -> str:
        if self.last == OPEN:
            return f"{self.first}+"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Field:
    """One line of a schema file.

    `type` is a primitive or "struct"; `fields` are those of a struct; `is_array` makes it an array of `type`.
    `nullable`: the versions in which null is expected. A field with a `tag` is written in the tagged section, in its
    `versions`. `level` is the level of an error that its line gives (`@error(group)`); None: it follows from where the
    field is (`roles.error_levels`). `default` is the text after "="; None: the zero of the type. `number` is unique
    in the message, from 0 in the order of the file. `embedded` is what bytes hold: "request" or "response" for a whole
    frame, else the name of a file in `definitions/embedded`.
    """

    name: str
    type: str
    is_array: bool
    versions: Span
    nullable: Span | None
    tag: int | None
    roles: tuple[str, ...]
    level: str | None
    default: str | None
    comment: str
    fields: tuple[Field, ...]
    number: int
    embedded: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """Direction ("request" or "response") and the fields of one side of an API; `comment` is what its line says."""

    direction: str
    fields: tuple[Field, ...]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Api:
    """One API key: every version that this project can read.

    `gone` are the versions that Kafka removed in release `gone_in` ("4.0"); `unstable` those that only brokers with
    unstable versions enabled know.
    """

    key: int
    name: str
    versions: Span
    flexible: Span | None
    gone: Span | None
    gone_in: str | None
    unstable: Span | None
    request: Message
    response: Message

    def message(self, direction: str) -> Message:
        return self.request if direction == "request" else self.response

    def is_flexible(self, version: int) -> bool:
        return self.flexible is not None and version in self.flexible


@dataclass(frozen=True, slots=True)
class EmbeddedSchema:
    """A struct that is inside a bytes field, or in the key or value of a record.

    It begins with an int16, its version; with `has_prefix` that precedes the fields, else it is the first of them.
    With `reads_newer` a version beyond the last one is read as that, and what follows is ignored. `protocol` is the
    protocol type of the groups that use it; None: the field or record alone decides.
    """

    name: str
    versions: Span
    flexible: Span | None
    reads_newer: bool
    has_prefix: bool
    protocol: str | None
    fields: tuple[Field, ...]
    comment: str

    def is_flexible(self, version: int) -> bool:
        return self.flexible is not None and version in self.flexible


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of an API key without its schema: enough to read its headers.

    `versions` are those of Kafka 3.9.1 and later, together; `flexible_from` is above all versions when none is flexible.
    """

    name: str
    versions: Span
    flexible_from: int
