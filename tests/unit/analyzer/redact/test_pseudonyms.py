"""Pseudonyms: as long as before, one for each name, the same for the same key, and an address is one address everywhere."""

from __future__ import annotations

import string
from ipaddress import IPv6Address, ip_address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.redact.pseudonyms import KEY_BYTES, Pseudonyms

ONE, SAME, OTHER = (Pseudonyms(bytes([number]) * KEY_BYTES) for number in (1, 1, 2))
LEGAL = set(string.ascii_letters + string.digits + "._-")
NAMES = st.text(st.sampled_from(sorted(LEGAL)), min_size=1, max_size=40)


@given(NAMES)
def test_a_name_keeps_its_length_and_is_legal(name: str) -> None:
    found = ONE.name(name.encode())
    assert len(found) == len(name) and found == SAME.name(name.encode())
    # An address stays one.
    assert set(found.decode()) <= LEGAL


@given(st.binary(min_size=1, max_size=60))
def test_any_bytes_have_a_pseudonym_of_their_length(name: bytes) -> None:
    assert len(ONE.name(name)) == len(name) and len(ONE.host(name)) == len(name)


def test_short_names_never_become_one() -> None:
    for names in ([a + b for a in sorted(LEGAL) for b in sorted(LEGAL)], sorted(LEGAL)):
        legal = [name for name in names if name not in (".", "..")]
        found = {ONE.name(name.encode()) for name in legal}
        assert len(found) == len(legal) and not found & {b".", b".."}


def test_numbers_stay_numbers_and_nothing_else_becomes_one() -> None:
    """A broker's client id is its number: one of digits tells a broker from a client."""
    numbers = [f"{number:0{width}}".encode() for width in (1, 2, 3) for number in range(10**width)]
    given = [ONE.name(number) for number in numbers]
    assert all(each.isdigit() for each in given) and len(set(given)) == len(numbers)
    letters = [f"a{number:02x}".encode() for number in range(256)] + [bytes((letter,)) for letter in b"abcxyzABCXYZ"]
    assert not any(ONE.name(each).isdigit() for each in letters)


def test_another_key_gives_other_names() -> None:
    names = [f"{word}-{number}".encode() for word in ("topic", "a-long-topic-name") for number in range(1000)]
    assert sum(ONE.name(name) == OTHER.name(name) for name in names) == 0
    assert len({ONE.name(name) for name in names}) == len(names)


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_the_same_as_text(address) -> None:  # type: ignore[no-untyped-def]
    text, packed = str(address), ONE.ipv4(address.packed)
    assert str(ip_address(packed)) == ONE.host(text.encode()).decode() == ONE.name(text.encode()).decode()
    assert [len(part) for part in str(ip_address(packed)).split(".")] == [len(part) for part in text.split(".")]
    assert (
        ip_address(packed).is_loopback == address.is_loopback
        and ip_address(packed).is_multicast == address.is_multicast
    )


@pytest.mark.parametrize("numbers", [range(1, 0x10), range(0x10, 0x100), range(0x100, 0x1000), range(0x1000, 0x10000)])
def test_groups_of_an_ipv6_address_never_become_one_and_cost_little(
    numbers: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of one length, behind the same network: a permutation, found in a few steps whatever the length is."""
    hashed = []
    plain = ONE._hash
    monkeypatch.setattr(ONE, "_hash", lambda *what: hashed.append(1) or plain(*what))
    some = numbers[:: max(1, len(numbers) // 4000)]
    found = {ONE._hextet(b"6network", number) for number in some}
    assert len(found) == len(some) and found <= set(numbers)
    assert len(hashed) < 15 * len(some)


@given(st.ip_addresses(v=6))
@example(IPv6Address("::ffff:a00:0"))
def test_an_ipv6_address_is_the_same_as_text(address) -> None:  # type: ignore[no-untyped-def]
    packed = ONE.ipv6(address.packed)
    assert len(ONE.host(str(address).encode())) == len(ONE.name(str(address).encode())) == len(str(address))
    if not address.ipv4_mapped:
        assert ip_address(ONE.host(str(address).encode()).decode()).packed == packed
    assert (
        ip_address(packed).is_loopback == address.is_loopback
        and ip_address(packed).is_multicast == address.is_multicast
    )


@given(st.ip_addresses(v=4), st.integers(0, 255), st.integers(0, 3))
def test_addresses_share_as_many_numbers_as_before(address, number: int, place: int) -> None:  # type: ignore[no-untyped-def]
    other = bytearray(address.packed)
    other[place] = number
    one, two = ONE.ipv4(address.packed), ONE.ipv4(bytes(other))
    assert [a == b for a, b in zip(one, two, strict=True)][: place + 1] == [
        a == b for a, b in zip(address.packed, other, strict=True)
    ][: place + 1]
    assert (one == two) == (bytes(other) == address.packed)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("/10.0.0.1", "/9.9.9.9"), ("10.0.0.1:9092", "9.9.9.9:9092"), ("[2001:db8::1]:9092", "[f:f::f]:9092"),
        ("2001:DB8::A", "F:F::F"), ("::ffff:10.0.0.1", "::ffff:9.9.9.9"),
    ],
)  # fmt: skip
def test_what_stands_around_an_address_stays(text: str, form: str) -> None:
    found = ONE.name(text.encode()).decode()
    assert len(found) == len(text) and found != text
    assert [each for each in found if not each.isalnum()] == [each for each in text if not each.isalnum()]
    assert found.endswith(":9092") == form.endswith(":9092")
    plain = text.lstrip("/").removesuffix(":9092").strip("[]")
    assert ip_address(found.lstrip("/").removesuffix(":9092").strip("[]")).packed in (
        ONE.ipv4(ip_address(plain).packed[-4:]), ONE.ipv6(ip_address(plain).packed),
    )  # fmt: skip


def test_hosts_keep_their_domain() -> None:
    one, two = (ONE.host(f"broker-{number}.prod.example.com".encode()).decode() for number in (1, 2))
    assert one != two and one.split(".")[1:] == two.split(".")[1:]
    assert [len(label) for label in one.split(".")] == [8, 4, 7, 3]
    assert ONE.host(b"localhost") == b"localhost"


def test_member_ids_keep_the_client_that_they_embed() -> None:
    member = b"orders-client-0f8fad5b-d9cb-469f-a165-70867728950e"
    found = ONE.name(member)
    assert found.startswith(ONE.name(b"orders-client") + b"-") and found[-36:] != member[-36:]


def test_ids_with_a_meaning_stay() -> None:
    assert ONE.uuid(bytes(16)) == bytes(16) and ONE.uuid(bytes(15) + b"\1") == bytes(15) + b"\1"
    assert ONE.uuid(b"x" * 16) != b"x" * 16 and len(ONE.uuid(b"x" * 16)) == 16
    assert ONE.link_address(b"\xff" * 6) == b"\xff" * 6 and ONE.link_address(bytes(6)) == bytes(6)
    assert (
        not ONE.link_address(b"\x00\x16\x3e\x01\x02\x03")[0] & 1
        and ONE.link_address(b"\x01\x00\x5e\x01\x02\x03")[0] & 1
    )


def test_a_key_must_be_one() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Pseudonyms(b"short")
