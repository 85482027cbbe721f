"""What a message was understood as: a tree of values with their places in the frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dissectors.errors import DissectError
    from dissectors.kafka.schema.fields import Field


@dataclass(slots=True)
class Node:
    """A value and the bytes [start, end) of the frame that hold it; a tagged field that is absent has start == end.

    `value` is None, bool, int, float, str, bytes (uuid: its 16), a memoryview (records), a Struct, or a list of Nodes.
    `field` is its line of the schema; None in headers and for elements of arrays. `embedded` is the message that bytes
    hold; None where they hold none, or nobody can tell which.
    """

    name: str
    value: Any
    start: int
    end: int
    field: Field | None
    embedded: Explained | Embedded | None = None


@dataclass(slots=True)
class Struct:
    """Fields in wire order, then the absent tagged ones at their default; and tagged fields that we do not know."""

    fields: dict[str, Node] = field(default_factory=dict)
    unknown_tags: dict[int, bytes] = field(default_factory=dict)

    def value(self, name: str) -> Any:
        """The value of a field; None when there is none."""
        node = self.fields.get(name)
        return None if node is None else node.value


@dataclass(slots=True)
class Explained:
    """A frame as it was understood. `body` is None when not even its first byte could be looked at.

    With `error` set, header and body hold what came before it. `body_version` is `version` but for an ApiVersions
    answer that fell back to 0. `leftover_bytes` follow the end of the body.
    """

    api_key: int
    version: int
    direction: str
    header: Struct
    body: Struct | None
    body_version: int
    notes: list[str]
    leftover_bytes: int
    error: DissectError | None


@dataclass(slots=True)
class Embedded:
    """A struct inside a bytes field, or in the key or value of a record; places are those of the frame around it.

    `schema` is Apache's name of it, `version` what its first int16 says; `header` holds that number where it is not a
    field of the struct. The rest is as in Explained, except that `leftover_bytes` of a newer version than ours are
    fields that we do not know.
    """

    schema: str
    version: int
    header: Struct
    body: Struct
    notes: list[str]
    leftover_bytes: int
    error: DissectError | None
