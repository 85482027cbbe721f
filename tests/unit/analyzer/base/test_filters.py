"""What a person types as a filter, as SQL: globs as the shell knows them, and texts that stay texts whatever is in them.

`tests/system/spark` asks Spark the same.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.base.filters import like, literal

DATABASE = duckdb.connect()


def matches(value: str | None, pattern: str) -> bool | None:
    found = DATABASE.execute(f"SELECT {like('v', pattern)} FROM (SELECT ? AS v)", [value]).fetchone()
    assert found is not None
    return None if found[0] is None else bool(found[0])


@pytest.mark.slow
@example("_", "a")
@example("%", "ab")
@example("a!b", "a!b")
@example("[!a-]", "b")
@example("[!]", "[!]")
@given(st.text("ab*?[]!-%_^é\n", max_size=6), st.text("ab[]!-%_^é\n", max_size=5))
def test_a_glob_matches_what_the_shell_would(pattern: str, value: str) -> None:
    assert matches(value, pattern) == fnmatchcase(value, pattern)


@given(st.text("ab[]*?\\'", max_size=5))
def test_a_backslash_takes_the_meaning_away(text: str) -> None:
    quoted = "".join(f"\\{letter}" for letter in text)
    assert matches(text, quoted)
    assert not matches(f"{text}a", quoted)


@pytest.mark.parametrize("pattern", ["App-*", "aPP-[1-3]", "app-?", "app-[!A]"])
def test_upper_and_lower_case_are_the_same(pattern: str) -> None:
    assert matches("APP-2", pattern)


@pytest.mark.parametrize("pattern", ["*", "[!a]", ""])
def test_null_never_matches(pattern: str) -> None:
    assert not matches(None, pattern)


@pytest.mark.slow
@given(st.text())
def test_a_literal_is_its_text(text: str) -> None:
    found = DATABASE.execute(f"SELECT {literal(text)} = ?", [text]).fetchone()
    assert found == (True,)


@given(st.text("'\\${}env:HOME-", max_size=12))
def test_nothing_that_an_engine_would_read_lies_inside_quotes(text: str) -> None:
    """Spark reads escapes, and names of variables in ${}, also within quotes; before 4.0 it drops a doubled quote."""
    quoted = literal(text).replace("' || '", "").split("'")[1::2]
    assert not any("\\" in piece for piece in quoted)
    assert "${" not in literal(text)
    assert "''" not in literal(text) or not text
