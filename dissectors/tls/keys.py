"""Secrets of TLS sessions (NSS key log), the key schedules of TLS 1.2 and 1.3, and decryption of one record.

No secret is ever printed: of damaged lines only their number is told.

Sources: NSS key log format (draft-ietf-tls-keylogfile); RFC 5246 section 5 and 6.3 (PRF, key block); RFC 5288, RFC 6655 and
RFC 7905 (nonces of TLS 1.2); RFC 5869 (HKDF); RFC 8446 sections 5 and 7 (records and key schedule of TLS 1.3).
"""

from __future__ import annotations

import hashlib
import hmac
import re
from functools import lru_cache
from typing import Any, NamedTuple

from dissectors.tls.names import TLS_1_3, Suite

MASTER = b"CLIENT_RANDOM"
CLIENT_HANDSHAKE = b"CLIENT_HANDSHAKE_TRAFFIC_SECRET"
SERVER_HANDSHAKE = b"SERVER_HANDSHAKE_TRAFFIC_SECRET"
CLIENT_TRAFFIC = b"CLIENT_TRAFFIC_SECRET_0"
SERVER_TRAFFIC = b"SERVER_TRAFFIC_SECRET_0"
# Label -> sizes of its secret in bytes.
_LABELS = {
    MASTER: (48,),
    CLIENT_HANDSHAKE: (32, 48),
    SERVER_HANDSHAKE: (32, 48),
    CLIENT_TRAFFIC: (32, 48),
    SERVER_TRAFFIC: (32, 48),
}
_PLACES = {label: place for place, label in enumerate(_LABELS)}
# Registered labels whose secrets protect no application data.
_OTHER_LABELS = frozenset(
    (b"EARLY_EXPORTER_SECRET", b"EXPORTER_SECRET", b"CLIENT_EARLY_TRAFFIC_SECRET", b"RSA", b"ECH_SECRET", b"ECH_CONFIG")
)
# Secrets after key updates follow from the first ones.
_LATER_SECRET = re.compile(rb"(CLIENT|SERVER)_TRAFFIC_SECRET_[1-9][0-9]*")
# Sessions without keys that are remembered.
MOST_MISSED = 100_000
# OpenSSL's state of a key has 1.4 kB: of more than so many connections at a time it is made again for those that were silent.
_MOST_CIPHERS = 4_096


class KeyLog:
    """Secrets by label and client random. It remembers sessions without keys: a later block of the capture may bring them."""

    def __init__(self) -> None:
        # By client random, in the order of `_LABELS`; empty where there is none.
        self._secrets: dict[bytes, list[bytes]] = {}
        self._missed: set[bytes] = set()
        self.broken_lines = 0
        self.came_late = False

    def __repr__(self) -> str:
        return f"KeyLog({len(self)} secrets)"

    def __len__(self) -> int:
        return sum(secret != b"" for secrets in self._secrets.values() for secret in secrets)

    def read(self, text: bytes) -> None:
        """Takes lines of a key log. Damaged lines are counted and skipped. Of several secrets for a session the first counts."""
        for line in text.splitlines():
            self.read_line(line)

    def read_line(self, line: bytes) -> None:
        """Takes one line; comments and blank lines are skipped."""
        line = line.strip()
        if not line or line.startswith(b"#"):
            return
        label, _, rest = line.partition(b" ")
        if label in _OTHER_LABELS or _LATER_SECRET.fullmatch(label):
            return
        random, secret = _hex_pair(rest)
        if label not in _LABELS or len(random) != 32 or len(secret) not in _LABELS[label]:
            self.broken_lines += 1
            return
        secrets = self._secrets.get(random)
        if secrets is None:
            secrets = self._secrets[random] = [b""] * len(_PLACES)
        if not secrets[_PLACES[label]]:
            secrets[_PLACES[label]] = secret
        if random in self._missed:
            self.came_late = True

    def find(self, label: bytes, client_random: bytes) -> bytes | None:
        """The secret, or None."""
        secrets = self._secrets.get(client_random)
        return secrets[_PLACES[label]] or None if secrets else None

    def miss(self, client_random: bytes) -> None:
        """Notes that a session has no keys; `came_late` becomes True when a later line brings them."""
        if len(self._missed) < MOST_MISSED:
            self._missed.add(client_random)

    def afresh(self) -> KeyLog:
        """A key log with the same secrets, for another pass over the capture."""
        other = KeyLog()
        other._secrets = self._secrets
        other.broken_lines = self.broken_lines
        return other


def _hex_pair(text: bytes) -> tuple[bytes, bytes]:
    """Two hexadecimal strings as bytes; empty where the text is something else."""
    words = text.split()
    if len(words) != 2:
        return b"", b""
    try:
        return bytes.fromhex(words[0].decode("ascii")), bytes.fromhex(words[1].decode("ascii"))
    except ValueError:
        return b"", b""


def prf(digest: str, secret: bytes, label: bytes, seed: bytes, size: int) -> bytes:
    """The pseudo-random function of TLS 1.2 (RFC 5246, section 5)."""
    seed = label + seed
    found = b""
    step = seed
    while len(found) < size:
        step = hmac.digest(secret, step, digest)
        found += hmac.digest(secret, step + seed, digest)
    return found[:size]


def expand_label(digest: str, secret: bytes, label: bytes, size: int) -> bytes:
    """HKDF-Expand-Label without context (RFC 8446, section 7.1)."""
    label = b"tls13 " + label
    info = size.to_bytes(2, "big") + bytes([len(label)]) + label + b"\0"
    found = b""
    step = b""
    while len(found) < size:
        step = hmac.digest(secret, step + info + bytes([len(found) // hashlib.new(digest).digest_size + 1]), digest)
        found += step
    return found[:size]


class Opened(NamedTuple):
    """A decrypted record: content type and content."""

    kind: int
    content: bytes


class RecordKey:
    """The key of one direction between two key changes: decrypts records. Its repr shows no secret."""

    __slots__ = ("_fixed", "_invalid", "_is_1_3", "_key", "_secret", "explicit_bytes", "overhead_bytes", "suite")

    def __init__(self, suite: Suite, key: bytes, fixed: bytes, version: int, secret: bytes = b"") -> None:
        """`fixed` is the fixed part of the nonce. `secret` is the traffic secret of TLS 1.3, from which the next key follows."""
        from cryptography.exceptions import InvalidTag

        self.suite = suite
        self._key = key
        self._invalid = InvalidTag
        self._fixed = fixed
        self._secret = secret
        self._is_1_3 = version == TLS_1_3
        self.explicit_bytes = 0 if self._is_1_3 else suite.explicit_bytes
        # Bytes of a record beside its content, unless it is padded.
        self.overhead_bytes = 5 + self.explicit_bytes + suite.tag_bytes + self._is_1_3

    def open(self, header: bytes, body: bytes, sequence: int) -> Opened | None:
        """Decrypts a record (header of 5 bytes, rest); None when key or sequence number do not fit."""
        content_bytes = len(body) - self.explicit_bytes - self.suite.tag_bytes
        if content_bytes < self._is_1_3:
            return None
        if self.explicit_bytes:
            nonce = self._fixed + body[: self.explicit_bytes]
        else:
            nonce = (int.from_bytes(self._fixed, "big") ^ sequence).to_bytes(12, "big")
        extra = header
        if not self._is_1_3:
            extra = sequence.to_bytes(8, "big") + header[:3] + content_bytes.to_bytes(2, "big")
        try:
            content = _cipher(self.suite, self._key).decrypt(nonce, body[self.explicit_bytes :], extra)
        except self._invalid:
            return None
        if not self._is_1_3:
            return Opened(header[0], content)
        unpadded = content.rstrip(b"\0")
        return Opened(unpadded[-1], unpadded[:-1]) if unpadded else None

    def next(self) -> RecordKey | None:
        """The key after a KeyUpdate (RFC 8446, section 7.2); None before TLS 1.3."""
        if not self._is_1_3:
            return None
        secret = expand_label(self.suite.hash, self._secret, b"traffic upd", len(self._secret))
        return traffic_key(self.suite, secret)


@lru_cache(maxsize=_MOST_CIPHERS)
def _cipher(suite: Suite, key: bytes) -> Any:
    from cryptography.hazmat.primitives.ciphers import aead

    if suite.cipher == "gcm":
        return aead.AESGCM(key)
    if suite.cipher == "ccm":
        return aead.AESCCM(key, suite.tag_bytes)
    return aead.ChaCha20Poly1305(key)


def traffic_key(suite: Suite, secret: bytes) -> RecordKey | None:
    """The key that follows from a traffic secret of TLS 1.3; None when the secret does not have the suite's size."""
    if len(secret) != hashlib.new(suite.hash).digest_size:
        return None
    key = expand_label(suite.hash, secret, b"key", suite.key_bytes)
    return RecordKey(suite, key, expand_label(suite.hash, secret, b"iv", 12), TLS_1_3, secret)


def key_block(
    suite: Suite, version: int, master: bytes, client_random: bytes, server_random: bytes
) -> tuple[RecordKey, RecordKey]:
    """The keys of client and server in TLS 1.2, from the master secret."""
    size = 2 * (suite.key_bytes + suite.fixed_bytes)
    block = prf(suite.hash, master, b"key expansion", server_random + client_random, size)
    keys = block[: 2 * suite.key_bytes]
    fixed = block[2 * suite.key_bytes :]
    return (
        RecordKey(suite, keys[: suite.key_bytes], fixed[: suite.fixed_bytes], version),
        RecordKey(suite, keys[suite.key_bytes :], fixed[suite.fixed_bytes :], version),
    )
