"""Who logs in, and whether the broker agreed, from SASL tokens. What proves it (passwords, tokens, proofs) never leaves here.

Sources: RFC 4616 (PLAIN), RFC 5802 (SCRAM), RFC 7628 and KIP-255 (OAUTHBEARER), KIP-48 (logins with delegation tokens),
RFC 2743 (GSSAPI).
Other mechanisms (GSSAPI, AWS_MSK_IAM, ...) are told by name only.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# A user is a name, not a document.
_LONGEST_USER = 1024
_OAUTH_FIELD = b"\x01auth="
# Words of RFC 7628 and of those who add to it; anything else may be a secret.
_STATUS = re.compile(r"[a-z][a-z_]{1,39}")
# What a broker says in words: short, and without a word so long that it may be a token. A number of the request before it, as
# "[1f2e]: ", or behind it, as " (ErrId: 1f2e)", is left out.
_WORDS = re.compile(r"[A-Za-z0-9_.,:;'()/-]{1,30}(?: [A-Za-z0-9_.,:;'()/-]{1,30}){0,19}")
_NUMBERED = re.compile(r"^\[[0-9a-f-]+\]: *|\s*\(ErrId: [0-9a-f]+\)$")
# Kafka's own words for credentials that do not fit, which say no more than the error code.
_NO_REASON = re.compile(r"(?i)invalid credentials|^authentication failed[.]?$|^sasl authentication failed[.]?$")
# Object identifiers of Kerberos (RFC 4121, 4.1) and of its negotiation (RFC 4178, 4.1), as they are in a first token.
_KERBEROS = (b"\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02", b"\x06\x06\x2b\x06\x01\x05\x05\x02")
_LATEST_S = 9_000_000_000  # within int64, in ns


class Claim(NamedTuple):
    """What a client's token says. `user` is None where it names none or cannot be read; `token_id` is that of a
    delegation token, which then takes the place of the user; `mechanism` is what the token itself shows, None when
    it shows none for sure. `expiry_ns`: until when a JSON web token is valid (its claim `exp`), None where it does not say."""

    user: str | None = None
    token_id: str | None = None
    mechanism: str | None = None
    expiry_ns: int | None = None


NOTHING = Claim()


def claim(mechanism: str | None, token: bytes) -> Claim:
    """Reads a client's token; `mechanism` as the handshake named it, None when the handshake was not seen.

    Without a handshake only forms that nothing else has are read: SCRAM, OAUTHBEARER and GSSAPI, never PLAIN.
    """
    if mechanism is None and token[:1] == b"\x60" and any(object_id in token[2:16] for object_id in _KERBEROS):
        return Claim(mechanism="GSSAPI")
    if mechanism == "PLAIN":
        return Claim(user=_plain_user(token), mechanism=mechanism)
    if mechanism is None or mechanism == "OAUTHBEARER" or mechanism.startswith("SCRAM-"):
        if _OAUTH_FIELD in token[:4096] and token[:2] in (b"n,", b"y,", b"p="):
            user, expiry_ns = _oauth_claims(token)
            return Claim(user=user, mechanism="OAUTHBEARER", expiry_ns=expiry_ns)
        if mechanism != "OAUTHBEARER":
            return _scram(token)._replace(mechanism=mechanism)
    return Claim(mechanism=mechanism)


def accepted(mechanism: str | None, answer: bytes, error_code: int | None) -> bool | None:
    """What a broker's answer to a token says of the login: True, it is done; False, it failed; None, it goes on or the
    mechanism is none that we read. `error_code` is None for the answer to a bare token."""
    if error_code:
        return False
    if mechanism == "PLAIN":
        return True
    if mechanism == "OAUTHBEARER":
        # What is wrong with the token is told in JSON, and only then the login fails.
        return not answer
    if mechanism is None or mechanism.startswith("SCRAM-"):
        if answer.startswith(b"v="):
            return True
        if answer.startswith(b"e="):
            return False
    return None


def _plain_user(token: bytes) -> str | None:
    """The second of [whom to act for] NUL user NUL password."""
    parts = token.split(b"\0")
    return _text(parts[1]) if len(parts) == 3 else None


def _scram(token: bytes) -> Claim:
    """The client's first message: GS2 header, then n=user,r=nonce and extensions. Its second one names nobody."""
    header = token.split(b",", 2)
    if len(header) < 3 or header[0][:1] not in (b"n", b"y", b"p"):
        return NOTHING
    fields = header[2].split(b",")
    if len(fields) < 2 or not fields[0].startswith(b"n=") or not fields[1].startswith(b"r="):
        return NOTHING
    name = _text(fields[0][2:].replace(b"=2C", b",").replace(b"=3D", b"="))
    if b"tokenauth=true" in fields[2:]:
        return Claim(token_id=name)
    return Claim(user=name)


def refusal(mechanism: str | None, answer: bytes, message: str | None = None) -> str | None:
    """Why a broker refuses a login: of an OAUTHBEARER token the `status` of its JSON (RFC 7628, 3.2.2), such as invalid_token,
    else its error message, if that says more than the error code; None where it says none."""
    if mechanism == "OAUTHBEARER" and answer:
        content = _json(answer)
        status = content.get("status") if isinstance(content, dict) else None
        if isinstance(status, str) and _STATUS.fullmatch(status):
            return status
    words = _NUMBERED.sub("", (message or "")[:700]).strip()
    return words if _WORDS.fullmatch(words) and not _NO_REASON.search(words) else None


def _oauth_claims(token: bytes) -> tuple[str | None, int | None]:
    """The claims `sub` and `exp` of a JSON web token (RFC 7519, 4.1); None for what it lacks, and for a token of another form."""
    from base64 import urlsafe_b64decode

    begin = token.index(_OAUTH_FIELD) + len(_OAUTH_FIELD)
    value = token[begin : token.find(b"\x01", begin)]
    parts = value.split(b" ")[-1].split(b".")
    if len(parts) != 3:
        return None, None
    try:
        content = _json(urlsafe_b64decode(parts[1] + b"=" * (-len(parts[1]) % 4)))
    except ValueError:
        return None, None
    if not isinstance(content, dict):
        return None, None
    subject, expiry = content.get("sub"), content.get("exp")
    user = _text(subject.encode("utf-8", "surrogatepass")) if isinstance(subject, str) else None
    if isinstance(expiry, bool) or not isinstance(expiry, (int, float)) or not 0 < expiry < _LATEST_S:
        return user, None
    return user, int(expiry * 1000) * 1_000_000


def _json(data: bytes) -> object:
    """What JSON says; None where it is none."""
    from json import loads

    try:
        found: object = loads(data)
    except (ValueError, RecursionError):
        return None
    return found


def _text(name: bytes) -> str | None:
    if not name or len(name) > _LONGEST_USER:
        return None
    try:
        return name.decode()
    except UnicodeDecodeError:
        return None
