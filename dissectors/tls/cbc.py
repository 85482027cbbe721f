"""Decryption of one record of TLS 1.2 whose cipher works in CBC mode: the MAC before encryption, or behind it.

Sources: RFC 5246 section 6.2.3.2 (blocks, padding, MAC then encrypt) and 6.3 (order of the key block), RFC 7366 (encrypt then
MAC).
"""

from __future__ import annotations

import hmac

from dissectors.tls.keys import Opened, RecordKey, prf
from dissectors.tls.names import Suite

BLOCK_BYTES = 16


class CbcKey(RecordKey):
    """The key of one direction. Every record begins with the vector that its first block was mixed with."""

    __slots__ = ("_encrypt_then_mac", "_key", "_mac_key")

    def __init__(self, suite: Suite, key: bytes, mac_key: bytes, encrypt_then_mac: bool) -> None:
        self.suite = suite
        self._key = key
        self._mac_key = mac_key
        self._encrypt_then_mac = encrypt_then_mac
        self.explicit_bytes = BLOCK_BYTES
        # At least: padding fills the last block, and nobody knows the padding of a record that was lost.
        self.overhead_bytes = 5 + BLOCK_BYTES + suite.tag_bytes + 1

    def open(self, header: bytes, body: bytes, sequence: int) -> Opened | None:
        """Decrypts a record (header of 5 bytes, rest); None when key or sequence number do not fit."""
        mac_bytes = self.suite.tag_bytes
        sealed = body[:-mac_bytes] if self._encrypt_then_mac else body
        if len(sealed) < 2 * BLOCK_BYTES or len(sealed) % BLOCK_BYTES or len(body) < mac_bytes:
            return None
        if self._encrypt_then_mac and not self._is_mac(header, sealed, sequence, body[-mac_bytes:]):
            return None
        plain = self._decrypted(sealed)
        padding = plain[-1] + 1
        if padding > len(plain) or plain[-padding:] != bytes([plain[-1]]) * padding:
            return None
        content = plain[:-padding]
        if self._encrypt_then_mac:
            return Opened(header[0], content)
        if len(content) < mac_bytes:
            return None
        content, mac = content[:-mac_bytes], content[-mac_bytes:]
        return Opened(header[0], content) if self._is_mac(header, content, sequence, mac) else None

    def next(self) -> None:
        """No key follows: TLS 1.2 has no key update."""

    def _decrypted(self, sealed: bytes) -> bytes:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        cipher = Cipher(algorithms.AES(self._key), modes.CBC(sealed[:BLOCK_BYTES])).decryptor()
        return cipher.update(sealed[BLOCK_BYTES:]) + cipher.finalize()

    def _is_mac(self, header: bytes, data: bytes, sequence: int, mac: bytes) -> bool:
        text = sequence.to_bytes(8, "big") + header[:3] + len(data).to_bytes(2, "big") + data
        return hmac.compare_digest(hmac.digest(self._mac_key, text, self.suite.mac), mac)


def cbc_keys(
    suite: Suite, master: bytes, client_random: bytes, server_random: bytes, encrypt_then_mac: bool
) -> tuple[CbcKey, CbcKey]:
    """The keys of client and server from the master secret. In the key block those for the MAC come first."""
    mac, key = suite.tag_bytes, suite.key_bytes
    block = prf(suite.hash, master, b"key expansion", server_random + client_random, 2 * (mac + key))
    client = CbcKey(suite, block[2 * mac : 2 * mac + key], block[:mac], encrypt_then_mac)
    server = CbcKey(suite, block[2 * mac + key : 2 * mac + 2 * key], block[mac : 2 * mac], encrypt_then_mac)
    return client, server
