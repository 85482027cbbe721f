"""One line of a broker's request log -> the values of a row, or why there are none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, NamedTuple

from analyzer.request_log.text_bodies import body
from dissectors.kafka.logged.log_cells import LONGEST_WITH_BODIES
from dissectors.kafka.logged.log_rows import BEGIN, HEADER_NAMES, LINE_NAMES, SOFTWARE_NAMES, Places
from dissectors.kafka.schema.lookup import api_name, api_names

_MOMENT = re.compile(rb"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?")
# From 1.0 on, and before. A client id may hold anything: what comes first counts.
_TEXT_HEADS = (
    re.compile(
        rb"RequestHeader\(apiKey=(\w+), apiVersion=(-?\d+), clientId=(.*?), correlationId=(-?\d+)\) -- ", re.DOTALL
    ),
    re.compile(rb"\{api_key=(\d+),api_version=(-?\d+),correlation_id=(?P<id>-?\d+),client_id=(.*?)\} -- ", re.DOTALL),
)
_TEXT_TAIL = re.compile(
    rb" from connection (\S+);totalTime:([\d.E-]+),requestQueueTime:([\d.E-]+),localTime:([\d.E-]+),remoteTime:([\d.E-]+),"
    rb"throttleTime:([\d.E-]+),responseQueueTime:([\d.E-]+),sendTime:([\d.E-]+),securityProtocol:(\w+),"
    rb"principal:(.*?),listener:([^,\s]+)",
    re.DOTALL,
)
# The first topic that a request names, by name or by id.
_TOPIC_JSON = re.compile(rb'"(?:topic|topicName|name|topicId)":"([^"\\]{1,249})"')
_TOPIC_TEXT = re.compile(rb"\b(?:topic|topic_name|name)=([\w.-]{1,249})")
# APIs whose requests name topics in the first field of these names.
_WITH_TOPICS = frozenset((0, 1, 2, 8, 9, 19, 20, 21, 23, 24, 28, 37, 78, 79))
_LONGEST_TEXT = 32_767
# A week; no broker holds a request for longer.
_MOST_MS = 604_800_000.0
_PORTS = range(1 << 16)
# In the year 2116: sums with it fit a column.
_LATEST_NS = 1 << 62
_WRONG = (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError)


class NotARequest(Exception):
    """A line of the log about something else."""


class Unreadable(Exception):
    """A line that begins as a request, and is none that can be read."""


class Ends(NamedTuple):
    """Both ends of a connection."""

    broker_address: str
    broker_port: int
    client_address: str
    client_port: int


class Body(NamedTuple):
    """A body that a line holds, until the next line is read."""

    places: Places
    place: int

    def text(self) -> bytes:
        """As JSON."""
        return self.places.slice(self.place)


class Logged(NamedTuple):
    """A line with its bodies: `values` are those of `row`, without the topic; `connection` is the broker's name of it. A
    body is None where there is none, and UNREAD where it cannot be read; `software` names the client's library and its version.
    `is_text`: names are those of text."""

    values: tuple[Any, ...]
    connection: str
    request: Body | None
    response: Body | None
    software: list[Any]
    is_text: bool


# A body that is there and cannot be read.
UNREAD = Body(Places(), -1)


def _enum(name: str) -> str:
    """The name of an API as brokers log it: LIST_OFFSETS."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


_KEYS = {_enum(name): key for key, name in api_names()} | {"ELECT_PREFERRED_LEADERS": 43}


class LineReader:
    """Reads one line after another, each before the bodies of the next take the place of its own."""

    def __init__(self) -> None:
        # Of a line of text both bodies have places of their own.
        self._line, self._request, self._response = Places(), Places(), Places()

    def row(self, line: bytes) -> tuple[Any, ...]:
        """The values of a line, in the order of `log_reader.COLUMNS` without file and line. Raises NotARequest or Unreadable."""
        begin = line.find(BEGIN)
        is_bare = begin < 0
        if is_bare and not (line.lstrip()[:1] == b"{" and b'"requestHeader"' in line):
            raise NotARequest
        try:
            moment = None if is_bare else _last_moment(line[max(begin - 400, 0) : begin])
            at = line.index(b"{") if is_bare else begin + len(BEGIN)
            return self._of_json(line, at, moment) if line[at : at + 2] == b'{"' else _of_text(line, at, moment)
        except _WRONG as error:
            raise Unreadable from error

    def logged(self, line: bytes) -> Logged:
        """A line with the bodies that it holds. Raises NotARequest or Unreadable."""
        begin = line.find(BEGIN)
        at = line.find(b"{") if begin < 0 else begin + len(BEGIN)
        if line[at : at + 2] != b'{"' or len(line) > LONGEST_WITH_BODIES:
            return self._logged_text(line, at, self.row(line))
        if begin < 0 and b'"requestHeader"' not in line:
            raise NotARequest
        try:
            moment = None if begin < 0 else _last_moment(line[max(begin - 400, 0) : begin])
            return self._logged_json(line, at, moment)
        except _WRONG as error:
            raise Unreadable from error

    def _logged_json(self, line: bytes, at: int, moment: int | None) -> Logged:
        if not line.isascii():
            line[at:].decode()
        places = self._line
        places.read(line, at)
        forwarded, header, request, response, connection, *others = places.values(0, LINE_NAMES)
        *parts, protocol, principal, listener, software, logged_at = others
        if moment is None:
            moment = _last_moment(logged_at[-400:].encode())
        if type(header) is not tuple:
            raise TypeError
        is_named = type(software) is tuple and places.is_object(software[0])
        return Logged(
            _values(
                moment,
                places.values(header[0], HEADER_NAMES),
                forwarded,
                connection,
                parts,
                protocol,
                principal,
                listener,
            ),
            connection,
            _body_at(places, request),
            _body_at(places, response),
            places.values(software[0], SOFTWARE_NAMES) if is_named else [None, None],
            is_text=False,
        )

    def _logged_text(self, line: bytes, at: int, values: tuple[Any, ...]) -> Logged:
        """Bodies as text are objects only where they come out as such; those of a very long line are not read."""
        if len(line) > LONGEST_WITH_BODIES:
            return Logged(values, repr(values[1:5]), UNREAD, UNREAD, [None, None], is_text=True)
        begin, tail = line.find(b" -- ", at) + 4, line.rfind(b" from connection ")
        end = line.find(b",response:", begin, tail)
        asked = _body(line[begin : end if end > 0 else tail], self._request)
        answer = _body(line[end + 10 : tail], self._response) if end > 0 else None
        connection = line[tail + 17 :].partition(b";")[0].decode()
        return Logged(values, connection, asked, answer, [None, None], is_text=True)

    def _of_json(self, line: bytes, begin: int, moment: int | None) -> tuple[Any, ...]:
        """The bodies, most of a line, are passed over where all is in the order in which brokers write it. A quote within a text
        is escaped, so that no text holds these keys."""
        asked, told = line.find(b',"request":', begin), line.rfind(b',"connection":"')
        if begin < asked < told:
            found = self._logged_json(line[begin:asked] + line[told:], 0, moment)
        else:
            found = self._logged_json(line, begin, moment)
            asked, told = begin, len(line)
        topic = _topic(_TOPIC_JSON, line, found.values[5], begin=asked, end=line.find(b',"response":', asked, told))
        return (*found.values[:-1], topic)


def _body_at(places: Places, found: Any) -> Body | None:
    """The body that a member is; brokers write an empty text where there is none."""
    return Body(places, *found) if type(found) is tuple else None if found is None or found == "" else UNREAD


def _body(text: bytes, places: Places) -> Body:
    made = body(text)
    try:
        end = places.read(made, 0)
    except ValueError:
        return UNREAD
    return Body(places, 0) if not made[end:].strip() else UNREAD


def _values(
    moment: int,
    head: list[Any],
    forwarded: Any,
    connection: Any,
    parts: list[Any],
    protocol: Any,
    principal: Any,
    listener: Any,
) -> tuple[Any, ...]:
    key, version, number, client = head
    if not (type(key) is type(version) is type(number) is int):
        raise ValueError
    return (
        moment,
        *_ends(connection),
        *_api(key, version),
        _whole(number, 31),
        _text(client),
        forwarded is True,
        *_times(parts),
        _text(protocol),
        _text(principal),
        _text(listener),
        None,
    )


def _of_text(line: bytes, begin: int, moment: int | None) -> tuple[Any, ...]:
    head = _TEXT_HEADS[0].match(line, begin) or _TEXT_HEADS[1].match(line, begin)
    tails = line.rfind(b" from connection ")
    tail = _TEXT_TAIL.match(line, tails) if head and tails >= 0 else None
    if not head or not tail or moment is None:
        raise ValueError
    old = head.re is _TEXT_HEADS[1]
    name, version, client, number = (head[at] for at in ((1, 2, 4, 3) if old else (1, 2, 3, 4)))
    key = int(name) if old else _KEYS[name.decode()]
    return (
        moment,
        *_ends(tail[1].decode()),
        _whole(key, 15),
        api_name(key),
        _whole(int(version), 15),
        _whole(int(number), 31),
        None if client == b"null" else _text(client.decode("utf-8", "replace")),
        False,
        *_times(list(map(float, tail.groups()[1:8]))),
        _text(tail[9].decode()),
        _text(tail[10].decode("utf-8", "replace")),
        _text(tail[11].decode("utf-8", "replace")),
        _topic(_TOPIC_TEXT, line, key, begin=head.end(), end=line.find(b",response:", head.end())),
    )


def _topic(pattern: re.Pattern[bytes], line: bytes, key: int, *, begin: int, end: int) -> str | None:
    if key not in _WITH_TOPICS:
        return None
    found = pattern.search(line, begin, end if end > 0 else len(line))
    return found[1].decode("utf-8", "replace") if found else None


def _times(found: Sequence[Any]) -> list[int | None]:
    """Total and parts, ms -> ns. The total must be there: without it nobody knows when the request came."""
    # True of no value that is not a number: comparisons with NaN are false, those with texts raise TypeError.
    read = [None if each is None or not 0 <= each <= _MOST_MS else int(each * 1e6 + 0.5) for each in found]
    if read[0] is None:
        raise ValueError
    return read


@lru_cache(4_096)
def _api(key: int, version: int) -> tuple[int, str, int]:
    return _whole(key, 15), api_name(key), _whole(version, 15)


def _whole(value: Any, bits: int) -> int:
    if type(value) is not int or not -(1 << bits) <= value < 1 << bits:
        raise ValueError
    return value


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    short = value[:_LONGEST_TEXT]
    # JSON may spell half of a pair of surrogates, which no text in UTF-8 has.
    return short if short.isascii() else short.encode("utf-8", "replace").decode()


@lru_cache(maxsize=65_536)
def _ends(connection: str) -> Ends:
    """BROKER:PORT-CLIENT:PORT-INDEX, and from 4.0 on one more number. An address of IPv6 has colons, a scope a hyphen at most."""
    broker, client = re.fullmatch(r"(.+:\d{1,5})-(.+:\d{1,5})-\d+(?:-\d+)?", connection).groups()  # type: ignore[union-attr]
    (broker_address, _, broker_port), (client_address, _, client_port) = broker.rpartition(":"), client.rpartition(":")
    if int(broker_port) not in _PORTS or int(client_port) not in _PORTS:
        raise ValueError
    return Ends(_address(broker_address), int(broker_port), _address(client_address), int(client_port))


def _address(text: str) -> str:
    """As packets have it: IPv6 in its short form, IPv4 within IPv6 as IPv4, without a scope."""
    found = ip_address(text.partition("%")[0].strip("[]"))
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found)


@lru_cache(maxsize=4_096)
def _last_moment(text: bytes) -> int:
    """The last moment before the request: what a container's log puts before the line comes first. A busy broker writes several
    lines in a millisecond."""
    found = _MOMENT.findall(text)
    if not found:
        raise ValueError
    whole, fraction, zone = found[-1]
    moment = (_seconds(whole) - _zone(zone)) * 10**9 + int((fraction or b"0").ljust(9, b"0"))
    if not 0 <= moment < _LATEST_NS:
        raise ValueError
    return moment


@lru_cache(maxsize=1024)
def _seconds(text: bytes) -> int:
    moment = datetime.fromisoformat(text.decode()).replace(tzinfo=UTC)
    return int(moment.timestamp())


def _zone(text: bytes | None) -> int:
    """Seconds east of Greenwich. A moment without a zone counts as UTC: the clocks differ by that too."""
    if not text or text == b"Z":
        return 0
    return (-1 if text[:1] == b"-" else 1) * (int(text[1:3]) * 3600 + int(text[-2:]) * 60)
