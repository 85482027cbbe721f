"""HTTP CONNECT: a client asks a proxy for a tunnel to a broker, and speaks Kafka behind an answer of class 2.

Where the proxy refuses (407: it wants a login) the client may ask again on the same connection: the answer's body is passed
over by its Content-Length.

Source: RFC 9110, 9.3.6 (CONNECT) and 8.6 (Content-Length); RFC 9112, 2.1 (message format).
"""

from __future__ import annotations

import re

from dissectors.layout import OPENING_HTTP_CONNECT
from dissectors.openings.verdicts import MORE, OTHER, Opening, Verdict

_METHOD = b"CONNECT "
_LONGEST_HEADER = 65_536
_REQUEST_LINE = re.compile(rb"CONNECT [^ \r\n]{1,1024} HTTP/1\.[01]\r\n")
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5])\d\d[ \r]")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,9})[ \t]*\r\n", re.IGNORECASE)


def read_connect(client: bytes, server: bytes) -> Opening | Verdict:
    """One request and its answer."""
    if client[: len(_METHOD)] != _METHOD[: len(client)]:
        return OTHER
    asked = _header_end(client)
    if isinstance(asked, Verdict):
        return asked
    if not _REQUEST_LINE.match(client):
        return OTHER
    if server[:5] != b"HTTP/"[: len(server)]:
        return OTHER
    answered = _header_end(server)
    if isinstance(answered, Verdict):
        return answered
    status = _STATUS_LINE.match(server)
    if status is None:
        return OTHER
    if status[1] != b"2":
        length = _LENGTH.search(server[:answered])
        answered += int(length[1]) if length else 0
    return Opening(OPENING_HTTP_CONNECT, asked, answered) if len(server) >= answered else MORE


def _header_end(data: bytes) -> int | Verdict:
    """The offset behind the empty line."""
    end = data.find(b"\r\n\r\n", 0, _LONGEST_HEADER)
    if end >= 0:
        return end + 4
    return MORE if len(data) < _LONGEST_HEADER else OTHER
