"""TLS 1.2 with ciphers in CBC mode, both orders of encryption and MAC: what OpenSSL's ends say to each other is read."""

from __future__ import annotations

import ssl

import pytest
from tls_tools import Ends, assert_counted, converse, key_log, packets, run, said

from dissectors.tls.cbc import CbcKey
from dissectors.tls.names import SUITES, suite_name

V12 = ssl.TLSVersion.TLSv1_2
NO_ENCRYPT_THEN_MAC = 1 << 19  # SSL_OP_NO_ENCRYPT_THEN_MAC of OpenSSL
CIPHERS = (
    ("ECDHE-ECDSA-AES128-SHA", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ec"),
    ("ECDHE-ECDSA-AES256-SHA", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ec"),
    ("ECDHE-ECDSA-AES128-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ec"),
    ("ECDHE-ECDSA-AES256-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384", "ec"),
    ("ECDHE-RSA-AES128-SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "rsa"),
    ("AES256-SHA256", "TLS_RSA_WITH_AES_256_CBC_SHA256", "rsa"),
)


def ends(cipher: str, kind: str, encrypt_then_mac: bool) -> Ends:
    class Chosen(Ends):
        def _contexts(self, *words):  # type: ignore[no-untyped-def]
            contexts = super()._contexts(*words)
            if not encrypt_then_mac:
                for context in contexts:
                    context.options |= NO_ENCRYPT_THEN_MAC
            return contexts

    return Chosen(V12, f"{cipher}:@SECLEVEL=0", kind)


@pytest.mark.slow
@pytest.mark.parametrize("encrypt_then_mac", [True, False], ids=["encrypt-then-MAC", "MAC-then-encrypt"])
@pytest.mark.parametrize(("cipher", "name", "kind"), CIPHERS, ids=lambda value: value)
def test_every_byte_is_read(cipher: str, name: str, kind: str, encrypt_then_mac: bool) -> None:
    conversation = converse(ends(cipher, kind, encrypt_then_mac))
    for size, batch in ((1_448, 50), (7, 3)):
        one, other, facts = run(packets(conversation, size), key_log(conversation), batch=batch)
        assert facts is not None and facts.suite is not None and suite_name(facts.suite) == name
        assert (one.content, other.content) == (said(0), said(1))
        assert not one.losses and not other.losses
        assert facts.decrypted and facts.reason is None and facts.unread == (0, 0)
        assert_counted(one, other, facts)


@pytest.mark.parametrize("encrypt_then_mac", [True, False])
def test_reading_goes_on_after_a_loss(encrypt_then_mac: bool) -> None:
    """What comes behind lost packets is content again, byte for byte the end of what was said."""
    conversation = converse(ends("ECDHE-ECDSA-AES256-SHA384", "ec", encrypt_then_mac))
    segments = packets(conversation, 1_448)
    lost = [number for number, each in enumerate(segments) if number in (len(segments) // 2, len(segments) // 2 + 1)]
    one, other, facts = run([each for number, each in enumerate(segments) if number not in lost], key_log(conversation))
    assert facts is not None and facts.decrypted
    whole, read = (said(0), said(1)), (one.content, other.content)
    assert read != whole
    for side in (0, 1):
        assert read[side][:500] == whole[side][:500] and read[side][-500:] == whole[side][-500:]


def test_records_that_are_damaged_or_short_are_refused() -> None:
    key = CbcKey(SUITES[0xC00A], bytes(32), bytes(20), False)
    header = b"\x17\x03\x03\x00\x00"
    for size in (0, 1, 16, 20, 31, 32, 33, 48, 64, 16_384):
        assert key.open(header, bytes(size), 0) is None
        assert CbcKey(SUITES[0xC00A], bytes(32), bytes(20), True).open(header, bytes(size), 0) is None
