"""SOCKS 4, 4a and 5: a client asks a proxy to connect it to a broker, and speaks Kafka behind the proxy's answer.

A client waits for each answer. So bytes of it that come before the answer are due mean that this is no SOCKS: a large frame of
Kafka may begin with the same bytes. A request that the proxy refused is an opening too: nothing follows it.

Sources: SOCKS: A protocol for TCP proxy (Ying-Da Lee) and its extension 4A; RFC 1928; RFC 1929 (user and password). Of the
methods of RFC 1928 those without a message of their own and that of RFC 1929 are read.
"""

from __future__ import annotations

from collections.abc import Callable

from dissectors.layout import OPENING_SOCKS4, OPENING_SOCKS5
from dissectors.openings.verdicts import MORE, OTHER, Opening, Verdict

_CONNECT = 1
_MOST_NAME = 512  # bytes of a user or a host, as SOCKS 4 says no length
_REPLY_4_BYTES = 8
_GRANTED_4, _LAST_REFUSAL_4 = 0x5A, 0x5D
_NO_LOGIN, _PASSWORD, _REFUSED = 0, 2, 0xFF
_IPV4, _NAME, _IPV6 = 1, 3, 4
_LAST_REFUSAL_5 = 8


def read_socks4(client: bytes, server: bytes) -> Opening | Verdict:
    """4 and 4a: a request that ends with a user's name (4a: and a host's), an answer of eight bytes."""
    if client[0] != 4 or (len(client) > 1 and client[1] != _CONNECT):
        return OTHER
    end = _end_of_name(client, 8)
    if isinstance(end, int) and client[4:7] == bytes(3) and client[7]:
        end = _end_of_name(client, end)
    if isinstance(end, Verdict):
        return OTHER if server else end
    if len(server) < _REPLY_4_BYTES:
        return MORE if len(client) == end and server[:1] in (b"", b"\x00") else OTHER
    if server[0] or not _GRANTED_4 <= server[1] <= _LAST_REFUSAL_4:
        return OTHER
    return Opening(OPENING_SOCKS4, end, _REPLY_4_BYTES)


def _end_of_name(data: bytes, at: int) -> int | Verdict:
    """The offset behind the zero byte that ends the name at `at`."""
    end = data.find(0, at, at + _MOST_NAME)
    if end >= 0:
        return end + 1
    return MORE if len(data) < at + _MOST_NAME else OTHER


def read_socks5(client: bytes, server: bytes) -> Opening | Verdict:
    """Methods and the one chosen; where that is a password, login and verdict; request and reply."""
    dialog = _Dialog(client, server)
    verdict = dialog.ask(_methods_end) or dialog.answer(_method_end)
    if verdict is None and server[1] == _REFUSED:
        return Opening(OPENING_SOCKS5, dialog.asked, dialog.answered)
    if verdict is None and server[1] == _PASSWORD:
        verdict = dialog.ask(_login_end) or dialog.answer(_status_end)
    if verdict is None:
        verdict = dialog.ask(_request_end) or dialog.answer(_reply_end)
    return Opening(OPENING_SOCKS5, dialog.asked, dialog.answered) if verdict is None else verdict


def _methods_end(data: bytes) -> int | Verdict:
    """Version, count, methods."""
    if data[0] != 5 or data[1:2] == b"\x00":
        return OTHER
    return 2 + data[1] if len(data) > 1 else MORE


def _method_end(data: bytes) -> int | Verdict:
    if data[0] != 5:
        return OTHER
    if len(data) < 2:
        return MORE
    return 2 if data[1] in (_NO_LOGIN, _PASSWORD, _REFUSED) else OTHER


def _login_end(data: bytes) -> int | Verdict:
    """Version 1 of RFC 1929, a name and a password, each with its length."""
    if data[0] != 1:
        return OTHER
    if len(data) < 2 or len(data) < 3 + data[1]:
        return MORE
    return 3 + data[1] + data[2 + data[1]]


def _status_end(data: bytes) -> int | Verdict:
    return 2 if data[0] == 1 else OTHER


def _request_end(data: bytes) -> int | Verdict:
    return _address_end(data, _CONNECT)


def _reply_end(data: bytes) -> int | Verdict:
    return _address_end(data, _LAST_REFUSAL_5)


def _address_end(data: bytes, most: int) -> int | Verdict:
    """Version, a command or a code up to `most`, zero, an address, a port."""
    if data[0] != 5 or data[1:2] > bytes([most]) or data[2:3] > b"\x00":
        return OTHER
    if len(data) < 5:
        return MORE
    size = {_IPV4: 4, _NAME: 1 + data[4], _IPV6: 16}.get(data[3])
    return OTHER if size is None else 4 + size + 2


class _Dialog:
    """Walks through questions and answers: how many bytes of each side have been read."""

    def __init__(self, client: bytes, server: bytes) -> None:
        self.client = client
        self.server = server
        self.asked = 0
        self.answered = 0

    def ask(self, end_of: Callable[[bytes], int | Verdict]) -> Verdict | None:
        """Reads a question, which ends where `end_of` says (of at least a byte); None when it is whole."""
        left = self.client[self.asked :]
        end = end_of(left) if left else MORE
        if end is MORE or (isinstance(end, int) and end > len(left)):
            return MORE if len(self.server) == self.answered else OTHER
        if isinstance(end, Verdict):
            return end
        self.asked += end
        return None

    def answer(self, end_of: Callable[[bytes], int | Verdict]) -> Verdict | None:
        """Reads an answer; until it is whole the client says nothing more."""
        left = self.server[self.answered :]
        end = end_of(left) if left else MORE
        if end is MORE or (isinstance(end, int) and end > len(left)):
            return MORE if len(self.client) == self.asked else OTHER
        if isinstance(end, Verdict):
            return end
        self.answered += end
        return None
