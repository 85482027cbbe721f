"""Names of TLS versions and cipher suites, as IANA registered them, and the parameters of suites that can be decrypted.

Sources: IANA "TLS Cipher Suites" registry; RFC 5246, RFC 5288, RFC 6655, RFC 7905, RFC 8446.
"""

from __future__ import annotations

from typing import NamedTuple

VERSIONS = {0x0300: "SSLv3", 0x0301: "TLSv1.0", 0x0302: "TLSv1.1", 0x0303: "TLSv1.2", 0x0304: "TLSv1.3"}
TLS_1_2 = 0x0303
TLS_1_3 = 0x0304

# Number, key exchange (none in TLS 1.3), cipher with hash.
_SUITES = """
1301  -            AES_128_GCM_SHA256
1302  -            AES_256_GCM_SHA384
1303  -            CHACHA20_POLY1305_SHA256
1304  -            AES_128_CCM_SHA256
1305  -            AES_128_CCM_8_SHA256
000A  RSA          3DES_EDE_CBC_SHA
002F  RSA          AES_128_CBC_SHA
0033  DHE_RSA      AES_128_CBC_SHA
0035  RSA          AES_256_CBC_SHA
0039  DHE_RSA      AES_256_CBC_SHA
003C  RSA          AES_128_CBC_SHA256
003D  RSA          AES_256_CBC_SHA256
0067  DHE_RSA      AES_128_CBC_SHA256
006B  DHE_RSA      AES_256_CBC_SHA256
009C  RSA          AES_128_GCM_SHA256
009D  RSA          AES_256_GCM_SHA384
009E  DHE_RSA      AES_128_GCM_SHA256
009F  DHE_RSA      AES_256_GCM_SHA384
00A2  DHE_DSS      AES_128_GCM_SHA256
00A3  DHE_DSS      AES_256_GCM_SHA384
00A8  PSK          AES_128_GCM_SHA256
00A9  PSK          AES_256_GCM_SHA384
00AA  DHE_PSK      AES_128_GCM_SHA256
00AB  DHE_PSK      AES_256_GCM_SHA384
C009  ECDHE_ECDSA  AES_128_CBC_SHA
C00A  ECDHE_ECDSA  AES_256_CBC_SHA
C013  ECDHE_RSA    AES_128_CBC_SHA
C014  ECDHE_RSA    AES_256_CBC_SHA
C023  ECDHE_ECDSA  AES_128_CBC_SHA256
C024  ECDHE_ECDSA  AES_256_CBC_SHA384
C027  ECDHE_RSA    AES_128_CBC_SHA256
C028  ECDHE_RSA    AES_256_CBC_SHA384
C02B  ECDHE_ECDSA  AES_128_GCM_SHA256
C02C  ECDHE_ECDSA  AES_256_GCM_SHA384
C02D  ECDH_ECDSA   AES_128_GCM_SHA256
C02E  ECDH_ECDSA   AES_256_GCM_SHA384
C02F  ECDHE_RSA    AES_128_GCM_SHA256
C030  ECDHE_RSA    AES_256_GCM_SHA384
C031  ECDH_RSA     AES_128_GCM_SHA256
C032  ECDH_RSA     AES_256_GCM_SHA384
C09C  RSA          AES_128_CCM
C09D  RSA          AES_256_CCM
C09E  DHE_RSA      AES_128_CCM
C09F  DHE_RSA      AES_256_CCM
C0A0  RSA          AES_128_CCM_8
C0A1  RSA          AES_256_CCM_8
C0A2  DHE_RSA      AES_128_CCM_8
C0A3  DHE_RSA      AES_256_CCM_8
C0AC  ECDHE_ECDSA  AES_128_CCM
C0AD  ECDHE_ECDSA  AES_256_CCM
C0AE  ECDHE_ECDSA  AES_128_CCM_8
C0AF  ECDHE_ECDSA  AES_256_CCM_8
CCA8  ECDHE_RSA    CHACHA20_POLY1305_SHA256
CCA9  ECDHE_ECDSA  CHACHA20_POLY1305_SHA256
CCAA  DHE_RSA      CHACHA20_POLY1305_SHA256
CCAB  PSK          CHACHA20_POLY1305_SHA256
CCAC  ECDHE_PSK    CHACHA20_POLY1305_SHA256
CCAD  DHE_PSK      CHACHA20_POLY1305_SHA256
D001  ECDHE_PSK    AES_128_GCM_SHA256
D002  ECDHE_PSK    AES_256_GCM_SHA384
"""

# Ciphers in CBC mode: name for `cbc`, size of the key. Their MACs: name in hashlib, size.
_CBC_CIPHERS = {"AES_128_CBC": ("cbc", 16), "AES_256_CBC": ("cbc", 32)}
_MACS = {"SHA": ("sha1", 20), "SHA256": ("sha256", 32), "SHA384": ("sha384", 48)}

# AEAD ciphers: name for `keys`, sizes of key and tag, sizes of the fixed and the explicit part of the nonce in TLS 1.2.
_CIPHERS = {
    "AES_128_GCM": ("gcm", 16, 16, 4, 8),
    "AES_256_GCM": ("gcm", 32, 16, 4, 8),
    "AES_128_CCM": ("ccm", 16, 16, 4, 8),
    "AES_256_CCM": ("ccm", 32, 16, 4, 8),
    "AES_128_CCM_8": ("ccm", 16, 8, 4, 8),
    "AES_256_CCM_8": ("ccm", 32, 8, 4, 8),
    "CHACHA20_POLY1305": ("chacha20", 32, 16, 12, 0),
}


class Suite(NamedTuple):
    """A cipher suite that can be decrypted. Sizes in bytes; `hash` is hashlib's name of that of the key schedule.

    `fixed_bytes` and `explicit_bytes` are the parts of the nonce in TLS 1.2; TLS 1.3 has twelve fixed ones and no other. In CBC
    mode `mac` is hashlib's name of the MAC, whose size is `tag_bytes`, and `explicit_bytes` the initialisation vector.
    """

    cipher: str
    hash: str
    key_bytes: int
    tag_bytes: int
    fixed_bytes: int
    explicit_bytes: int
    mac: str = ""


def _read_suites() -> tuple[dict[int, str], dict[int, Suite]]:
    names: dict[int, str] = {}
    suites: dict[int, Suite] = {}
    for line in _SUITES.split("\n"):
        if not line:
            continue
        number, exchange, rest = line.split()
        names[int(number, 16)] = f"TLS_{rest}" if exchange == "-" else f"TLS_{exchange}_WITH_{rest}"
        cipher = rest.removesuffix("_SHA256").removesuffix("_SHA384")
        if cipher in _CIPHERS:
            kind, key, tag, fixed, explicit = _CIPHERS[cipher]
            digest = "sha384" if rest.endswith("_SHA384") else "sha256"
            suites[int(number, 16)] = Suite(kind, digest, key, tag, fixed, explicit)
        mode, _, mac = rest.rpartition("_")
        if mode in _CBC_CIPHERS:
            (kind, key), (name, tag) = _CBC_CIPHERS[mode], _MACS[mac]
            digest = "sha384" if mac == "SHA384" else "sha256"
            suites[int(number, 16)] = Suite(kind, digest, key, tag, 0, 16, name)
    return names, suites


_NAMES, SUITES = _read_suites()


# RFC 8446 section 6 with those of TLS 1.2 and extensions that may still be met.
_ALERTS = {
    0: "close_notify",
    10: "unexpected_message",
    20: "bad_record_mac",
    21: "decryption_failed",
    22: "record_overflow",
    30: "decompression_failure",
    40: "handshake_failure",
    41: "no_certificate",
    42: "bad_certificate",
    43: "unsupported_certificate",
    44: "certificate_revoked",
    45: "certificate_expired",
    46: "certificate_unknown",
    47: "illegal_parameter",
    48: "unknown_ca",
    49: "access_denied",
    50: "decode_error",
    51: "decrypt_error",
    60: "export_restriction",
    70: "protocol_version",
    71: "insufficient_security",
    80: "internal_error",
    86: "inappropriate_fallback",
    90: "user_canceled",
    100: "no_renegotiation",
    109: "missing_extension",
    110: "unsupported_extension",
    112: "unrecognized_name",
    113: "bad_certificate_status_response",
    115: "unknown_psk_identity",
    116: "certificate_required",
    120: "no_application_protocol",
}


def alert_name(description: int) -> str:
    """The registered name of an alert, or `alert_` and its number."""
    return _ALERTS.get(description, f"alert_{description}")


def version_name(version: int) -> str:
    """`TLSv1.3`, or the number of a version that is not registered."""
    return VERSIONS.get(version, f"0x{version:04X}")


def suite_name(number: int) -> str:
    """The registered name of a cipher suite, or its number when it is not in our list."""
    return _NAMES.get(number, f"0x{number:04X}")
