"""Reads ClientHello and ServerHello of TLS, from bytes that may be damaged or hostile.

Sources: RFC 5246 section 7.4.1, RFC 8446 section 4.1, RFC 6066 (server name), RFC 7301 (ALPN).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dissectors.errors import Truncated

CLIENT_HELLO = 1
SERVER_HELLO = 2
FINISHED = 20
KEY_UPDATE = 24
# A hello may be longer than a record. A longer one than this is not believed; real ones are far shorter.
LONGEST_HELLO_BYTES = 65_536
LONGEST_NAME_BYTES = 255

_SERVER_NAME = 0
_ALPN = 16
_ENCRYPT_THEN_MAC = 22
_SUPPORTED_VERSIONS = 43
# A ServerHello with this random asks for another ClientHello (RFC 8446, section 4.1.3).
_RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")


@dataclass(frozen=True, slots=True)
class ClientHello:
    """`server_name` and `alpn` (the protocols offered, comma separated) are captured text; None when absent."""

    random: bytes
    server_name: bytes | None
    alpn: bytes | None


@dataclass(frozen=True, slots=True)
class ServerHello:
    """`version` is the version that was chosen; `retry`: this is a HelloRetryRequest, another ClientHello follows;
    `encrypt_then_mac`: so are records of a cipher in CBC mode made (RFC 7366)."""

    random: bytes
    version: int
    suite: int
    compressed: bool
    retry: bool
    encrypt_then_mac: bool


class _Bytes:
    """A cursor over bytes; raises Truncated at their end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise Truncated("tls.hello", self.at, f"{size} bytes", f"{len(self.data) - self.at}")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def sized(self, size: int) -> bytes:
        """The bytes behind a length of `size` bytes."""
        return self.take(self.number(size))

    @property
    def left(self) -> int:
        return len(self.data) - self.at


def client_hello(body: bytes) -> ClientHello:
    """Reads a ClientHello (without the four bytes of its message header). Raises Truncated."""
    data = _Bytes(body)
    data.take(2)
    random = data.take(32)
    data.sized(1)
    data.sized(2)
    data.sized(1)
    name = alpn = None
    for kind, value in _extensions(data):
        if kind == _SERVER_NAME:
            name = _first_name(value)
        elif kind == _ALPN:
            alpn = b",".join(_names(value))[:LONGEST_NAME_BYTES] or None
    return ClientHello(random, name, alpn)


def server_hello(body: bytes) -> ServerHello:
    """Reads a ServerHello (without the four bytes of its message header). Raises Truncated."""
    data = _Bytes(body)
    version = data.number(2)
    random = data.take(32)
    data.sized(1)
    suite = data.number(2)
    compressed = data.number(1) != 0
    encrypt_then_mac = False
    for kind, value in _extensions(data):
        if kind == _SUPPORTED_VERSIONS and len(value) == 2:
            version = int.from_bytes(value, "big")
        elif kind == _ENCRYPT_THEN_MAC:
            encrypt_then_mac = True
    return ServerHello(random, version, suite, compressed, random == _RETRY, encrypt_then_mac)


def _extensions(data: _Bytes) -> Iterator[tuple[int, bytes]]:
    """(type, value) of each extension, up to the first that is incomplete."""
    if data.left < 2:
        return
    inner = _Bytes(data.data[data.at + 2 :][: data.number(2)])
    while inner.left >= 4:
        kind, size = inner.number(2), inner.number(2)
        if size > inner.left:
            return
        yield kind, inner.take(size)


def _first_name(value: bytes) -> bytes | None:
    """The host name in a server_name extension (RFC 6066); None without one."""
    if len(value) < 5 or value[2] != 0:
        return None
    size = int.from_bytes(value[3:5], "big")
    return None if size > len(value) - 5 else value[5 : 5 + min(size, LONGEST_NAME_BYTES)] or None


def _names(value: bytes) -> Iterator[bytes]:
    data = _Bytes(value[2:])
    while data.left:
        size = data.number(1)
        if size == 0 or size > data.left:
            return
        yield data.take(size)


class Messages:
    """Reassembles the handshake messages of one direction from the contents of handshake records.

    Only the bodies of hellos are kept; other messages have an empty body.
    """

    __slots__ = ("_held", "_skip")

    def __init__(self) -> None:
        self._held = bytearray()
        self._skip = 0

    def clear(self) -> None:
        """Bytes were lost: forgets the message that was begun."""
        self._held.clear()
        self._skip = 0

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """(type, body) of each hello that ends in these bytes, and of each other message that begins in them."""
        while data:
            if self._skip:
                step = min(self._skip, len(data))
                self._skip -= step
                data = data[step:]
                continue
            # Of a hello all bytes are held, of other messages only the header.
            need = 4 if len(self._held) < 4 else self._size()
            step = min(need - len(self._held), len(data))
            self._held += data[:step]
            data = data[step:]
            if len(self._held) < 4:
                return
            kind = self._held[0]
            if kind not in (CLIENT_HELLO, SERVER_HELLO) or self._size() > LONGEST_HELLO_BYTES:
                self._skip = self._size() - 4
                self._held.clear()
                yield kind, b""
            elif len(self._held) == self._size():
                body = bytes(self._held[4:])
                self._held.clear()
                yield kind, body

    def _size(self) -> int:
        return 4 + int.from_bytes(self._held[1:4], "big")
