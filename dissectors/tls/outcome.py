"""How a TLS handshake ended, from what is in clear: alerts, the server's certificate, and whether content followed.

It reads the records of both sides without any key, beside their decryption, until content follows. TLS 1.2 and older
send the certificate, and alerts before ChangeCipherSpec, in clear. In TLS 1.3 all is encrypted behind the hellos; there a record of
19 bytes (2 of an alert, 1 of its type, 16 of a tag) is an alert whose words cannot be read: nothing else is so short. Java pads
them to 35 bytes: such a record is one where it is the only one that a server sends once the client has finished.

Sources: RFC 5246 sections 7.2 and 7.4.2, RFC 8446 sections 5.2 and 6, RFC 5280 (certificates).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dissectors.errors import Truncated
from dissectors.tls.hello import CLIENT_HELLO, SERVER_HELLO, server_hello
from dissectors.tls.names import TLS_1_3, alert_name
from dissectors.tls.record_layer import ALERT, CHANGE_CIPHER_SPEC, DATA, HANDSHAKE, LONGEST_RECORD_BYTES

FINISHED, FAILED = "finished", "failed"
OUTCOMES = (FINISHED, FAILED)
UNREADABLE_ALERT = b"encrypted"

_CERTIFICATE = 11
_ALERT_1_3_BYTES = 19
_PADDED_ALERT_BYTES = 35
_CLOSE_NOTIFY = 0
# What one side may send before content: a chain of certificates has some kB.
_MOST_BYTES = 65_536
_LONGEST_SUBJECT_BYTES = 255


@dataclass(slots=True)
class _Side:
    held: bytearray = field(default_factory=bytearray)
    messages: bytearray = field(default_factory=bytearray)
    seen_bytes: int = 0
    changed: bool = False  # ChangeCipherSpec was sent
    has_encrypted: bool = False  # an encrypted record that is no alert was sent


class HandshakeOutcome:
    """The handshake of one connection. `client` is the side that sent the ClientHello, None before it was seen.

    `alert` is the name of the alert that ended the handshake or UNREADABLE_ALERT, None without one, and `alert_side` who sent it.
    `subject`, `valid_from_ns` and `valid_until_ns` are of the server's certificate, None where it is not in clear. `done`: nothing
    more can be learned.
    """

    __slots__ = (
        "_finished",
        "_is_1_3",
        "_lost",
        "_refused",
        "_sides",
        "alert",
        "alert_side",
        "client",
        "done",
        "subject",
        "valid_from_ns",
        "valid_until_ns",
    )

    def __init__(self) -> None:
        self.client: int | None = None
        self.alert: bytes | None = None
        self.alert_side: int | None = None
        self.subject: bytes | None = None
        self.valid_from_ns: int | None = None
        self.valid_until_ns: int | None = None
        self.done = False
        self._finished = False
        self._lost = False
        self._is_1_3 = False
        self._refused = False  # the server's first record behind the client's Finished may be an alert
        self._sides: tuple[_Side, ...] = (_Side(), _Side())

    def feed(self, side: int, data: memoryview) -> None:
        """Takes bytes of one side, in the order of its stream."""
        if self.done:
            return
        state = self._sides[side]
        state.seen_bytes += len(data)
        state.held += data
        while not self.done and self._record(side, state):
            pass
        if state.seen_bytes > _MOST_BYTES:
            self.gap()

    def gap(self) -> None:
        """Bytes are missing, or more came than a handshake has: how it ended stays unknown."""
        self._lost = not self._finished and self.alert is None
        self._stop()

    def outcome(self) -> str | None:
        """FINISHED or FAILED (the connection is over), or None where it cannot be told: it was begun before the capture, or has
        lost bytes."""
        if self._finished:
            return FINISHED
        return None if self.client is None or self._lost else FAILED

    def _stop(self) -> None:
        self.done = True
        for state in self._sides:
            state.held.clear()
            state.messages.clear()
        self._sides = ()

    def _record(self, side: int, state: _Side) -> bool:
        held = state.held
        if len(held) < 5:
            return False
        kind, size = held[0], held[3] << 8 | held[4]
        if not (CHANGE_CIPHER_SPEC <= kind <= DATA and held[1] == 3 and size <= LONGEST_RECORD_BYTES):
            self.gap()
            return False
        if len(held) < 5 + size:
            return False
        body = bytes(held[5 : 5 + size])
        del held[: 5 + size]
        if kind == ALERT:
            self._alert(side, body if not state.changed or len(body) == 2 else None)
        elif kind == CHANGE_CIPHER_SPEC:
            state.changed = not self._is_1_3
        elif kind == HANDSHAKE and not state.changed:
            self._messages(side, state, body)
        elif kind == DATA:
            self._encrypted(side, state, size)
        return True

    def _alert(self, side: int, body: bytes | None) -> None:
        if body is not None and len(body) == 2 and body[1] == _CLOSE_NOTIFY:
            return
        if self.alert is None:
            self.alert_side = side
            self.alert = alert_name(body[1]).encode() if body is not None and len(body) == 2 else UNREADABLE_ALERT
            self._stop()

    def _encrypted(self, side: int, state: _Side, size: int) -> None:
        """A record of application data; in TLS 1.3 it may be of the handshake or an alert as well."""
        if self._is_1_3 and size == _ALERT_1_3_BYTES:
            self._alert(side, None)
            return
        state.has_encrypted = True
        # In TLS 1.3 a server that agrees to the client's Finished goes on, with tickets or content.
        agreed = side != self.client and self._sides[1 - side].has_encrypted if self._is_1_3 else side == self.client
        if agreed and self._is_1_3 and size == _PADDED_ALERT_BYTES and not self._refused:
            self._refused = True
        elif agreed:
            self._finished = True
            self._stop()

    def _messages(self, side: int, state: _Side, body: bytes) -> None:
        state.messages += body
        while len(state.messages) >= 4:
            size = 4 + int.from_bytes(state.messages[1:4], "big")
            if size > _MOST_BYTES:
                self.gap()
                return
            if len(state.messages) < size:
                return
            kind, message = state.messages[0], bytes(state.messages[4:size])
            del state.messages[:size]
            if kind == CLIENT_HELLO:
                self.client = side
            elif kind == SERVER_HELLO:
                self._server_hello(message)
            elif kind == _CERTIFICATE and side != self.client:
                self._certificate(message)

    def _server_hello(self, message: bytes) -> None:
        try:
            hello = server_hello(message)
        except Truncated:
            self.gap()
            return
        self._is_1_3 = not hello.retry and hello.version == TLS_1_3

    def _certificate(self, message: bytes) -> None:
        """The first certificate of the chain: three bytes of length of all, three of its own."""
        size = int.from_bytes(message[3:6], "big")
        if len(message) < 6 + size or size == 0:
            return
        from cryptography import x509

        try:
            certificate = x509.load_der_x509_certificate(message[6 : 6 + size])
            subject = certificate.subject.rfc4514_string().encode()
            begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
        except (ValueError, TypeError, OverflowError, x509.InvalidVersion, x509.UnsupportedGeneralNameType):
            return
        self.subject = subject[:_LONGEST_SUBJECT_BYTES] or None
        self.valid_from_ns, self.valid_until_ns = _ns(begin.timestamp()), _ns(end.timestamp())


def _ns(seconds: float) -> int | None:
    """A moment in ns since the epoch; None when that does not fit 64 bits (years beyond 2262)."""
    ns = int(seconds) * 1_000_000_000
    return ns if -(2**63) < ns < 2**63 else None
