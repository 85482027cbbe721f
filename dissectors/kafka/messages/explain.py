"""The reference interpreter: one message as a tree of values with their places, or as much of it as can be read.

The compiled walker must agree with it; of messages with bytes left over it takes less into columns (`walk_message`). Messages
inside bytes fields (subscriptions, assignments, forwarded requests) are read too and kept beside the bytes, as `Node.embedded`.
"""

from __future__ import annotations

from functools import cache

from dissectors.errors import DissectError, Unsupported
from dissectors.kafka.messages.embedded import read_struct_at
from dissectors.kafka.messages.interpreter import Interpreter, default_value
from dissectors.kafka.messages.newer_messages import read_front
from dissectors.kafka.messages.nodes import Embedded, Explained, Node, Struct
from dissectors.kafka.messages.room import Room
from dissectors.kafka.messages.wire import Wire
from dissectors.kafka.schema import headers, lookup, newer_versions, roles

__all__ = ["Embedded", "Explained", "Node", "Struct", "default_value", "explain"]

# Error of a broker that does not know the asked version of ApiVersions, an int16; its answer is then always of version 0.
_UNSUPPORTED_VERSION = b"\x00\x23"
# What follows an error in an answer of version 0 without APIs, which is shorter than any other.
_NO_APIS = bytes(4)


def explain(
    api_key: int, version: int, direction: str, frame: bytes | memoryview, request: Explained | None = None
) -> Explained:
    """Reads a frame (without its 4-byte length) as `direction` ("request" or "response") of an API version.

    Never raises for what the bytes say: `error` then holds the Truncated, Malformed, Unsupported or Limited. `request` is
    what a response answers; only that tells what is inside some bytes fields.
    """
    wire, room = Wire(frame), Room()
    found = _message(api_key, version, direction, wire, room)
    _Inside(wire.data, found, request, room).read()
    return found


def _message(api_key: int, version: int, direction: str, wire: Wire, room: Room) -> Explained:
    found = Explained(api_key, version, direction, Struct(), None, version, [], 0, None)
    try:
        header_is_whole = _header(found, wire, room)
        _body(found, wire, room, header_is_whole)
    except DissectError as error:
        found.error = error
    return found


def _header(found: Explained, wire: Wire, room: Room) -> bool:
    """Reads the header. False: its tagged fields are not there, in a message that is newer than its schema or has none."""
    reader = Interpreter(wire, found.version, False, found.notes, room)
    key, version, header = found.api_key, found.version, found.header
    if found.direction == "request":
        header_version = headers.request_version(key, version)
        reader.plain(header, "request_api_key", wire.int16)
        reader.plain(header, "request_api_version", wire.int16)
        reader.plain(header, "correlation_id", wire.int32)
        if header_version >= 1:
            reader.plain(header, "client_id", lambda: reader.text(-1, "client_id", compact=False))
        is_whole = header_version < 2 or _tags(found, reader)
        said = (header.value("request_api_key"), header.value("request_api_version"))
        if said != (key, version):
            found.notes.append(f"the header says key {said[0]} version {said[1]}, read as key {key} version {version}")
        return is_whole
    reader.plain(header, "correlation_id", wire.int32)
    return headers.response_version(key, version) < 1 or _tags(found, reader)


def _tags(found: Explained, reader: Interpreter) -> bool:
    try:
        reader.tagged((), found.header)
    except DissectError:
        if _is_known(found):
            raise
        return False
    return True


def _is_known(found: Explained) -> bool:
    api = lookup.api(found.api_key)
    return api is not None and not newer_versions.is_newer(api, found.version)


def _body(found: Explained, wire: Wire, room: Room, header_is_whole: bool) -> None:
    api = lookup.api(found.api_key)
    if api is None:
        raise Unsupported(wire.where(), wire.at, "an API key with a schema", f"key {found.api_key}")
    version = found.version
    if _is_refusal(found, wire):
        version = found.body_version = 0
        found.notes.append(f"version {found.version} was refused: the answer is read as version 0")
    if version not in api.versions:
        begin = wire.at
        if newer_versions.is_newer(api, version) and header_is_whole:
            found.body = read_front(api, found.direction, wire, room)
        raise Unsupported(wire.where(), begin, f"{api.name} version {api.versions}", f"version {version}")
    _read_as(found, api, version, wire, room)


def _read_as(found: Explained, api: lookup.Api, version: int, wire: Wire, room: Room) -> None:
    found.body = Struct()
    message = api.message(found.direction)
    Interpreter(wire, version, api.is_flexible(version), found.notes, room).struct(message.fields, found.body)
    found.leftover_bytes = wire.left


def _is_refusal(found: Explained, wire: Wire) -> bool:
    """Whether this is a broker's refusal of an ApiVersions version: it begins with that error, or holds an error alone, as that of
    a proxy that does not know the version."""
    is_reply = found.api_key == headers.API_VERSIONS and found.direction == "response" and found.version > 0
    error, rest = wire.data[wire.at : wire.at + 2], wire.data[wire.at + 2 :]
    return is_reply and (error == _UNSUPPORTED_VERSION or (rest == _NO_APIS and error != bytes(2)))


class _Inside:
    """Reads what is inside the bytes fields of a message, and hangs it beside them."""

    def __init__(
        self, data: memoryview, found: Explained, request: Explained | None, room: Room, frames: bool = True
    ) -> None:
        self.data = data
        self.found = found
        self.request = request
        self.room = room
        self.frames = frames  # a frame inside a frame is read, one inside that is not: Kafka forwards no forwarding

    def read(self) -> None:
        if self.found.body is not None and _holds_messages(self.found.api_key, self.found.direction):
            asked = None if self.request is None else self.request.body
            self.struct(self.found.body, "", None if asked is None else _protocol_type(asked))

    def struct(self, struct: Struct, path: str, protocol: str | None) -> None:
        """`protocol` is the protocol type that the structs around it tell."""
        own = _protocol_type(struct)
        protocol = protocol if own is None else own
        for node in struct.fields.values():
            name = f"{path}{node.name}"
            if node.field is not None and node.field.embedded is not None:
                if node.value:
                    node.embedded = self.bytes(node, node.field.embedded, name, protocol)
            elif isinstance(node.value, Struct):
                self.struct(node.value, f"{name}.", protocol)
            elif isinstance(node.value, list):
                for element in node.value:
                    if isinstance(element.value, Struct):
                        self.struct(element.value, f"{name}{element.name}.", protocol)

    def bytes(self, node: Node, what: str, path: str, protocol: str | None) -> Explained | Embedded | None:
        wire = Wire(self.data, node.end - len(node.value))
        wire.end, wire.whole = node.end, True
        wire.path.append(path)
        if what in ("request", "response"):
            return self.frame(what, wire) if self.frames else None
        wanted = lookup.embedded(what)
        if wanted.protocol is None or wanted.protocol == protocol:
            return read_struct_at(what, wire, self.room)
        if protocol is not None:
            return None
        # Old versions do not tell the protocol type: then only what cannot well be anything else.
        found = read_struct_at(what, wire, self.room)
        if found.error or found.notes or found.leftover_bytes or found.version not in wanted.versions:
            return None
        found.notes.append("no protocol type is told; these bytes are exactly such a struct")
        return found

    def frame(self, direction: str, wire: Wire) -> Explained | None:
        """A forwarded request tells its key and version; an answer is read as that of the request."""
        asked = None
        if direction == "request":
            if wire.left < 4:
                return None
            key, version = wire.int16(), wire.int16()
            wire.at -= 4
        else:
            asked = _forwarded(self.request)
            if asked is None:
                return None
            key, version = asked.api_key, asked.version
        found = _message(key, version, direction, wire, self.room)
        _Inside(self.data, found, asked, self.room, frames=False).read()
        return found


@cache
def _holds_messages(key: int, direction: str) -> bool:
    api = lookup.api(key)
    return api is not None and any(field.embedded for _, field, _ in roles.walk(api.message(direction)))


def _protocol_type(struct: Struct) -> str | None:
    for node in struct.fields.values():
        if node.field is not None and "protocol_type" in node.field.roles:
            return node.value
    return None


def _forwarded(request: Explained | None) -> Explained | None:
    """The request inside a request."""
    if request is None or request.body is None:
        return None
    inside = (node.embedded for node in request.body.fields.values())
    return next((each for each in inside if isinstance(each, Explained)), None)
