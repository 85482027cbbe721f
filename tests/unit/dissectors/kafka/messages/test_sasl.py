"""SASL tokens: examples of the RFCs, and what must never come out."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissectors.kafka.messages.sasl import Claim, accepted, claim, refusal

# RFC 5802, section 5; RFC 7677, section 3; RFC 4616, section 4; RFC 7628, section 4.1.
SCRAM_1 = b"n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL"
SCRAM_256 = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
SCRAM_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
PLAIN = b"\0tim\0tanstaaftanstaaf"
PLAIN_AS = b"Ursel\0Kurt\0xipj3plmq"
OAUTH = b"n,a=user@example.com,\x01host=a.example.com\x01port=143\x01auth=Bearer vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==\x01\x01"


KERBEROS = b"\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02"


def json_web_token(content: object) -> bytes:
    parts = (b'{"alg":"none"}', json.dumps(content).encode(), b"signature")
    return b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)


def bearer(content: object) -> bytes:
    return b"n,,\x01auth=Bearer " + json_web_token(content) + b"\x01\x01"


@pytest.mark.parametrize(
    ("mechanism", "token", "wanted"),
    [
        ("SCRAM-SHA-256", SCRAM_256, Claim("user", None, "SCRAM-SHA-256")),
        (None, SCRAM_1, Claim("user", None, None)),
        ("SCRAM-SHA-512", b"n,,n=a=2Cb=3Dc,r=x", Claim("a,b=c", None, "SCRAM-SHA-512")),
        ("SCRAM-SHA-512", b"n,a=boss,n=u,r=x", Claim("u", None, "SCRAM-SHA-512")),
        ("SCRAM-SHA-256", b"n,,n=id-1,r=x,tokenauth=true", Claim(None, "id-1", "SCRAM-SHA-256")),
        ("SCRAM-SHA-256", SCRAM_FINAL, Claim(None, None, "SCRAM-SHA-256")),
        ("PLAIN", PLAIN, Claim("tim", None, "PLAIN")),
        ("PLAIN", PLAIN_AS, Claim("Kurt", None, "PLAIN")),
        ("PLAIN", b"\0tim", Claim(None, None, "PLAIN")),
        # Without the handshake these bytes might be anything.
        (None, PLAIN, Claim()),
        ("OAUTHBEARER", OAUTH, Claim(None, None, "OAUTHBEARER")),
        ("OAUTHBEARER", bearer({"sub": "carol", "scope": "x"}), Claim("carol", None, "OAUTHBEARER")),
        (None, bearer({"sub": "carol"}), Claim("carol", None, "OAUTHBEARER")),
        ("OAUTHBEARER", bearer(["sub"]), Claim(None, None, "OAUTHBEARER")),
        ("OAUTHBEARER", bearer({"sub": 7}), Claim(None, None, "OAUTHBEARER")),
        ("OAUTHBEARER", bearer({"exp": 1_700_000_000}), Claim(None, None, "OAUTHBEARER", 1_700_000_000 * 10**9)),
        ("OAUTHBEARER", bearer({"exp": 1.5}), Claim(None, None, "OAUTHBEARER", 1_500_000_000)),
        *(
            ("OAUTHBEARER", bearer({"exp": exp}), Claim(None, None, "OAUTHBEARER"))
            for exp in (True, "1", -1, 1e300, 10**99)
        ),
        (None, b"\x60\x82\x02\x00" + KERBEROS, Claim(None, None, "GSSAPI")),
        ("GSSAPI", b"\x60\x82\x02\x00\0tim\0secret", Claim(None, None, "GSSAPI")),
        (None, b"\x60\x82\x02\x00", Claim()),
        (None, b"", Claim()),
    ],
)
def test_claims(mechanism: str | None, token: bytes, wanted: Claim) -> None:
    assert claim(mechanism, token) == wanted


@pytest.mark.parametrize(
    ("mechanism", "answer", "error", "wanted"),
    [
        ("PLAIN", b"", None, True),
        ("PLAIN", b"", 0, True),
        ("PLAIN", b"", 58, False),
        ("SCRAM-SHA-256", b"r=rOpr,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", 0, None),
        ("SCRAM-SHA-256", b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", None, True),
        ("SCRAM-SHA-256", b"e=invalid-proof", None, False),
        (None, b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", 0, True),
        ("OAUTHBEARER", b"", 0, True),
        ("OAUTHBEARER", b'{"status":"invalid_token"}', 0, False),
        ("GSSAPI", b"\x60\x01", 0, None),
        ("GSSAPI", b"", 58, False),
    ],
)
def test_outcomes(mechanism: str | None, answer: bytes, error: int | None, wanted: bool | None) -> None:
    assert accepted(mechanism, answer, error) is wanted


MECHANISMS = st.sampled_from(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI", None])


@given(MECHANISMS, st.binary(max_size=200))
def test_any_bytes_can_be_read(mechanism: str | None, token: bytes) -> None:
    found = claim(mechanism, token)
    assert found.mechanism in (mechanism, "OAUTHBEARER", "GSSAPI")
    accepted(mechanism, token, None)
    refusal(mechanism, token)


@pytest.mark.parametrize(
    ("mechanism", "answer", "wanted"),
    [
        ("OAUTHBEARER", b'{"status":"invalid_token","scope":"all"}', "invalid_token"),  # RFC 7628, 4.3
        ("OAUTHBEARER", b'{"status":"eyJhbGciOiJub25lIn0.e30."}', None),
        ("OAUTHBEARER", b'{"status":["invalid_token"]}', None),
        ("OAUTHBEARER", b'"invalid_token"', None),
        ("OAUTHBEARER", b"[" * 100_000, None),
        ("OAUTHBEARER", b"", None),
        ("PLAIN", b'{"status":"invalid_token"}', None),
    ],
)
def test_why_a_token_is_refused(mechanism: str, answer: bytes, wanted: str | None) -> None:
    assert refusal(mechanism, answer) == wanted


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("[6f1c2a90-11]: Too many connects", "Too many connects"),  # Amazon MSK, which numbers each request
        ("Authentication failed: token expired (ErrId: 1f2e)", "Authentication failed: token expired"),  # Strimzi
        ("Authentication failed: Invalid username or password", "Authentication failed: Invalid username or password"),
        # Kafka's own words of the error code, nothing, or what may be a token.
        (
            "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256",
            None,
        ),
        ("Authentication failed", None),
        ("", None),
        (None, None),
        ("refused eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhIn0", None),
        ("a\x1b[31mb", None),
    ],
)
def test_why_a_login_is_refused(message: str | None, wanted: str | None) -> None:
    assert refusal("PLAIN", b"", message) == wanted


@given(st.text("abcdefgh", min_size=1), st.text("0123456789", min_size=8, max_size=30))
def test_a_password_never_comes_out(user: str, password: str) -> None:
    tokens = [f"\0{user}\0{password}", f"{user}\0{user}\0{password}", f"c=biws,r=abc,p={password}"]
    tokens += [f"{user}\0{password}", f"{password}", f"n,,\x01auth=Bearer {password}\x01\x01"]
    for token in tokens:
        for mechanism in ("PLAIN", "SCRAM-SHA-256", "OAUTHBEARER", None):
            assert password not in str(claim(mechanism, token.encode()))
            assert password not in str(refusal(mechanism, token.encode()))
