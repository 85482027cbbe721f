"""Key schedules against published vectors, and key logs as they come."""

from __future__ import annotations

import pytest

from dissectors.tls.hello import Messages, client_hello
from dissectors.tls.keys import CLIENT_TRAFFIC, MASTER, KeyLog, expand_label, prf

# RFC 8448, section 3: traffic secret, the key and the nonce that come from it.
RFC_8448 = (
    ("b3eddb126e067f35a780b3abf45e2d8f3b1a950738f52e9600746a0e27a55a21", "dbfaa693d1762c5b666af5d950258d01",
     "5bd3c71b836e0b76bb73265f"),
    ("b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38", "3fce516009c21727d0f2e4e86ee403bc",
     "5d313eb2671276ee13000b30"),
    ("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643", "9f02283b6c9c07efc26bb9f2ac92e356",
     "cf782b88dd83549aadf1e984"),
    ("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5", "17422dda596ed5d9acd890e3c63f5051",
     "5b78923dee08579033e523d9"),
)  # fmt: skip


@pytest.mark.parametrize(("secret", "key", "nonce"), RFC_8448)
def test_traffic_keys_of_rfc_8448(secret: str, key: str, nonce: str) -> None:
    assert expand_label("sha256", bytes.fromhex(secret), b"key", 16).hex() == key
    assert expand_label("sha256", bytes.fromhex(secret), b"iv", 12).hex() == nonce


def test_prf_of_tls_1_2() -> None:
    """The vector for P_SHA256 that the TLS working group agreed on."""
    found = prf(
        "sha256",
        bytes.fromhex("9bbe436ba940f017b17652849a71db35"),
        b"test label",
        bytes.fromhex("a0ba9f936cda311827a6f796ffd5198c"),
        100,
    )
    assert found.hex() == (
        "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14baf9af"
        "0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff70187347b66"
    )


def test_key_log_lines() -> None:
    random, secret = bytes(range(32)), bytes(48)
    keys = KeyLog()
    keys.read(
        b"# a comment\r\n\r\n"
        + b"CLIENT_RANDOM %b %b\r\n" % (random.hex().encode(), secret.hex().encode())
        + b"CLIENT_RANDOM %b %b\n" % (random.hex().encode(), b"11" * 48)  # the first one counts
        + b"EXPORTER_SECRET 00 11\nCLIENT_TRAFFIC_SECRET_1 00 11\n"  # no secrets of ours
    )
    assert keys.find(MASTER, random) == secret
    assert keys.find(CLIENT_TRAFFIC, random) is None
    assert keys.broken_lines == 0
    keys.read(b"CLIENT_RANDOM\nCLIENT_RANDOM 00 00\nCLIENT_TRAFFIC_SECRET_0 %b 00\nhello\n" % random.hex().encode())
    assert keys.broken_lines == 4
    assert secret.hex() not in repr(keys)


def test_a_key_that_comes_late_is_noticed() -> None:
    random = b"r" * 32
    keys = KeyLog()
    keys.miss(random)
    keys.read(b"CLIENT_RANDOM %b %b" % (b"00" * 32, b"11" * 48))
    assert not keys.came_late
    keys.read(b"CLIENT_RANDOM %b %b" % (random.hex().encode(), b"11" * 48))
    assert keys.came_late
    assert keys.afresh().find(MASTER, random) and not keys.afresh().came_late


def test_names_that_lie_about_their_size_are_left_out() -> None:
    hello = b"\3\3" + b"r" * 32 + b"\0" + b"\0\2\x13\1" + b"\1\0"
    name = b"\0\0\0\x0a\0\x08\0\xff\xffshort"  # 65,535 bytes of name in an extension of ten
    assert client_hello(hello + len(name).to_bytes(2, "big") + name).server_name is None
    name = b"\0\0\0\x0a\0\x08\0\0\x05short"
    assert client_hello(hello + len(name).to_bytes(2, "big") + name).server_name == b"short"
    assert client_hello(hello).server_name is None


def test_messages_over_records() -> None:
    """Hellos are kept whole wherever records cut them, others are passed over by their length."""
    data = b"\1\0\0\5hello" + b"\x0b\1\0\0" + b"c" * 65_536 + b"\2\0\0\3abc" + b"\x14\0\0\x20" + b"f" * 32
    for step in (1, 3, 7, 1_000, len(data)):
        messages = Messages()
        found = [pair for at in range(0, len(data), step) for pair in messages.feed(data[at : at + step])]
        assert found == [(1, b"hello"), (11, b""), (2, b"abc"), (20, b"")]
