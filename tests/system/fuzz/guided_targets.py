"""What guided fuzzing runs: name -> a function of any bytes that raises when a law is broken.

Each reads its input out of the bytes alone, so that whatever a fuzzer writes is an input; the laws are those of the kinds beside.
"""

from __future__ import annotations

from collections.abc import Callable

from kind_captures import Captures
from kind_conversations import Conversations, Event
from kind_messages import Messages
from kinds import law

from analyzer.query.dataset import DatasetError
from analyzer.query.manifest import checked
from analyzer.redact.pseudonyms import KEY_BYTES, Pseudonyms
from dissectors import layout
from dissectors.kafka.schema.fields import SchemaError
from dissectors.kafka.schema.lookup import api_names
from dissectors.kafka.schema.schema_files import parse, parse_embedded

# Plain Python takes a millisecond for so many bytes: longer inputs say nothing that shorter ones cannot.
MOST_BYTES = 4096
_KEYS = [key for key, _ in api_names()]
_MESSAGES, _CONVERSATIONS, _CAPTURES = Messages(), Conversations(), Captures()


def readers(data: bytes) -> None:
    """A capture file: the same packets and rows in blocks of any size, every byte accounted for."""
    _CAPTURES.check([data])


def framing(data: bytes) -> None:
    """A conversation: behind a first byte pieces of up to 63 bytes, each behind a byte: side, length, lost or not."""
    events: list[Event] = []
    at = 1
    while at < len(data):
        said = data[at]
        piece = data[at + 1 : at + 1 + (said & 63)]
        if said & 128:
            events.append((layout.CHUNK_GAP, said >> 6 & 1, b"", 1 + (said & 63), 1, 0))
        elif piece:
            events.append((layout.CHUNK_DATA, said >> 6 & 1, piece, len(piece), 0, 1000))
        at += 1 + (0 if said & 128 else len(piece))
    _CONVERSATIONS.check([(bool(data[:1] > b"\x7f"), tuple(events))])


def bodies(data: bytes) -> None:
    """A message behind three bytes that choose API, version and direction: walker and interpreter say the same."""
    if len(data) > 3:
        key = _KEYS[data[0] % len(_KEYS)]
        _MESSAGES.check([(key, data[1] & 31, "response" if data[2] & 1 else "request", data[3:], len(data) - 3)])


def schemas(data: bytes) -> None:
    """A definition of messages: read, or refused with its line."""
    text = data.decode("utf-8", "replace")
    for read in (parse, parse_embedded):
        try:
            read(text, "x.kafka")
        except SchemaError as error:
            law(str(error).startswith("x.kafka"), "no place in", error)


def manifests(data: bytes) -> None:
    """The manifest of a dataset: read, or refused with the dataset's name."""
    try:
        checked(data, "D")
    except DatasetError as error:
        law(str(error).startswith("D"), "no dataset in", error)


def pseudonyms(data: bytes) -> None:
    """A name, an address or an id: as long as before, the same each time, no error."""
    one, other = (Pseudonyms(bytes(KEY_BYTES)) for _ in range(2))
    for made, again in ((one.name, other.name), (one.host, other.host)):
        found = made(data)
        law(len(found) == len(data), "another length", found)
        law(found == again(data), "another pseudonym", found, again(data))
    for size, kind in ((4, "ipv4"), (16, "ipv6"), (16, "uuid"), (6, "link_address")):
        if len(data) >= size:
            law(len(getattr(one, kind)(data[:size])) == size, "another length", kind)


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (readers, framing, bodies, schemas, manifests, pseudonyms)
}


def run(name: str, data: bytes) -> None:
    """One input through a target. What is too long for it is cut."""
    TARGETS[name](data[:MOST_BYTES])
