"""Names and addresses -> pseudonyms of the same length, by a secret key: the same key gives the same ones, whatever file or day.

Nobody can go back without the key: each one comes from a keyed hash (BLAKE2b, RFC 7693), as HMAC would give it.

- A short name goes through a keyed permutation of all legal names of its length (a Feistel network that walks until it is back
  among them, as in NIST SP 800-38G), so two names never become one, and a number becomes a number. A longer one is hashed to
  letters and digits.
- An address is replaced number by number. What a number becomes depends on those before it, so that two addresses share as many
  numbers as before (Xu et al., Crypto-PAn, 2002). It keeps its count of digits, so the address is as long as before where it
  is text, and says the same as in the packets' headers. Loopback, unspecified, broadcast and multicast addresses stay.
- A host name is replaced label by label, so a domain stays the same in all names.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from ipaddress import AddressValueError, IPv4Address, IPv6Address

KEY_BYTES = 32
# From so many characters on two of a billion names become one with a chance of less than 1 in 5.
_HASHED_FROM = 12
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_PLAIN = _LETTERS + _DIGITS
# Characters of a topic's name.
_LEGAL = _PLAIN + _LETTERS.upper() + "._-"
_ROUNDS = 10
_MOST_CACHED = 1 << 17
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_PORT = re.compile(r"(.*):(\d{1,5})", re.DOTALL)
_LABEL = re.compile(r"[A-Za-z0-9_-]+")
_RESERVED_UUIDS = (bytes(16), bytes(15) + b"\x01")


class Pseudonyms:
    """All that is made with one key. `key`: 32 bytes that nobody else knows."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes, got {len(key)}")
        self._key = key
        self.name = lru_cache(_MOST_CACHED)(self._name)
        self.host = lru_cache(_MOST_CACHED)(self._host)
        self.ipv4 = lru_cache(_MOST_CACHED)(self._ipv4)
        self.ipv6 = lru_cache(_MOST_CACHED)(self._ipv6)
        self.uuid = lru_cache(_MOST_CACHED)(self._uuid)
        self.link_address = lru_cache(_MOST_CACHED)(self._link_address)
        self._turned = lru_cache(1 << 12)(self._turn)

    def _hash(self, what: str, data: bytes, size: int = 32) -> int:
        return int.from_bytes(blake2b(data, key=self._key, person=what.encode(), digest_size=size).digest(), "big")

    def _name(self, name: bytes) -> bytes:
        """A name of as many bytes, of characters that a topic may have. What looks like an address is replaced as one, and a
        UUID at the end by itself, since member ids are made of the name of a client and a UUID."""
        text = name.decode("latin-1")
        if not text:
            return name
        if not text.strip(" :.,;"):
            return name
        if (found := self._address_text(text)) is not None:
            return found.encode()
        if text[0] in ": ":
            return name[:1] + self.name(name[1:])
        if len(text) > 37 and _UUID.fullmatch(text[-36:]) and text[-37] in "-_":
            return self.name(name[:-37]) + name[-37:-36] + self._uuid_text(text[-36:]).encode()
        if _UUID.fullmatch(text):
            return self._uuid_text(text).encode()
        if len(text) < _HASHED_FROM and all(character in _LEGAL for character in text):
            return self._permuted(text).encode()
        return self._hashed(name, len(name)).encode()

    def _hashed(self, name: bytes, size: int) -> str:
        number = self._hash("name", name)
        number, first = divmod(number, len(_LETTERS))
        found = [_LETTERS[first]]
        block = 0
        while len(found) < size:
            if not number:
                block += 1
                number = self._hash("name", b"%d:" % block + name)
            number, place = divmod(number, len(_PLAIN))
            found.append(_PLAIN[place])
        return "".join(found)

    def _permuted(self, text: str) -> str:
        """A name of digits becomes one of digits, and no other does: a broker's client id is its number, which tells who it is."""
        is_number = text.isdigit()
        legal = _DIGITS if is_number else _LEGAL
        count = len(legal) ** len(text)
        half = -(-(count - 1).bit_length() // 2)
        number = 0
        for character in text:
            number = number * len(legal) + legal.index(character)
        while True:
            number = self._feistel(number, half, len(text))
            if number >= count:
                continue
            places = []
            rest = number
            for _ in text:
                rest, place = divmod(rest, len(legal))
                places.append(legal[place])
            found = "".join(reversed(places))
            if found not in (".", "..") and found.isdigit() == is_number:
                return found

    def _feistel(self, number: int, half: int, size: int) -> int:
        mask = (1 << half) - 1
        left, right = number >> half, number & mask
        for turn in range(_ROUNDS):
            left, right = right, left ^ (self._hash("short", b"%d:%d:%d" % (size, turn, right), 16) & mask)
        return left << half | right

    # ---- addresses ----

    def _ipv4(self, address: bytes) -> bytes:
        """Four bytes of an address, for four bytes."""
        first = address[0]
        if first in (0, 127) or first >= 224:
            return address
        found = bytearray()
        for place, octet in enumerate(address):
            low, high = (0, 9) if octet < 10 else (10, 99) if octet < 100 else (100, 255)
            if place == 0:
                high = min(high, 223)
            of = [number for number in range(low, high + 1) if place or number not in (0, 127)]
            found.append(self._turned(b"4" + address[:place], tuple(of))[octet])
        return bytes(found)

    def _turn(self, prefix: bytes, of: tuple[int, ...]) -> dict[int, int]:
        """A permutation of these numbers, which depends on what comes before."""
        order = sorted(of, key=lambda number: self._hash("address", b"%d:" % number + prefix, 16))
        return dict(zip(of, order, strict=True))

    def _ipv6(self, address: bytes) -> bytes:
        """Sixteen bytes of an address, for sixteen bytes."""
        if address[:12] == bytes(10) + b"\xff\xff":
            return address[:12] + self.ipv4(address[12:])
        if address[0] == 0xFF or address in (bytes(16), bytes(15) + b"\x01"):
            return address
        found = bytearray()
        for place in range(0, 16, 2):
            number = int.from_bytes(address[place : place + 2], "big")
            is_link_local = place == 0 and 0xFE80 <= number < 0xFEC0
            new = number if is_link_local else self._hextet(b"6" + address[:place], number)
            found += new.to_bytes(2, "big")
        return bytes(found)

    def _hextet(self, prefix: bytes, number: int) -> int:
        """A permutation of the numbers of as many hexadecimal digits; 0 stays, as text leaves it out."""
        if number < 0x10:
            low, count = 1, 0xF
        elif number < 0x100:
            low, count = 0x10, 0xF0
        elif number < 0x1000:
            low, count = 0x100, 0xF00
        else:
            low, count = 0x1000, 0xF000
        if number == 0:
            return 0
        number -= low
        half = count.bit_length() // 2
        mask = (1 << half) - 1
        while True:
            left, right = number >> half, number & mask
            for turn in range(_ROUNDS):
                what = b"%d:%d:%d:" % (low, turn, right) + prefix
                left, right = right, left ^ (self._hash("hextet", what, 16) & mask)
            number = left << half | right
            # 0xfe80 and 0xff00 mean something, so nothing becomes them.
            if number < count and (len(prefix) > 1 or number + low < 0xFE00):
                return number + low

    def _address_text(self, text: str) -> str | None:
        """The text of an address, with what Java and people write around it: `/10.0.0.1`, `10.0.0.1:9092`, `[::1]:9092`."""
        if text.startswith("/"):
            inner = self._address_text(text[1:])
            return None if inner is None else f"/{inner}"
        if (found := self._ipv4_text(text)) is not None or (found := self._ipv6_text(text)) is not None:
            return found
        if with_port := _PORT.fullmatch(text):
            host = with_port[1]
            if host.startswith("[") and host.endswith("]") and (inner := self._ipv6_text(host[1:-1])) is not None:
                return f"[{inner}]:{with_port[2]}"
            if (inner := self._ipv4_text(host)) is not None:
                return f"{inner}:{with_port[2]}"
        return None

    def _ipv4_text(self, text: str) -> str | None:
        if not 7 <= len(text) <= 15:
            return None
        try:
            return ".".join(map(str, self.ipv4(IPv4Address(text).packed)))
        except AddressValueError:
            return None

    def _ipv6_text(self, text: str) -> str | None:
        """The same text with other digits: where zeros are left out, or letters are large, it stays so. An
        IPv4 address in hexadecimal is hashed where its pseudonym, found by decimal digits, would be longer or shorter."""
        address, mark, zone = text.partition("%")
        try:
            packed = IPv6Address(address).packed
        except (AddressValueError, ValueError):
            return None
        new = self.ipv6(packed)
        words = [int.from_bytes(new[place : place + 2], "big") for place in range(0, 16, 2)]
        last = address.rpartition(":")[2]
        tail = ""
        if "." in last:
            if not packed.startswith(bytes(10) + b"\xff\xff"):
                return None
            address, words, tail = address[: -len(last)], words[:6], ".".join(map(str, new[12:]))
            if not address.endswith("::"):
                address, tail = address[:-1], f":{tail}"
        before, gap, behind = address.partition("::")
        front = [part for part in before.split(":") if part]
        back = [part for part in behind.split(":") if part]
        front = [_hex(words[place], part) for place, part in enumerate(front)]
        start = len(words) - len(back)
        back = [_hex(words[start + place], part) for place, part in enumerate(back)]
        written = ":".join(front) + gap + ":".join(back) + tail
        if len(written) != len(text.partition("%")[0]):
            return self._hashed(text.encode("latin-1"), len(text))
        zone = f"{mark}{self.name(zone.encode('latin-1')).decode('latin-1')}" if mark else ""
        return written + zone

    def _host(self, name: bytes) -> bytes:
        """A host as a message names it: an address, or a name whose labels are replaced one by one; `localhost` stays."""
        text = name.decode("latin-1")
        if text in ("", "localhost", "localhost.localdomain"):
            return name
        if (found := self._address_text(text)) is not None:
            return found.encode()
        with_port = _PORT.fullmatch(text)
        if with_port:
            return self.host(with_port[1].encode("latin-1")) + f":{with_port[2]}".encode()
        labels = text.split(".")
        if not all(_LABEL.fullmatch(label) for label in labels):
            return self._hashed(name, len(name)).encode()
        return ".".join(self._label(label) for label in labels).encode()

    def _label(self, label: str) -> str:
        if len(label) >= _HASHED_FROM or not label:
            return self._hashed(label.encode(), len(label)) if label else ""
        # Case does not count in a host name: the labels of lower-case letters and digits that begin with a letter are turned.
        number, size = 0, len(label)
        if not all(character in _PLAIN for character in label) or label[0] not in _LETTERS:
            return self._hashed(b"label:" + label.encode(), size)
        count = len(_LETTERS) * len(_PLAIN) ** (size - 1)
        for character in label:
            number = number * len(_PLAIN) + _PLAIN.index(character)
        half = max(2, -(-(count - 1).bit_length() // 2))
        while True:
            number = self._feistel(number, half, -size)
            if number < count:
                break
        digits = []
        for _ in range(size):
            number, place = divmod(number, len(_PLAIN))
            digits.append(_PLAIN[place])
        return "".join(reversed(digits))

    # ---- numbers that name something ----

    def _uuid(self, value: bytes) -> bytes:
        """Sixteen bytes; those that Kafka gives a meaning (none, the topic of metadata) stay."""
        if value in _RESERVED_UUIDS:
            return value
        return self._hash("uuid", value, 16).to_bytes(16, "big")

    def _uuid_text(self, text: str) -> str:
        digits = f"{self._hash('uuid', text.encode(), 16):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def _link_address(self, value: bytes) -> bytes:
        """A MAC address, or another of a link layer. None (zeros) and all (ones) stay; groups stay groups."""
        if not any(value) or value == b"\xff" * len(value):
            return value
        found = bytearray(self._hash("link", value, 32).to_bytes(32, "big")[: len(value)].ljust(len(value), b"\0"))
        found[0] = (found[0] | 2) & 0xFE | value[0] & 1
        return bytes(found)


def _hex(number: int, like: str) -> str:
    digits = f"{number:0{len(like)}x}"
    return digits.upper() if like.upper() == like and like.lower() != like else digits


class Unchanged(Pseudonyms):
    """Changes nothing: whoever redacts with these what was redacted gets the same again, byte for byte."""

    def __init__(self) -> None:
        self.name = self.host = self.ipv4 = self.ipv6 = self.uuid = self.link_address = _same  # type: ignore[assignment]


def _same(value: bytes) -> bytes:
    return value
