"""Structs inside byte fields, and in the keys and values of control records: subscriptions, assignments, principals.

The schema files say which field holds which struct (`@embedded`). Sources: the schemas of Apache Kafka 4.3.1,
KIP-98 and KIP-595 (control records), KIP-590 (principals).
"""

from __future__ import annotations

from dissectors.errors import DissectError, Unsupported
from dissectors.kafka.messages.interpreter import Interpreter
from dissectors.kafka.messages.nodes import Embedded, Struct
from dissectors.kafka.messages.room import Room
from dissectors.kafka.messages.wire import Wire
from dissectors.kafka.schema import lookup


def read_struct(name: str, data: bytes | memoryview) -> Embedded:
    """Reads all of `data` as the struct of `definitions/embedded/NAME.kafka`; places count from its start.

    Never raises for what the bytes say: `error` then holds the Malformed, Unsupported or Limited.
    """
    wire = Wire(data)
    wire.whole = True
    return read_struct_at(name, wire, Room())


def read_struct_at(name: str, wire: Wire, room: Room) -> Embedded:
    """The same from where `wire` is up to its end, as far as there is room."""
    known = lookup.embedded(name)
    found = Embedded(known.name, 0, Struct(), Struct(), [], 0, None)
    begin = wire.at
    try:
        Interpreter(wire, 0, False, found.notes, room).plain(found.header, "version", wire.int16)
        found.version = found.header.value("version")
        if not known.has_prefix:
            found.header, wire.at = Struct(), begin
        version = min(found.version, known.versions.last) if known.reads_newer else found.version
        if version not in known.versions:
            wanted = f"{known.name} version {known.versions}"
            raise Unsupported(wire.where(), begin, wanted, f"version {found.version}")
        Interpreter(wire, version, known.is_flexible(version), found.notes, room).struct(known.fields, found.body)
        found.leftover_bytes = wire.left
    except DissectError as error:
        found.error = error
    return found
