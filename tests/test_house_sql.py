"""SQL says what its numbers are, and says what is asked everywhere in one way (`analyzer/query/sql_words.py`)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "analyzer"
_CODES = r"\b(?:\w*api_key|\w*error_code|code|last_code|last_failure|last_error)\b"
_COMPARED = r"(?:=|<>|<=?|>=?|BETWEEN|(?:NOT )?IN \(|IS (?:NOT )?DISTINCT FROM)"
# What stands for a word -> the word. Of keys `>= 0` says only that there is one.
BARE = {
    r"(?<![\w.])\d{7,}\b": "ms, s, mb, two_to ...",
    rf"{_CODES}(?:, [^()]*(?:\([^()]*\))?)?\)? {_COMPARED} ?-?\d(?<!key >= 0)": "api, error",
    r"\bmarks & \d": "mark",
    r"coalesce\((?:\w+\.)?error_code, 0\) =": "no_error",
    r"coalesce\((?:\w+\.)?role,|\brole IS (?:NOT )?NULL": "is_client",
    r"translate\((?:\w+\.)?host,": "is_name",
    r"coalesce\((?:(\w+)\.)?client_id, (?:\1\.)?client_address\)": "who",
}
_TEXT = re.compile(r"'(?:[^']|'')*'")
_REMARK = re.compile(r"--(?! when:).*")


def bare(line: str) -> list[str]:
    """The words that a line of SQL should have; remarks, but for the condition of a rule, and texts do not count."""
    code = _TEXT.sub("''", _REMARK.sub("", line))
    return [word for pattern, word in BARE.items() if re.search(pattern, code)]


def test_no_number_stands_for_a_name() -> None:
    found = [
        f"{path.relative_to(FOLDER)}:{number}: {', '.join(words)}"
        for path in sorted(FOLDER.rglob("*.sql"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (words := bare(line))
    ]
    assert not found


@pytest.mark.parametrize(
    "line",
    [
        "WHERE x.latency_ns >= 800000000",
        "WHERE x.api_key = 0",
        "bool_or(api_key NOT IN (17, 18, 36))",
        "WHERE coalesce(e.api_key, -1) IN (1, 11)",
        "-- when: errors having bool_or(code = 7)",
        "CASE WHEN max(e.error_code) = 82 THEN 'text' END",
        "OR (marks & 33) <> 0",
        "WHERE coalesce(x.error_code, 0) = 0",
        "AND coalesce(x.role, 'client') = 'client'",
        "WHERE x.role IS NULL",
        "AND translate(b.host, '0123456789.', '') <> ''",
        "coalesce(client_id, client_address) AS client",
        "coalesce(x.client_id, x.client_address) AS client",
    ],
)
def test_these_are_found(line: str) -> None:
    assert bare(line)


@pytest.mark.parametrize(
    "line",
    [
        "WHERE x.latency_ns >= ms(800) AND api_key >= 0 -- of 1000000000",
        "WHERE translate(client_id, '0123456789', '') = ''",
        "WHERE error_count > 0 AND api_key = api('Produce') AND (marks & mark('IDLE')) <> 0",
        "coalesce(r.client_id, c.client_address) AS client",
    ],
)
def test_these_are_none(line: str) -> None:
    assert bare(line) == []
