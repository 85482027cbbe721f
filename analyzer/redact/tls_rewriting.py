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
_HEADER = 5
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
        len(data) >= _HEADER
        and CHANGE_CIPHER_SPEC <= data[0] <= APPLICATION_DATA
        and data[1] == 3
        and data[2] <= 4
        and 0 < (data[3] << 8 | data[4]) <= _LONGEST_RECORD
    )


def is_hello(data: bytes | memoryview) -> bool:
    """Whether a connection that begins with these bytes speaks TLS."""
    if not is_record(data) or len(data) < 6:
        return False
    return (data[0] == HANDSHAKE and data[5] in (_CLIENT_HELLO, _SERVER_HELLO)) or (
        data[0] == ALERT and data[3:5] == b"\0\2"
    )


class TlsSide:
    """Takes the bytes of one side in order; gives what to write."""

    def __init__(self, texts: Texts, position: int) -> None:
        self._texts = texts
        self._at = position  # of the first byte that is held
        self._held = bytearray()
        self._skip = 0  # bytes of a record that are passed over
        self._encrypted = False
        self._message_left = 0  # bytes of a handshake message that began in an earlier record
        self._lost = False
        self.records = 0

    def feed(self, position: int, data: bytes | memoryview) -> Iterator[tuple[int, bytes]]:
        """(position, bytes) of what stays of these bytes, and of those before them that were held."""
        if self._lost:
            return
        if position != self._at + len(self._held):
            self._lost = True  # a gap: where the next record begins nobody knows
            return
        if self._skip:
            step = min(self._skip, len(data))
            self._skip -= step
            self._at += step
            data = data[step:]
        self._held += data
        yield from self._records()

    def _records(self) -> Iterator[tuple[int, bytes]]:
        while len(self._held) >= _HEADER:
            if not is_record(self._held):
                self._lost = True
                return
            kind, size = self._held[0], self._held[3] << 8 | self._held[4]
            is_clear = kind in (HANDSHAKE, ALERT, CHANGE_CIPHER_SPEC) and not self._encrypted
            if is_clear and len(self._held) < _HEADER + size:
                return
            written = bytes(self._held[:_HEADER])
            if is_clear:
                written += self._clear(kind, bytes(self._held[_HEADER : _HEADER + size]))
            self._encrypted |= kind in (CHANGE_CIPHER_SPEC, APPLICATION_DATA)
            self.records += 1
            yield self._at, written
            taken = min(len(self._held), _HEADER + size)
            self._skip = _HEADER + size - taken
            del self._held[:taken]
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
