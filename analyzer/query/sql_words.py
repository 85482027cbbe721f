"""Words of our SQL files: a number says what it is, `ms(800)`, `api('Produce')`, and what is asked everywhere has a name.

    ms(800)  s(0.5)  days(30)   durations in nanoseconds
    mb(10)                      bytes, of a million each
    api('Produce', 'Fetch')     keys of APIs, with commas between them: `api_key IN (api('Produce', 'Fetch'))`
    error('NOT_CONTROLLER')     error codes, likewise
    impact('stuck_ns')          from where on impact is told (`analyzer/base/impact_limits.py`)
    mark('REPEAT', 'SHARED')    these bits of `marks` together (MARK_ of `dissectors/layout.py`)
    no_error(x.error_code)      true for a reply without an error, and for one whose errors are not known
    is_client(x.role)           true unless it is known that a broker asks: where a role is unknown, a client does
    is_name(b.host)             true for a name, false for an address of IPv4 or IPv6
    cluster_id(c)               the cluster of c, null where its id is not known: then it may be called by a broker and its port
    who(x)                      the client that a row of x is about: its id, or its address; `who()` where no alias is needed
    never_answered(c)           an attempt to connect, c, that got no SYN+ACK and no byte; a client that resets it has seen a
                                SYN+ACK, which the capture lacks
    link_key(c)                 a connection, by its client's address and port: the same at each capture point that has a name
    request_key(c, x)           a request x on the connection c, likewise
    wait_end_ns(c, x)           when a request x, which the end of its connection c cut off, had waited: until the first FIN or RST,
                                whatever the other side did later; if it was sent after that, until the last packet
    lag_turns(0.5)              ns in which timestamps of TCP, in ms, begin anew (RFC 7323), so many times
    two_to(32)                  2^32: where numbers of packets wrap, and what packed columns are made of
    max_bigint()                the greatest value of a column
    salt(1)                     numbers without a meaning, which make several hashes of one

Files are folded when they are read: an engine that expands macros needs 10 to 30 microseconds for each use, whenever a question is
planned, and a macro that looked a name up would need a thousand. A word or a name that is not known raises a ValueError.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from analyzer.base.filters import literal

_UNITS = {"ms": 10**6, "s": 10**9, "days": 86_400 * 10**9, "mb": 10**6, "lag_turns": 2**32 * 10**6}
_SALTS = (6364136223846793005, 15755552163447593571, 11400714819323198485)
_COMMENTS = re.compile(r"^ *--.*\n", re.MULTILINE)
_NAME = re.compile(r"'(\w+)'")


def text(path: Path) -> str:
    """The SQL of a file."""
    return folded(path.read_text(encoding="utf-8"))


def bare(sql: str) -> str:
    """SQL of ours without the lines that are comments, for an engine that is to read no more than it must."""
    return _COMMENTS.sub("", sql)


def folded(sql: str) -> str:
    """SQL with what its words mean. Raises ValueError."""
    pieces = []
    end = 0
    for call in _CALLS.finditer(sql):
        word = call.lastgroup or ""
        pieces += [sql[end : call.start() - len(word)], _WORDS[word](word, call[0][1:-1])]
        end = call.end()
    return "".join((*pieces, sql[end:]))


def rows(types: Mapping[str, str], lines: Iterable[str]) -> str:
    """SQL of a small table: `types` has the type of each column, a line the cells of a row with tabs between them; an empty cell is
    null. The engine splits one literal: to parse a literal for each line or cell would take longer than any use of the rows.
    """
    cells = (f"CAST(nullif(cells[{place}], '') AS {types[name]}) AS {name}" for place, name in enumerate(types, 1))
    text = "\n".join(lines)
    split = f"SELECT unnest(string_split({literal(text)}, chr(10))) AS line{'' if text else ' WHERE false'}"
    return f"SELECT {', '.join(cells)} FROM (SELECT string_split(line, chr(9)) AS cells FROM ({split}) AS t) AS t"


def _number(word: str, given: str) -> str:
    whole, _, part = given.partition(".")
    found, rest = divmod(int(whole + part) * _UNITS[word], 10 ** len(part))
    if rest:
        raise ValueError(f"{word}({given}) is no whole number")
    return str(found)


def _power(_: str, given: str) -> str:
    return str(2 ** int(given))


def _salt(_: str, given: str) -> str:
    return str(_SALTS[int(given) - 1])


def _codes(word: str, given: str) -> str:
    return ", ".join(str(_named(word, name)) for name in _names(given))


def _bits(word: str, given: str) -> str:
    return str(sum(_named(word, name) for name in _names(given)))


def _limit(word: str, given: str) -> str:
    from analyzer.base.impact_limits import LIMITS

    (name,) = _names(given)
    if name not in LIMITS:
        raise ValueError(f"{word}('{name}'): there is no such name")
    return str(LIMITS[name])


def _no_error(_: str, given: str) -> str:
    return f"(coalesce({given}, 0) = 0)"


def _is_client(_: str, given: str) -> str:
    return f"(coalesce({given} = 'client', true))"


def _is_name(_: str, given: str) -> str:
    return f"({given} NOT LIKE '%:%' AND translate({given}, '0123456789.', '') <> '')"


def _cluster_id(_: str, given: str) -> str:
    cluster = f"{given}.cluster" if given else "cluster"
    return f"CASE WHEN strpos({cluster}, ':') = 0 THEN {cluster} END"


def _who(_: str, given: str) -> str:
    of = f"{given}." if given else ""
    # Some libraries send an empty client id, which names nobody.
    return f"coalesce(nullif({of}client_id, ''), {of}client_address)"


def _never_answered(_: str, given: str) -> str:
    of = f"{given}." if given else ""
    no_bytes = f"coalesce({of}client_stream_bytes, 0) + coalesce({of}broker_stream_bytes, 0) = 0"
    not_left = f"coalesce({of}closed_by <> 'client', true)"
    return f"({of}seen_from = 'syn' AND {of}syn_ack_ns IS NULL AND {no_bytes} AND {not_left})"


def _link_key(_: str, given: str) -> str:
    return f"concat({given}.client_address, '|', {given}.client_port)"


def _request_key(_: str, given: str) -> str:
    link, request = (each.strip() for each in given.split(","))
    return f"concat({link}.client_address, '|', {link}.client_port, '|', {request}.correlation_id)"


def _wait_end(_: str, given: str) -> str:
    link, request = (each.strip() for each in given.split(","))
    return f"(CASE WHEN {link}.close_time_ns >= {request}.request_end_ns THEN {link}.close_time_ns ELSE {link}.last_time_ns END)"


def _names(given: str) -> list[str]:
    names = [_NAME.fullmatch(each.strip()) for each in given.split(",")]
    if not all(names):
        raise ValueError(f"({given}): names in quotes, with commas between them, are wanted")
    return [name[1] for name in names if name]


def _named(word: str, name: str) -> int:
    try:
        return _numbers(word)[name]
    except KeyError:
        raise ValueError(f"{word}('{name}'): there is no such name") from None


@cache
def _numbers(word: str) -> dict[str, int]:
    """Name -> its number, of the APIs, the error codes or the marks."""
    if word == "api":
        from dissectors.kafka.schema.lookup import api_names

        return {name: key for key, name in api_names()}
    if word == "error":
        from dissectors.kafka.schema.error_codes import known_errors

        return {known.name: code for code, known in known_errors().items()}
    from dissectors import layout

    prefix = "MARK_"
    return {name.removeprefix(prefix): value for name, value in vars(layout).items() if name.startswith(prefix)}


_WORDS: dict[str, Callable[[str, str], str]] = {
    **dict.fromkeys(_UNITS, _number),
    "two_to": _power,
    "salt": _salt,
    "max_bigint": lambda *_: str(2**63 - 1),
    "api": _codes,
    "error": _codes,
    "mark": _bits,
    "impact": _limit,
    "no_error": _no_error,
    "is_client": _is_client,
    "is_name": _is_name,
    "cluster_id": _cluster_id,
    "who": _who,
    "never_answered": _never_answered,
    "link_key": _link_key,
    "request_key": _request_key,
    "wait_end_ns": _wait_end,
}
# A parenthesis with a word before it: Python skips to the next one, ten times as fast as it looks for words.
_BEFORE = "|".join(rf"(?<=\b{word}\()(?P<{word}>)" for word in _WORDS)
_CALLS = re.compile(rf"\((?:{_BEFORE})[^()]*\)")
