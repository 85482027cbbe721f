"""Messages that are newer than their schema: what proves itself at the beginning of the body (`schema/newer_versions.py`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dissectors.errors import DissectError
from dissectors.kafka.messages.interpreter import Interpreter
from dissectors.kafka.messages.nodes import Node, Struct
from dissectors.kafka.messages.wire import Wire
from dissectors.kafka.schema import newer_versions

if TYPE_CHECKING:
    from dissectors.kafka.messages.room import Room
    from dissectors.kafka.schema.fields import Api

_SOFTWARE = re.compile("[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?")


def read_front(api: Api, direction: str, wire: Wire, room: Room) -> Struct | None:
    """The first fields of the body that begins at `wire.at`, if each of them is plausible; None: nothing proves itself.

    Moves `wire` behind them.
    """
    wanted = newer_versions.front(api, direction)
    trial = Wire(wire.data, wire.at)
    found = Struct()
    reader = Interpreter(trial, api.versions.last, True, [], room)
    try:
        for field in wanted.fields:
            reader.field(field, found)
        end = trial.at
        if wanted.length and not _is_plausible_length(trial, wanted.may_be_null):
            return None
    except DissectError:
        return None
    if not wanted.fields or not all(map(_is_plausible, found.fields.values())):
        return None
    wire.at = end
    return found


def _is_plausible_length(wire: Wire, may_be_null: bool) -> bool:
    size = wire.unsigned_varint() - 1
    return size <= wire.left and (size >= 0 or may_be_null)


def _is_plausible(node: Node) -> bool:
    assert node.field is not None
    if "throttle" in node.field.roles:
        return 0 <= node.value <= newer_versions.MOST_THROTTLE_MS
    if "error" in node.field.roles:
        return newer_versions.LEAST_ERROR <= node.value <= newer_versions.most_error()
    return (
        isinstance(node.value, str)
        and len(node.value) <= newer_versions.MOST_TEXT_BYTES
        and bool(_SOFTWARE.fullmatch(node.value))
    )
