"""Filters, and their SQL. Views apply it once; coverage is never filtered.

Patterns are globs with `*`, `?` and `[abc]` (also `[a-c]`, `[!abc]`); a backslash escapes the next character, and upper and
lower case are equal. What a person typed enters SQL as a quoted literal only. The SQL runs on DuckDB and on Spark.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from analyzer.base.moments import DAY_NS, Moment, MomentError

_BRACKETED = re.compile(r"\[([0-9a-fA-F:.%]+)\](:\d+)?")
# An escaped character, a class, a wildcard, any other character.
_GLOB = re.compile(
    r"\\(?P<plain>.)|\[(?P<others>!?+)(?P<members>\][^\]]*|[^\]]+)\]|(?P<wild>[*?])|(?P<letter>.)", re.DOTALL
)
_RANGE = re.compile(r"(.)-(.)|(.)", re.DOTALL)
_LIKE_WILD = {"*": "%", "?": "_"}
_REGEX_WILD = {"*": ".*", "?": "."}
# Inside quotes Spark interprets what DuckDB does not: escapes, `''` as two strings (before 4.0), ${variables}.
_UNQUOTED = re.compile(r"(['\\]|\$(?=\{))")


class FilterError(OSError, ValueError):
    """An invalid filter: one line for a person."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which exchanges a person wants to see. Values of one kind are alternatives; kinds are combined with "and".

    `clients` are globs over client ids, addresses, hosts, pods and workloads; `brokers` node ids or globs over `address[:port]`,
    hosts, pods and zones; `apis` globs over names, or keys; `topics` globs over names and ids; `namespaces` and `zones` over those
    of clients. A zone is the name's, else broker.rack or client.rack.
    `from_ns` (included) and `to_ns` (not included) bound the time of an exchange's first byte, ns since the epoch; None is
    open. A `Moment` becomes such a number when the captures are known (`at`). Raises FilterError for values that are not UTF-8.
    """

    clients: tuple[str, ...] = ()
    brokers: tuple[str, ...] = ()
    apis: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    from_ns: int | None = None
    to_ns: int | None = None
    from_moment: Moment | None = None
    to_moment: Moment | None = None
    namespaces: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Checks patterns before a capture is read."""
        for pattern in (*self.clients, *self.brokers, *self.apis, *self.topics, *self.namespaces, *self.zones):
            _check_text(pattern)

    def __bool__(self) -> bool:
        return self != Filters()

    @property
    def is_timed(self) -> bool:
        """Whether a time range is asked for."""
        return any(each is not None for each in (self.from_ns, self.to_ns, self.from_moment, self.to_moment))

    @property
    def waits_for_captures(self) -> bool:
        """Whether a moment is known only once the captures are."""
        return self.from_moment is not None or self.to_moment is not None

    def between(self, begin: int | Moment | None, end: int | Moment | None) -> Filters:
        """The same for this time range alone."""
        return replace(
            self,
            from_ns=begin if isinstance(begin, int) else None,
            to_ns=end if isinstance(end, int) else None,
            from_moment=begin if isinstance(begin, Moment) else None,
            to_moment=end if isinstance(end, Moment) else None,
        )

    def at(self, first_ns: int | None, last_ns: int | None) -> Filters:
        """The same with moments as numbers, for captures from `first_ns` to `last_ns`; 23:30 to 00:30 ends on the day after. Raises
        MomentError."""
        begin = self.from_moment.at(first_ns, last_ns) if self.from_moment else self.from_ns
        end = self.to_moment.at(first_ns, last_ns, is_end=True) if self.to_moment else self.to_ns
        if self.to_moment and self.to_moment.kind == "clock" and begin is not None and end is not None and end <= begin:
            end += DAY_NS
        return replace(self, from_ns=begin, to_ns=end, from_moment=None, to_moment=None)


def _check_text(pattern: str) -> None:
    """Bytes of a command line that are not UTF-8 come as lone surrogates, which no engine takes."""
    try:
        pattern.encode()
    except UnicodeEncodeError:
        raise FilterError(f"the filter {pattern!r} is not UTF-8; use ? in place of such a character") from None


def literal(text: str) -> str:
    """`text` as a SQL string that every engine reads the same, whatever characters it has."""
    pieces = [_quoted(piece) for piece in _UNQUOTED.split(text) if piece] or ["''"]
    return pieces[0] if len(pieces) == 1 else f"({' || '.join(pieces)})"


def _quoted(piece: str) -> str:
    return f"chr({ord(piece)})" if piece in ("'", "\\") else f"'{piece}'"


def exchange_condition(filters: Filters) -> str:
    """SQL condition on the rows of `all_exchanges`; reads all_connections, all_entries and all_errors."""
    parts = [
        _any_of(_client, filters.clients),
        _any_of(_broker, filters.brokers),
        _any_of(_api, filters.apis),
        _topics(filters),
        _any_of(lambda pattern: _of_connections(like("client_namespace", pattern)), filters.namespaces),
        _any_of(lambda pattern: _of_connections(_zone(pattern)), filters.zones),
    ]
    parts.append(time_condition(filters, "coalesce(request_time_ns, response_time_ns)"))
    return " AND ".join(part for part in parts if part != "true") or "true"


def attempt_condition(filters: Filters) -> str:
    """SQL condition on the rows of `all_connections` without any exchange: failed attempts to connect. They have addresses and a
    time, but no client id, API or topic."""
    if filters.apis or filters.topics:
        return "false"
    parts = [
        _any_of(lambda pattern: _endpoint("client", pattern), filters.clients),
        _any_of(_broker, filters.brokers),
        _any_of(lambda pattern: like("client_namespace", pattern), filters.namespaces),
        _any_of(_zone, filters.zones),
        time_condition(filters, "first_time_ns"),
    ]
    return " AND ".join(["connection NOT IN (SELECT connection FROM all_exchanges)", *parts])


def time_condition(filters: Filters, moment: str) -> str:
    """SQL condition: `moment`, an expression in ns since the epoch, is in the time range of the filters. Raises MomentError."""
    if (typed := filters.from_moment or filters.to_moment) is not None:
        raise MomentError(
            f"{typed.typed}: the captures are not known in full here; give date and time (2026-05-01T10:59)"
        )
    parts = []
    if filters.from_ns is not None:
        parts.append(f"{moment} >= {filters.from_ns}")
    if filters.to_ns is not None:
        parts.append(f"{moment} < {filters.to_ns}")
    return " AND ".join(parts) or "true"


def tls_condition(filters: Filters) -> str:
    """SQL condition on the rows of `all_connections` that are TLS and not decrypted: those that may hold what the filters ask for.
    Node ids and client ids are not known of them, so patterns that match no address leave all."""
    parts = [_any_address("client", filters.clients), _any_address("broker", filters.brokers)]
    parts.append(_any_of(lambda pattern: like("client_namespace", pattern), filters.namespaces))
    parts.append(_any_of(_zone, filters.zones))
    if filters.from_ns is not None:
        parts.append(f"last_time_ns >= {filters.from_ns}")
    if filters.to_ns is not None:
        parts.append(f"first_time_ns < {filters.to_ns}")
    return " AND ".join(part for part in parts if part != "true") or "true"


def topic_condition(filters: Filters) -> str:
    """SQL condition on the rows of a table with `topic` and `topic_id`."""
    return _any_of(_topic, filters.topics)


def words(filters: Filters) -> str:
    """The filters for a person: "client a or b, topic x"; empty without filters. As typed, so not yet safe to print."""
    groups = (
        ("client", filters.clients),
        ("broker", filters.brokers),
        ("API", filters.apis),
        ("topic", filters.topics),
        ("namespace", filters.namespaces),
        ("zone", filters.zones),
    )
    return ", ".join(f"{name} {' or '.join(values)}" for name, values in groups if values)


def _any_of(condition: Callable[[str], str], patterns: tuple[str, ...]) -> str:
    return f"({' OR '.join(map(condition, patterns))})" if patterns else "true"


def _any_address(side: str, patterns: tuple[str, ...]) -> str:
    matches = _any_of(lambda pattern: _endpoint(side, pattern), patterns)
    if matches == "true":
        return matches
    return f"({matches} OR (SELECT count(*) FROM all_connections WHERE {matches}) = 0)"


def like(expression: str, pattern: str) -> str:
    """SQL condition: the value matches the glob; null never does. Raises FilterError for a glob that is not UTF-8."""
    _check_text(pattern)
    return _glob(f"lower({expression})", pattern.lower())


def _glob(expression: str, pattern: str) -> str:
    """SQL condition: the value matches the glob, with upper and lower case different. LIKE is fast, but has no classes."""
    pieces = list(_GLOB.finditer(pattern))
    if any(piece["members"] for piece in pieces):
        # A full match is replaced by nothing. The marks around the value tell it from an empty value.
        regex = literal(f"(?s)^={''.join(map(_regex, pieces))}=$")
        return f"regexp_replace('=' || {expression} || '=', {regex}, '') = ''"
    return f"{expression} LIKE {literal(''.join(map(_like, pieces)))} ESCAPE '!'"


def _like(piece: re.Match[str]) -> str:
    letter = piece["plain"] or piece["letter"]
    return _LIKE_WILD[piece["wild"]] if piece["wild"] else f"!{letter}" if letter in "!%_" else letter


def _regex(piece: re.Match[str]) -> str:
    if piece["members"]:
        return _class(piece["members"], negated=bool(piece["others"]))
    return _REGEX_WILD[piece["wild"]] if piece["wild"] else _code(piece["plain"] or piece["letter"])


def _class(members: str, negated: bool) -> str:
    ranges = [(first or letter, last or letter) for first, last, letter in _RANGE.findall(members)]
    inside = "".join(f"{_code(first)}-{_code(last)}" for first, last in ranges if first <= last)
    if not inside:  # z-a: nothing is between them
        inside, negated = f"{_code(chr(0))}-{_code(chr(0x10FFFF))}", not negated
    return f"[{'^' if negated else ''}{inside}]"


def _code(letter: str) -> str:
    """A literal character in the regular expressions of both engines."""
    return letter if letter.isascii() and letter.isalnum() else rf"\x{{{ord(letter):x}}}"


def _topics(filters: Filters) -> str:
    if not filters.topics:
        return "true"
    rows = topic_condition(filters)
    tables = ("all_entries", "all_errors")
    return f"({' OR '.join(f'exchange IN (SELECT exchange FROM {table} WHERE {rows})' for table in tables)})"


def _topic(pattern: str) -> str:
    # Upper and lower case of ids differ.
    return f"({like('topic', pattern)} OR {_glob('topic_id', pattern)})"


def _client(pattern: str) -> str:
    return f"({like('client_id', pattern)} OR {_address('client', pattern)} OR {_of_connections(_named('client', pattern))})"


def _broker(pattern: str) -> str:
    return f"({_address('broker', pattern)} OR {_of_connections(_known_broker(pattern))})"


def _api(pattern: str) -> str:
    by_key = f" OR api_key = {pattern}" if _is_number(pattern, 5) else ""
    return f"({like('api_name', pattern)}{by_key})"


def _of_connections(condition: str) -> str:
    """What is true of rows whose connection this is true of."""
    return f"connection IN (SELECT connection FROM all_connections WHERE {condition})"


def _named(side: str, pattern: str) -> str:
    """Of connections whose address has a name (`--names`)."""
    fields = ("host", "pod", "workload") if side == "client" else ("host", "pod", "zone")
    return " OR ".join(like(f"{side}_{field}", pattern) for field in fields)


def _known_broker(pattern: str) -> str:
    """Of connections whose broker has a node id, which a number is, a name, or else a rack."""
    if _is_number(pattern, 9):
        return f"broker_id = {pattern} OR {_named('broker', pattern)}"
    racked = f"SELECT cluster, broker_id FROM all_brokers WHERE {like('rack', pattern)}"
    return f"{_named('broker', pattern)} OR (broker_zone IS NULL AND (cluster, broker_id) IN ({racked}))"


def _zone(pattern: str) -> str:
    """Of connections whose client is in a zone: by its name, or by the rack that some Fetch from its address names."""
    racked = f"SELECT client_address FROM all_connections WHERE {like('client_rack', pattern)}"
    return f"({like('client_zone', pattern)} OR (client_zone IS NULL AND client_address IN ({racked})))"


def _endpoint(side: str, pattern: str) -> str:
    return f"({_address(side, pattern)} OR {_named(side, pattern)})"


def _address(side: str, pattern: str) -> str:
    """The address alone, or address:port. The brackets of [IPv6]:port are not a glob."""
    if found := _BRACKETED.fullmatch(pattern):
        pattern = found[1] + (found[2] or "")
    with_port = f"{side}_address || ':' || CAST({side}_port AS STRING)"
    return f"({like(f'{side}_address', pattern)} OR {like(with_port, pattern)})"


def _is_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= digits
