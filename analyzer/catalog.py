"""Views and tables of a database that are made when a question first names them: planning each costs some ms, computing
those that are kept may cost much more, and a question reads few of them.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

# Strings and comments, which name nothing; a quoted name is met first, so that its quotes begin no string.
_QUIET = re.compile(r"""("(?:[^"]|"")*")|'(?:[^']|'')*'|--[^\n]*""")
_READ = re.compile(r"\b(?:from|join)\s+\"?(\w+)", re.IGNORECASE)
_DEFINED = re.compile(
    r"\b(\w+)\s+as\s+(?:not\s+materialized\s+|materialized\s+)?\(\s*(?:select|with|values)\b", re.IGNORECASE
)
# Statements that ask what there is instead of naming it.
_ABOUT_ALL = re.compile(r"\b(?:show|pragma|summarize|information_schema|duckdb_\w+|pg_catalog)\b", re.IGNORECASE)


class Entry(NamedTuple):
    """What makes a view, or a table when it is `kept`."""

    sql: str
    kept: bool


class Catalog:
    """`entry` gives what stands behind a name, or None; `make` runs a statement that creates it.

    Several threads may ask at once: a view is made by one of them, which alone asks for its entry. Who needs one that is being
    made begins, of what that reads, everything that nobody has begun.
    """

    def __init__(
        self, names: Iterable[str], entry: Callable[[str], Entry | None], make: Callable[[str], object]
    ) -> None:
        self._names = tuple(names)
        self._entry = entry
        self._make = make
        self._changed = threading.Condition()
        self._made: set[str] = set()
        self._makers: dict[str, int] = {}  # the thread of each that is being made
        self._entries: dict[str, Entry] = {}  # of what is made or being made

    def prepare(self, sql: str) -> None:
        """Makes what a statement reads, as far as that can be seen after FROM and JOIN."""
        if _ABOUT_ALL.search(_without_text(sql)):
            for name in self._names:
                self.ensure(name)
        for name in tables_read(sql):
            self.ensure(name)

    def prepare_words(self, sql: str) -> bool:
        """The same for every word of a statement; False when nothing was left to make."""
        before = len(self._made)
        for word in dict.fromkeys(re.findall(r"\w+", _without_text(sql.lower()))):
            self.ensure(word)
        return len(self._made) > before

    def ensure(self, name: str) -> None:
        """Makes a view or table, and first what it reads; nothing for a name that is made, or none of ours."""
        # Who needs what it is making itself has met its own name below it.
        while (maker := self._begin(name)) not in (None, threading.get_ident()):
            self._help(name)
            with self._changed:
                while self._makers.get(name) == maker:
                    self._changed.wait()

    def _begin(self, name: str) -> int | None:
        """Makes it, unless a thread has begun to: the answer is that thread."""
        mine = False
        # A signal may come between any two steps, and must not leave a name that others wait for.
        try:
            with self._changed:
                if name in self._made or name in self._makers:
                    return self._makers.get(name)
                mine = True
                self._makers[name] = threading.get_ident()
            if (found := self._entry(name)) is not None:
                self._entries[name] = found
                for read in tables_read(found.sql):
                    self.ensure(read)
                self._make(f"CREATE {'TABLE' if found.kept else 'VIEW'} {name} AS {found.sql}")
                self._made.add(name)
        finally:
            if mine:
                with self._changed:
                    self._makers.pop(name, None)
                    self._changed.notify_all()
        return None

    def _help(self, name: str) -> None:
        """Makes what is read below a name that another thread is making, as far as nobody has begun it."""
        found = self._entries.get(name)
        for read in tables_read(found.sql) if found else ():
            if self._begin(read) not in (None, threading.get_ident()):
                self._help(read)

    def forget(self, names: Iterable[str]) -> None:
        """Drops views, to be made anew when they are named again."""
        for name in names:
            if name in self._made:
                self._made.discard(name)
                self._make(f"DROP VIEW IF EXISTS {name}")


@lru_cache(maxsize=64)
def _without_text(sql: str) -> str:
    """A statement without its strings and comments, whatever they hold: filters come from the command line."""
    return _QUIET.sub(lambda found: found[1] or " ", sql)


def tables_read(sql: str) -> list[str]:
    """The names behind FROM and JOIN that the statement does not define itself (WITH), in lower case."""
    text = _without_text(sql)
    defined = {name.lower() for name in _DEFINED.findall(text)}
    return [name for name in dict.fromkeys(word.lower() for word in _READ.findall(text)) if name not in defined]
