"""Who logs in, and whether the broker agreed, from SASL tokens. What proves it (passwords, tokens, proofs) never leaves here.

Sources: RFC 4616 (PLAIN), RFC 5802 (SCRAM), RFC 7628 and KIP-255 (OAUTHBEARER), KIP-48 (logins with delegation tokens).
Other mechanisms (GSSAPI, AWS_MSK_IAM, ...) are told by name only.
"""

from __future__ import annotations

from typing import NamedTuple

# A user is a name, not a document.
_LONGEST_USER = 1024
_OAUTH_FIELD = b"\x01auth="


class Claim(NamedTuple):
    """What a client's token says. `user` is None where it names none or cannot be read; `token_id` is that of a
    delegation token, which then stands in the place of the user; `mechanism` is what the token itself shows, None when
    it shows none for sure."""

    user: str | None = None
    token_id: str | None = None
    mechanism: str | None = None


NOTHING = Claim()


def claim(mechanism: str | None, token: bytes) -> Claim:
    """Reads a client's token; `mechanism` as the handshake named it, None when the handshake was not seen.

    Without a handshake only forms that nothing else has are read: SCRAM and OAUTHBEARER, never PLAIN.
    """
    if mechanism == "PLAIN":
        return Claim(user=_plain_user(token), mechanism=mechanism)
    if mechanism is None or mechanism == "OAUTHBEARER" or mechanism.startswith("SCRAM-"):
        if _OAUTH_FIELD in token[:4096] and token[:2] in (b"n,", b"y,", b"p="):
            return Claim(user=_oauth_subject(token), mechanism="OAUTHBEARER")
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


def _oauth_subject(token: bytes) -> str | None:
    """The claim `sub` of a JSON web token; None for a token of another form."""
    from base64 import urlsafe_b64decode
    from json import loads

    begin = token.index(_OAUTH_FIELD) + len(_OAUTH_FIELD)
    value = token[begin : token.find(b"\x01", begin)]
    parts = value.split(b" ")[-1].split(b".")
    if len(parts) != 3:
        return None
    try:
        content = loads(urlsafe_b64decode(parts[1] + b"=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return None
    subject = content.get("sub") if isinstance(content, dict) else None
    return _text(subject.encode()) if isinstance(subject, str) else None


def _text(name: bytes) -> str | None:
    if not name or len(name) > _LONGEST_USER:
        return None
    try:
        return name.decode()
    except UnicodeDecodeError:
        return None
