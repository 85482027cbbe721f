"""Views and tables of a database that are made when a question first names them: planning each costs some ms, computing
those that are kept may cost much more, and a question reads few of them.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
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

# A thread that waits for others looks again after so long.
LOOK_AGAIN_S = 0.2


class Entry(NamedTuple):
    """What makes a view, or a table when it is `kept`."""

    sql: str
    kept: bool


class Catalog:
    """`entry` gives what stands behind a name, or None; `make` runs a statement that creates it.

    Several threads may ask at once. The entry of a name is asked for by one of them, and one of them makes it; who needs what
    others are making makes meanwhile whatever else it needs. Nobody begins a view before all that it reads is made, so nobody
    waits for others in the middle of one.
    """

    def __init__(
        self, names: Iterable[str], entry: Callable[[str], Entry | None], make: Callable[[str], object]
    ) -> None:
        self._names = tuple(names)
        self._entry = entry
        self._make = make
        self._lock = threading.RLock()  # unlike a Condition it is taken and given back in one step
        self._changed = threading.Condition(self._lock)
        self._made: set[str] = set()
        self._begun: set[str] = set()  # a thread makes it, or asks for its entry
        self._entries: dict[str, tuple[Entry, list[str]]] = {}  # and what it reads
        self._foreign: set[str] = set()  # names that are none of ours

    def prepare(self, sql: str) -> None:
        """Makes what a statement reads, as far as that can be seen after FROM and JOIN."""
        about_all = _ABOUT_ALL.search(_without_text(sql))
        self.ensure((*(self._names if about_all else ()), *tables_read(sql)))

    def prepare_words(self, sql: str) -> bool:
        """The same for every word of a statement; False when none of them is a name of ours."""
        words = re.findall(r"\w+", _without_text(sql.lower()))
        self.ensure(words)
        return not self._made.isdisjoint(words)

    def ensure(self, names: Sequence[str]) -> None:
        """Makes views and tables, and first what they read; nothing for names that are made, or none of ours."""
        more = True
        while more:
            mine = None
            # A signal may come after any call, and must not leave a name that others wait for.
            try:
                with self._lock:
                    mine = self._next(names)
                    more = mine is not None
                    if mine is not None:
                        self._begun.add(mine)
                if mine is not None:
                    self._go_on(mine)
            finally:
                if mine is not None:
                    # Before the lock is asked for, where a signal may come too.
                    self._begun.discard(mine)
                    with self._lock:
                        self._changed.notify_all()

    def forget(self, is_stale: Callable[[str], bool]) -> None:
        """Drops views, to be made anew when they are named again."""
        for name in [name for name in tuple(self._entries) if is_stale(name)]:
            self._entries.pop(name, None)
            if name in self._made:
                self._made.discard(name)
                self._make(f"DROP VIEW IF EXISTS {name}")

    def _next(self, names: Sequence[str]) -> str | None:
        """What this thread can go on with; waits where only others can. None: all is made."""
        while True:
            # Taken first: a thread that is done says so without the lock, after what it did can be seen.
            begun = frozenset(self._begun)
            needed: dict[str, None] = {}
            if (ready := self._ready(names, begun, needed)) is not None:
                return ready
            if not begun.intersection(needed):
                # Nothing, or names that read one another: the engine says so.
                return next(iter(needed), None)
            # Not for ever: a signal may have kept a thread from telling that it is done.
            self._changed.wait(LOOK_AGAIN_S)

    def _ready(self, names: Sequence[str], begun: frozenset[str], needed: dict[str, None]) -> str | None:
        """The first of these names, and of those below them, that can be begun now; `begun` are left to others. `needed` takes
        those that are not made.
        """
        for name in names:
            if name in needed or self._is_done(name):
                continue
            needed[name] = None
            if name in begun:
                continue
            if name not in self._entries:
                return name
            _, reads = self._entries[name]
            if (below := self._ready(reads, begun, needed)) is not None:
                return below
            if all(map(self._is_done, reads)):
                return name
        return None

    def _is_done(self, name: str) -> bool:
        return name in self._made or name in self._foreign

    def _go_on(self, name: str) -> None:
        """Asks for the entry of a name, or makes it when that is known."""
        if name in self._entries:
            entry, _ = self._entries[name]
            # What a signal or another setting left behind is replaced.
            self._make(f"CREATE OR REPLACE {'TABLE' if entry.kept else 'VIEW'} {name} AS {entry.sql}")
            self._made.add(name)
        elif (found := self._entry(name)) is not None:
            self._entries[name] = found, [read for read in tables_read(found.sql) if read != name]
        else:
            self._foreign.add(name)


@lru_cache(maxsize=64)
def _without_text(sql: str) -> str:
    """A statement without its strings and comments, whatever they hold: filters come from the command line."""
    return _QUIET.sub(lambda found: found[1] or " ", sql)


def tables_read(sql: str) -> list[str]:
    """The names behind FROM and JOIN that the statement does not define itself (WITH), in lower case."""
    text = _without_text(sql)
    defined = {name.lower() for name in _DEFINED.findall(text)}
    return [name for name in dict.fromkeys(word.lower() for word in _READ.findall(text)) if name not in defined]
