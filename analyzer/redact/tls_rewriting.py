"""One side of a TLS connection without what it must not tell: record and message headers, versions, ciphers and alerts stay.

The name of the server (SNI) becomes a pseudonym; randoms, session ids, keys, certificates and all that is encrypted become zeros.
Sources: RFC 8446 and RFC 5246 (records, hellos, alerts), RFC 6066 (server name), RFC 7301 (ALPN).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analyzer.redact.texts import Texts

CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, APPLICATION_DATA = 20, 21, 22, 23
HEADER_BYTES = 5
_LONGEST_RECORD = (1 << 14) + 2048
_CLIENT_HELLO, _SERVER_HELLO = 1, 2
_MESSAGES = frozenset((0, 1, 2, 4, 5, 8, 11, 12, 13, 14, 15, 16, 20, 22, 24))
_SERVER_NAME, _ALPN = 0, 16
# Groups, signatures, ALPN, encrypt-then-MAC, extended master secret, versions, PSK modes: lists of codes.
_CODES = frozenset((10, 11, 13, 22, 23, 43, 45, 50))
_KNOWN_PROTOCOLS = frozenset((b"h2", b"http/1.1", b"http/1.0", b"kafka"))
_RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")


def is_record(data: bytes | bytearray | memoryview) -> bool:
    """Whether these bytes begin like a record."""
    return (
        len(data) >= HEADER_BYTES
        and CHANGE_CIPHER_SPEC <= data[0] <= APPLICATION_DATA
        and data[1] == 3
        and data[2] <= 4
        and 0 < record_size(data) <= _LONGEST_RECORD
    )


def record_size(data: bytes | bytearray | memoryview) -> int:
    """The length of the record whose header this is, without the header."""
    return data[3] << 8 | data[4]


def is_chain(data: bytes | memoryview) -> bool:
    """Whether records of TLS follow each other here: a whole one, or one and the header of the next."""
    if not is_record(data):
        return False
    end = HEADER_BYTES + record_size(data)
    return end == len(data) or is_record(data[end : end + HEADER_BYTES])


class TlsSide:
    """Takes the bytes of one side in order; gives what to write. `position`: where the first record begins, None where it is not
    known; `encrypted`: records were before it. There may be very many that wait for bytes that never come."""

    __slots__ = ("_at", "_encrypted", "_held", "_lost", "_message_left", "_skip", "_texts")

    def __init__(self, texts: Texts, position: int | None, encrypted: bool) -> None:
        self._texts = texts
        self._at = position or 0  # of the first byte that is held
        self._held = b""
        self._skip = 0  # bytes of a record that are passed over
        self._encrypted = encrypted
        self._message_left = 0  # bytes of a handshake message that began in an earlier record
        self._lost = position is None

    def feed(self, position: int, data: bytes | memoryview) -> Iterator[tuple[int, bytes]]:
        """(position, bytes) of what stays of these bytes, and of those before them that were held."""
        if position != self._at + len(self._held) and not self._lost:
            yield from self._gap(position)
        if self._lost:
            # Nobody knows where the next record begins, unless one does here.
            if not is_chain(data):
                return
            self._lost, self._at, self._skip = False, position, 0
        if self._skip:
            step = min(self._skip, len(data))
            self._skip -= step
            self._at += step
            data = data[step:]
        held = bytearray(self._held)
        held += data
        yield from self._records(held)
        self._held = bytes(held)

    def _gap(self, position: int) -> Iterator[tuple[int, bytes]]:
        """Bytes up to `position` were not captured: of packets that were cut, the end of a record."""
        if len(self._held) >= HEADER_BYTES:
            size = record_size(self._held)
            missing = HEADER_BYTES + size - len(self._held)
            written = self._held[:HEADER_BYTES] + self._clear(self._held[0], self._held[HEADER_BYTES:])
            self._message_left = max(0, self._message_left - missing)
            yield self._at, written
            self._skip = missing
            self._at += len(self._held)
            self._held = b""
        missed = position - self._at  # negative: the record that ends behind it was met before
        self._lost = bool(self._held) or not 0 <= missed <= self._skip
        self._held = b""
        self._skip -= missed
        self._at = position
        # Behind what nobody saw a record in clear looks like any other.
        self._encrypted |= self._lost

    def _records(self, held: bytearray) -> Iterator[tuple[int, bytes]]:
        """Takes records from the front of `held`."""
        while len(held) >= HEADER_BYTES:
            if not is_record(held):
                self._lost = self._encrypted = True
                held.clear()
                return
            kind, size = held[0], record_size(held)
            is_clear = kind in (HANDSHAKE, ALERT, CHANGE_CIPHER_SPEC) and not self._encrypted
            if is_clear and len(held) < HEADER_BYTES + size:
                return
            written = bytes(held[:HEADER_BYTES])
            if is_clear:
                written += self._clear(kind, bytes(held[HEADER_BYTES : HEADER_BYTES + size]))
            self._encrypted |= kind in (CHANGE_CIPHER_SPEC, APPLICATION_DATA)
            yield self._at, written
            taken = min(len(held), HEADER_BYTES + size)
            self._skip = HEADER_BYTES + size - taken
            del held[:taken]
            self._at += taken

    def _clear(self, kind: int, body: bytes) -> bytes:
        if kind == CHANGE_CIPHER_SPEC:
            return b"\x01".ljust(len(body), b"\0")
        if kind == ALERT:
            return body if len(body) == 2 else bytes(len(body))
        out = bytearray(len(body))
        at = min(self._message_left, len(body))
        self._message_left -= at
        while at + 4 <= len(body):
            size = int.from_bytes(body[at + 1 : at + 4], "big")
            if body[at] not in _MESSAGES:
                break
            out[at : at + 4] = body[at : at + 4]
            end = at + 4 + size
            if end <= len(body) and body[at] in (_CLIENT_HELLO, _SERVER_HELLO):
                out[at + 4 : end] = hello(body[at + 4 : end], body[at] == _CLIENT_HELLO, self._texts)
            self._message_left = max(0, end - len(body))
            at = end
        return bytes(out)


def hello(body: bytes, is_client: bool, texts: Texts) -> bytes:
    """A ClientHello or ServerHello, without the four bytes of its message header."""
    out = bytearray(len(body))
    if len(body) < 35:
        return bytes(out)
    out[:2] = body[:2]
    if body[2:34] == _RETRY:
        out[2:34] = _RETRY
    out[34] = body[34]
    at = 35 + body[34]
    sizes = (2, 1) if is_client else ()
    if not is_client:
        out[at : at + 3] = body[at : at + 3]
        at += 3
    for width in sizes:
        size = int.from_bytes(body[at : at + width], "big")
        end = at + width + size
        if end > len(body):
            return bytes(out)
        out[at:end] = body[at:end]
        at = end
    out[at : at + 2] = body[at : at + 2]
    at += 2
    while at + 4 <= len(body):
        kind, size = int.from_bytes(body[at : at + 2], "big"), int.from_bytes(body[at + 2 : at + 4], "big")
        end = at + 4 + size
        if end > len(body):
            break
        out[at : at + 4] = body[at : at + 4]
        out[at + 4 : end] = _extension(kind, body[at + 4 : end], texts)
        at = end
    return bytes(out[: len(body)])


def _extension(kind: int, value: bytes, texts: Texts) -> bytes:
    if kind in _CODES:
        return value
    if kind == _SERVER_NAME and len(value) > 5 and int.from_bytes(value[3:5], "big") == len(value) - 5:
        return value[:5] + texts.of("host", value[5:])
    if kind == _ALPN and len(value) > 2:
        out, at = bytearray(value[:2]), 2
        while at < len(value) and at + 1 + value[at] <= len(value):
            name = value[at + 1 : at + 1 + value[at]]
            out += value[at : at + 1] + (name if name in _KNOWN_PROTOCOLS else texts.of("name", name))
            at += 1 + value[at]
        return bytes(out).ljust(len(value), b"\0")
    return bytes(len(value))
