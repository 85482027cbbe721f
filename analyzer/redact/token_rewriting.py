"""Login tokens without their proof: the name of the user becomes a pseudonym, all else zeros (`0` in text).

The forms are those of `dissectors.kafka.messages.sasl`. A token of another form becomes zero bytes.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from json import dumps, loads
from typing import TYPE_CHECKING

from dissectors.kafka.messages.sasl import claim

if TYPE_CHECKING:
    from analyzer.redact.texts import Texts

_BEARER = b"\x01auth=Bearer "
# What fields of SCRAM (RFC 5802) are there: of these the name is kept.
_SCRAM_NAMES = frozenset(b"nrsicpvem")
_SCRAM_ERRORS = frozenset((b"invalid-encoding", b"unknown-user", b"other-error", b"invalid-proof"))


def redact_token(token: bytes, mechanism: str | None, is_request: bool, texts: Texts) -> bytes:
    """A token of the client, or the broker's answer, of the same length. `mechanism`: as the handshake named it; None: unknown."""
    found: bytes | None = None
    if is_request and mechanism == "PLAIN":
        found = _plain(token, texts)
    elif is_request and claim(mechanism, token).mechanism == "OAUTHBEARER":
        found = _bearer(token, texts)
    elif mechanism is None or mechanism.startswith("SCRAM-"):
        found = _scram(token, is_request, texts)
    return found if found is not None and len(found) == len(token) else bytes(len(token))


def _plain(token: bytes, texts: Texts) -> bytes | None:
    """RFC 4616: [whom to act for] NUL user NUL password."""
    parts = token.split(b"\0")
    if len(parts) != 3:
        return None
    return b"\0".join((texts.of("principal", parts[0]), texts.of("principal", parts[1]), b"0" * len(parts[2])))


def _scram(token: bytes, is_request: bool, texts: Texts) -> bytes | None:
    fields = token.split(b",")
    if is_request and len(fields) >= 4 and fields[0] in (b"n", b"y") and fields[2].startswith(b"n="):
        named = b"n=" + texts.of("principal", fields[2][2:])
        acts_for = (
            b"a=" + texts.of("principal", fields[1][2:]) if fields[1].startswith(b"a=") else b"0" * len(fields[1])
        )
        rest = [each if each == b"tokenauth=true" else _scram_field(each) for each in fields[3:]]
        return None if None in rest else b",".join((fields[0], acts_for, named, *(each or b"" for each in rest)))
    found = [_scram_field(each) for each in fields]
    return None if None in found else b",".join(each or b"" for each in found)


def _scram_field(field: bytes) -> bytes | None:
    """`r=...` with zeros behind the name; None for what is no such field."""
    if len(field) < 2 or field[1:2] != b"=" or field[0] not in _SCRAM_NAMES:
        return None
    if field[:1] == b"e" and field[2:] in _SCRAM_ERRORS:
        return field
    if field[:1] == b"i" and field[2:].isdigit() and len(field) <= 10:
        return field
    return field[:2] + b"0" * (len(field) - 2)


def _bearer(token: bytes, texts: Texts) -> bytes | None:
    """RFC 7628: a JSON web token, whose subject becomes a pseudonym."""
    begin = token.find(_BEARER)
    if begin < 0:
        return None
    value = token[begin + len(_BEARER) : token.find(b"\x01", begin + 1)]
    behind = token[begin + len(_BEARER) + len(value) :]
    parts = value.split(b".")
    if len(parts) != 3 or behind.strip(b"\x01") or token[:3] not in (b"n,,", b"y,,"):
        return None
    content = _subject(parts[1], texts)
    written = b".".join((b"0" * len(parts[0]), content, b"0" * len(parts[2])))
    return token[:3] + b"0" * (begin - 3) + _BEARER + written + behind


def _subject(part: bytes, texts: Texts) -> bytes:
    """The middle part with `sub` alone, filled up with blanks to its length; zeros where that does not work."""
    try:
        content = loads(urlsafe_b64decode(part + b"=" * (-len(part) % 4)))
        subject = content["sub"]
        new = texts.of("principal", subject.encode()).decode()
        written = dumps({"sub": new}).encode().ljust(len(part) * 3 // 4)
        encoded = urlsafe_b64encode(written).rstrip(b"=")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return b"0" * len(part)
    return encoded if len(encoded) == len(part) else b"0" * len(part)
