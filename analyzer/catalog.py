"""Views and tables of a database that are made when a question first names them: planning each costs some ms, computing
those that are kept may cost much more, and a question reads few of them.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict
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

    Several threads may ask at once: each view is made by one of them, and who needs one that another thread makes at the time
    makes something else that both will need.
    """

    def __init__(
        self, names: Iterable[str], entry: Callable[[str], Entry | None], make: Callable[[str], object]
    ) -> None:
        self._names = tuple(names)
        self._entry = entry
        self._make = make
        self._made: set[str] = set()
        self._begun: set[str] = set()
        # A name below itself would be waited for by two threads in turn: nothing reads itself (test_catalog.py).
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)

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

    def ensure(self, name: str, wait: bool = True) -> None:
        """Makes a view or table, and first what it reads; nothing for a name that is made, or none of ours.

        Not `wait`: what another thread is making may not be there yet.
        """
        if name in self._made or (found := self._entry(name)) is None:
            return
        lock = self._locks[name]
        if not lock.acquire(blocking=False):
            for read in tables_read(found.sql):
                self.ensure(read, wait=False)
            if not wait:
                return
            lock.acquire()
        try:
            self._make_now(name, found)
        finally:
            lock.release()

    def _make_now(self, name: str, found: Entry) -> None:
        """Makes it, by the thread that has its lock. Who comes here a second time has met its own name below it."""
        if name in self._made or name in self._begun:
            return
        self._begun.add(name)
        try:
            for read in tables_read(found.sql):
                self.ensure(read)
            self._make(f"CREATE {'TABLE' if found.kept else 'VIEW'} {name} AS {found.sql}")
            self._made.add(name)
        finally:
            self._begun.discard(name)

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
