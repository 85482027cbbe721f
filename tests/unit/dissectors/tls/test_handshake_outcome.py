"""How handshakes of OpenSSL end: what both ends know is compared with what the packets tell."""

from __future__ import annotations

import random
import ssl

import pytest
from tls_tools import SERVER_NAME, certificate

from dissectors.tls.outcome import FAILED, FINISHED, UNREADABLE_ALERT, HandshakeOutcome

Flight = tuple[int, bytes]
VERSIONS = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)


def handshake(
    version: ssl.TLSVersion, trusts: bool = True, asks_client: bool = False
) -> tuple[list[Flight], list[str]]:
    """(What both ends sent, side 0 the client; the reasons for which they gave up) of a handshake and some content."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate())
    server.verify_mode = ssl.CERT_REQUIRED if asks_client else ssl.CERT_NONE
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if trusts:
        client.load_verify_locations(certificate())
    for context in (client, server):
        context.minimum_version = context.maximum_version = version
        if asks_client:
            context.load_verify_locations(certificate())
    pipes = [(ssl.MemoryBIO(), ssl.MemoryBIO()) for _ in range(2)]
    ends = [client.wrap_bio(*pipes[0], server_hostname=SERVER_NAME), server.wrap_bio(*pipes[1], server_side=True)]
    sent: list[Flight] = []
    reasons: list[str] = []
    steps = [lambda: ends[0].do_handshake(), lambda: ends[1].do_handshake()]
    steps += [lambda: ends[0].write(b"a request"), lambda: ends[1].read(100), lambda: ends[1].write(b"a reply")]
    for step in (0, 1, 0, 1, 0, 2, 3, 4):
        try:
            steps[step]()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            reasons.append(str(error.reason))
        for side, other in ((0, 1), (1, 0)):
            if data := pipes[side][1].read():
                sent.append((side, data))
                pipes[other][0].write(data)
    return sent, reasons


def seen(flights: list[Flight], size: int) -> HandshakeOutcome:
    """What the stage sees of these bytes, in pieces of `size`."""
    outcome = HandshakeOutcome()
    for side, data in flights:
        for at in range(0, len(data), size):
            outcome.feed(side, memoryview(data)[at : at + size])
    return outcome


@pytest.mark.parametrize("size", (1, 7, 1400))
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_content_follows(version: ssl.TLSVersion, size: int) -> None:
    flights, reasons = handshake(version)
    found = seen(flights, size)
    assert not reasons
    assert (found.outcome(), found.alert, found.done) == (FINISHED, None, True)


@pytest.mark.parametrize("size", (1, 7, 1400))
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_a_client_does_not_know_the_authority(version: ssl.TLSVersion, size: int) -> None:
    flights, reasons = handshake(version, trusts=False)
    found = seen(flights, size)
    assert "CERTIFICATE_VERIFY_FAILED" in reasons
    assert (found.outcome(), found.alert, found.alert_side) == (FAILED, b"unknown_ca", 0)


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_a_server_asks_for_a_certificate(version: ssl.TLSVersion) -> None:
    flights, reasons = handshake(version, asks_client=True)
    found = seen(flights, 1400)
    assert "PEER_DID_NOT_RETURN_A_CERTIFICATE" in reasons
    # TLS 1.2 says why in clear, TLS 1.3 only that.
    told = b"handshake_failure" if version == ssl.TLSVersion.TLSv1_2 else UNREADABLE_ALERT
    assert (found.outcome(), found.alert, found.alert_side) == (FAILED, told, 1)


def test_the_certificate_is_read_where_it_is_in_clear() -> None:
    found = seen(handshake(ssl.TLSVersion.TLSv1_2)[0], 1400)
    assert found.subject == f"CN={SERVER_NAME}".encode()
    assert found.valid_from_ns == 1_767_225_600 * 10**9
    assert seen(handshake(ssl.TLSVersion.TLSv1_3)[0], 1400).subject is None


def test_a_certificate_of_no_known_version_is_none() -> None:
    """Its library has an error of its own for it, which is no ValueError."""
    v3, none = b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x22"
    flights = [(side, data.replace(v3, none, 1)) for side, data in handshake(ssl.TLSVersion.TLSv1_2)[0]]
    assert any(none in data for _, data in flights)
    found = seen(flights, 1400)
    assert found.subject is None and found.outcome() == FINISHED


def test_lost_bytes_leave_the_end_unknown() -> None:
    flights, _ = handshake(ssl.TLSVersion.TLSv1_2, trusts=False)
    found = HandshakeOutcome()
    found.feed(0, memoryview(flights[0][1]))
    found.gap()
    assert found.done and found.outcome() is None
    assert HandshakeOutcome().outcome() is None


def test_any_bytes_are_taken() -> None:
    """Damaged handshakes: no error, and what is held stays within the limit."""
    chance = random.Random(1)
    for _ in range(300):
        flights, _ = handshakes[chance.randrange(2)]
        found = HandshakeOutcome()
        for side, data in flights:
            damaged = bytearray(data)
            for _ in range(chance.randrange(3)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            found.feed(side, memoryview(damaged))
        assert found.outcome() in (None, FINISHED, FAILED)


handshakes = [handshake(version, trusts=False) for version in VERSIONS]


def test_more_bytes_than_a_handshake_has_are_not_held() -> None:
    found = HandshakeOutcome()
    found.feed(0, memoryview(b"\x16\x03\x01\x48\x00" + bytes(18_432)))
    for _ in range(10):
        found.feed(0, memoryview(b"\x16\x03\x01\x40\x00" + b"\x0b\x00\xff\xff" + bytes(16_380)))
    assert found.done and found.outcome() is None
