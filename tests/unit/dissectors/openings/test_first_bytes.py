"""What the first bytes of both sides are taken for; whatever they are, an answer comes."""

from __future__ import annotations

import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as some
from opening_bytes import ESTABLISHED, FOR, OPENINGS, SIGNATURE, SOCKS_4, SOCKS_5, TARGET, Said, version_1, version_2

from dissectors.openings.openings import first_bytes
from dissectors.openings.verdicts import MORE, OTHER, Opening


def sides(said: Said) -> tuple[bytes, bytes]:
    client, server = (b"".join(data for who, data in said if who == side) for side in range(2))
    return client, server


SINGLE = {name: said for name, (said, _, _) in OPENINGS.items() if " and " not in name and name != "connect, login"}


@pytest.mark.parametrize("name", SINGLE)
def test_each_opening_is_read_to_its_last_byte(name: str) -> None:
    client, server = sides(SINGLE[name])
    found = first_bytes(client, server)
    assert isinstance(found, Opening)
    assert (found.client_bytes, found.server_bytes) == (len(client), len(server))


@pytest.mark.parametrize("name", SINGLE)
def test_until_its_end_more_is_waited_for(name: str) -> None:
    """Cut at every byte, in the order in which the two sides speak."""
    client = server = b""
    for number, (side, data) in enumerate(SINGLE[name]):
        for at in range(len(data)):
            assert first_bytes(client, server) is MORE, (number, at)
            client, server = (client + data[at : at + 1], server) if side == 0 else (client, server + data[at : at + 1])
    assert isinstance(first_bytes(client, server), Opening)


@pytest.mark.parametrize("name", [name for name in SINGLE if name.startswith("proxy")])
def test_what_stands_behind_a_proxy_header_is_not_looked_at(name: str) -> None:
    client, _ = sides(SINGLE[name])
    alone, followed = first_bytes(client, b""), first_bytes(client + b"\0\0\0\x10anything", b"answer")
    assert alone == followed


@pytest.mark.parametrize(
    ("client", "server"),
    [
        (b"", b"220 ready"),  # the other side speaks first
        (b"PROXY TCP4 1.2.3.4 5.6.7.8 1 99999\r\n", b""),
        (b"PROXY TCP4 1.2.3.400 5.6.7.8 1 2\r\n", b""),
        (b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n", b""),
        (b"PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n", b""),
        (b"PROXY TCP4 \xff 1.2.3.4 1 2\r\n", b""),
        (b"PROXY TCP4 " + b"1" * 200, b""),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b""),
        (SIGNATURE + b"\x31\x11\x00\x0c" + bytes(12), b""),  # version 3
        (SIGNATURE + b"\x22\x11\x00\x0c" + bytes(12), b""),  # an unknown command
        (SIGNATURE + b"\x21\x11\x00\x04" + bytes(4), b""),  # too short for its addresses
        (b"CONNECT somewhere\r\n\r\n", b""),
        (b"CONNECT a:1 HTTP/1.1\r\n\r\n", b"SSH-2.0"),
        (b"CONNECT a:1 HTTP/1.1\r\n" + b"x" * 70_000, b""),
        (b"GET / HTTP/1.1\r\n\r\n", ESTABLISHED),
        (SOCKS_5[0][1], b"\x04\x00"),
        (SOCKS_5[0][1], b"\x05\x01"),  # a method (GSS-API) that we do not read
        (SOCKS_4[0][1], b"\x00\x00\x00\x00\x00\x00\x00\x00"),
        (struct.pack(">ihhih", 0x05010010, 0, 9, 1, 4) + b"test", b""),  # a Produce request of 84 MB
        (struct.pack(">ihhih", 0x04010010, 0, 9, 1, 4) + b"test" + bytes(500), b""),  # one of 67 MB
        (SOCKS_5[0][1] + b"\0", b""),  # the client does not wait for the answer
    ],
)
def test_what_is_no_opening(client: bytes, server: bytes) -> None:
    assert first_bytes(client, server) is OTHER


def test_addresses_are_those_of_the_source() -> None:
    low = int.from_bytes(bytes([0, 0, 0xFF, 0xFF, 203, 0, 113, 7]), "big")
    for header in (version_1(FOR, TARGET), version_2(FOR, TARGET)):
        found = first_bytes(header, b"")
        assert isinstance(found, Opening) and found.address == (0, low)


def test_a_health_check_names_nobody() -> None:
    found = first_bytes(version_2(FOR, TARGET, command=0), b"")
    assert isinstance(found, Opening) and found.address is None


@given(some.binary(max_size=200), some.binary(max_size=200))
def test_any_bytes_get_an_answer(client: bytes, server: bytes) -> None:
    """No exception, and no opening longer than what was said."""
    found = first_bytes(client, server)
    if isinstance(found, Opening):
        assert 0 < found.client_bytes <= len(client) and found.server_bytes <= len(server)


@pytest.mark.parametrize("name", SINGLE)
def test_damaged_openings_get_an_answer(name: str) -> None:
    chance = random.Random(name)
    for _ in range(300):
        client, server = (bytearray(data) for data in sides(SINGLE[name]))
        for data in (client, server):
            for _ in range(chance.randrange(3)):
                if data:
                    data[chance.randrange(len(data))] = chance.randrange(256)
        found = first_bytes(bytes(client), bytes(server[: chance.randrange(len(server) + 1)]))
        if isinstance(found, Opening):
            assert found.client_bytes <= len(client) and found.server_bytes <= len(server)
