"""Views and tables of a database, created when a question first names them: planning a view takes some milliseconds, computing
a table may take much longer, and a question reads few of them.

A view that only other views read is never created: its SQL is part of theirs. The engine plans what a view reads when it is created
and again for each question, so each view of a chain would cost as much as all below it. In questions of ours (`in_place`) views
are written in place, too.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import count
from typing import NamedTuple

# Each pattern begins with a set of characters: Python skips to the next of them, where a pattern that begins with the boundary of a
# word, or with words in any case, is tried at each character. So the boundary is looked for behind the word.
# Strings and comments, in which names do not count. A quoted name is matched first, so that its quotes begin no string.
_QUIET = re.compile(r"""["'-](?:(?<=")(?:[^"]|"")*"|(?<=')(?:[^']|'')*'|(?<=-)-[^\n]*)""")
_READ = re.compile(r"""[fFjJ](?:(?<=[fF])[rR][oO][mM]|(?<=[jJ])[oO][iI][nN])(?<!\w\w{4})\s+\"?(\w+)""")
_DEFINED = re.compile(r"[aA][sS](?<!\w\w\w)\s+(?:(?i:not\s+)?(?i:materialized\s+))?\(\s*(?i:select|with|values)\b")
_NAME_BEFORE = re.compile(r"(\w+)\s+\Z")
_LONGEST_NAME = 200
# A name that is read, with its alias if it has one; or text in which names do not count, or a comparison.
_PLACE = re.compile(
    r"""[-'dDfFjJ](?:(?<=-)-[^\n]*|(?<=')(?:[^']|'')*'|(?<=[dD])(?i:istinct)(?<!\w\w{8})\s+(?i:from)\b"""
    r"""|(?:(?<=[fF])[rR][oO][mM]|(?<=[jJ])[oO][iI][nN])(?<!\w\w{4})\s+(?P<name>\w+)\b(?!\s*[.(])(?P<alias>\s+(?i:as)\b)?)"""
)
# A view that is all of another one, or of a table.
_WHOLE = re.compile(r"SELECT \* FROM ([a-z_]+)(?: WHERE true)?")
# Statements about all tables, which they do not name.
_ABOUT_ALL = re.compile(r"\b(?:show|pragma|summarize|information_schema|duckdb_\w+|pg_catalog)\b")
_OF_ALL = ("show", "pragma", "summarize", "information_schema", "duckdb_", "pg_catalog")

# The database with tables that are held in a file.
IN_FILE = "held"
# A thread that waits for others checks again after so long.
LOOK_AGAIN_S = 0.2


class Entry(NamedTuple):
    """The SQL of a view; of a table that is computed once if it is `materialized`, and then held `in_file` or in memory."""

    sql: str
    materialized: bool
    in_file: bool = False

    @property
    def kind(self) -> str:
        """What the name is of: of what is held in a file a view."""
        return "TABLE" if self.materialized and not self.in_file else "VIEW"


class _Known(NamedTuple):
    """An entry with the names that its SQL reads, and those that it defines itself."""

    entry: Entry
    reads: tuple[str, ...]
    defines: frozenset[str]


class Catalog:
    """`entry` gives the entry of a name, or None for a foreign name; `make` runs a statement that creates a view or a table.

    Several threads may ask at once. One of them gets the entry of a name, and one of them creates it. A thread that needs what
    another one is creating creates meanwhile whatever else it needs. No view is begun before all views that it reads exist, so
    no thread waits for others in the middle of one.
    """

    def __init__(
        self, names: Iterable[str], entry: Callable[[str], Entry | None], make: Callable[[str], object]
    ) -> None:
        self._names = tuple(names)
        self._entry = entry
        self._make = make
        self._lock = threading.RLock()  # unlike a Condition it is acquired and released in one step
        self._changed = threading.Condition(self._lock)
        self._made: set[str] = set()
        self._begun: set[str] = set()  # a thread creates it, or gets its entry
        self._entries: dict[str, _Known] = {}
        self._foreign: set[str] = set()  # names without an entry
        self._questions = count()

    def prepare(self, sql: str) -> None:
        """Creates the views that a statement names after FROM and JOIN."""
        text = _without_text(sql).lower()
        # Nearly no statement has such a word, and a plain search is over at once.
        about_all = any(word in text for word in _OF_ALL) and _ABOUT_ALL.search(text)
        self.ensure((*(self._names if about_all else ()), *tables_read(sql)))

    def in_place(self, sql: str) -> str:
        """The question with the SQL of each view that it reads in place of the name, after the tables that it needs were made. For
        questions in which an alias has its AS.
        """
        # A name that no word of SQL is, under which the question is looked at as if it were a view.
        name = f"{next(self._questions)} question"
        defined = frozenset(_defined(sql))
        reads = tuple(read for read in _read(sql) if read not in defined)
        self._entries[name] = _Known(Entry(sql, False), reads, defined)
        try:
            self.ensure((name,))
            return self._text(name)
        finally:
            self._made.discard(name)
            self._entries.pop(name, None)

    def prepare_words(self, sql: str) -> bool:
        """Creates the views that any word of a statement names; False when there are none."""
        words = re.findall(r"\w+", _without_text(sql.lower()))
        self.ensure(words)
        return not self._made.isdisjoint(words)

    def ensure(self, names: Sequence[str]) -> None:
        """Creates views and tables, and first those that they read. Names that exist or are foreign are passed over."""
        more = True
        while more:
            mine = None
            # A signal may come after any call, and must leave behind neither a begun name nor the lock: others would wait for ever.
            try:
                # Not `with self._lock`: in Python 3.14 a signal may come when that has acquired the lock and would not release it.
                try:
                    self._lock.acquire()
                    # That the name of the round before is done.
                    self._changed.notify_all()
                    mine = self._next(names)
                    more = mine is not None
                    if mine is not None:
                        self._begun.add(mine)
                finally:
                    # Nothing of Python's own may be called before it is released: no suppress().
                    try:  # noqa: SIM105
                        self._lock.release()
                    except RuntimeError:
                        pass  # the signal came before it was acquired
                if mine is not None:
                    self._advance(mine)
            finally:
                if mine is not None:
                    self._begun.discard(mine)

    def forget(self, is_stale: Callable[[str], bool]) -> None:
        """Drops views and tables; they are created again when a question names them."""
        for name in [name for name in tuple(self._entries) if is_stale(name)]:
            known = self._entries.pop(name, None)
            if known is not None and name in self._made:
                self._made.discard(name)
                self._make(f"DROP {known.entry.kind} IF EXISTS {name}")

    def _next(self, names: Sequence[str]) -> str | None:
        """The name that this thread can go on with; waits where only other threads can go on. None: all exist."""
        while True:
            # Copied first: a thread that has finished removes its name without the lock, after its result can be seen.
            begun = frozenset(self._begun)
            needed: dict[str, None] = {}
            if (ready := self._ready(names, begun, needed)) is not None:
                return ready
            if not begun.intersection(needed):
                # Nothing is left, or views read each other: the engine reports that.
                return next(iter(needed), None)
            # With a timeout: a signal or an error may have kept a thread from notifying.
            self._changed.wait(LOOK_AGAIN_S)

    def _ready(self, names: Sequence[str], begun: frozenset[str], needed: dict[str, None]) -> str | None:
        """The first of these names, and of those that they read, that can be begun now; names in `begun` are left to other
        threads. Adds to `needed` those that do not exist yet.
        """
        for name in names:
            if name in needed or self._is_done(name):
                continue
            needed[name] = None
            if name in begun:
                continue
            if name not in self._entries:
                return name
            first = self._needs(name)
            if (below := self._ready(first, begun, needed)) is not None:
                return below
            if all(map(self._is_done, first)):
                return name
        return None

    def _needs(self, name: str, above: tuple[str, ...] = ()) -> list[str]:
        """The names in the SQL with which a name is created: tables, views that exist or must, and names not known yet."""
        needs: list[str] = []
        for read in self._entries[name].reads:
            needs += self._needs(read, (*above, name)) if self._stands_in(read, (*above, name)) else [read]
        return needs

    def _stands_in(self, read: str, above: tuple[str, ...]) -> bool:
        """Whether the SQL of a view is written into the SQL of those above, instead of its name."""
        if read in self._made or read in above or read not in self._entries or self._entries[read].entry.materialized:
            return False
        # A name that somebody above defines would mean something else.
        defined = frozenset[str]().union(*(self._entries[each].defines for each in above))
        return defined.isdisjoint(self._needs(read, above))

    def _text(self, name: str, above: tuple[str, ...] = ()) -> str:
        """The SQL with which a name is created."""

        def place(found: re.Match[str]) -> str:
            read = (found["name"] or "").lower()
            if read not in reads:
                return found[0]
            return f"{found[0][:4]} {self._source(read, (*above, name))}{found['alias'] or f' AS {read}'}"

        reads = {read for read in self._entries[name].reads if self._stands_in(read, (*above, name))}
        sql = self._entries[name].entry.sql
        return _PLACE.sub(place, sql) if reads else sql

    def _source(self, read: str, above: tuple[str, ...]) -> str:
        """The SQL of a view in parentheses; of one that repeats a table, the name of the table: planning each column of a wide
        table once more takes longer than most sums over a small one."""
        whole = _WHOLE.fullmatch(self._entries[read].entry.sql)
        if whole is None:
            return f"(\n{self._text(read, above)}\n)"
        inside = whole[1]
        return self._source(inside, (*above, read)) if self._stands_in(inside, (*above, read)) else inside

    def _create(self, name: str, entry: Entry) -> None:
        """Replaces what was left by a signal or by other settings."""
        sql = self._text(name)
        if entry.in_file:
            self._make(f"CREATE OR REPLACE TABLE {IN_FILE}.{name} AS {sql}")
            sql = f"SELECT * FROM {IN_FILE}.{name}"
        self._make(f"CREATE OR REPLACE {entry.kind} {name} AS {sql}")

    def _is_done(self, name: str) -> bool:
        return name in self._made or name in self._foreign

    def _advance(self, name: str) -> None:
        """Gets the entry of a name; or creates it when the entry is known. Of a question what it reads was all."""
        if name.endswith(" question"):
            self._made.add(name)
        elif name in self._entries:
            self._create(name, self._entries[name].entry)
            self._made.add(name)
        elif (found := self._entry(name)) is not None:
            defined = frozenset(_defined(found.sql))
            reads = tuple(read for read in _read(found.sql) if read != name and read not in defined)
            self._entries[name] = _Known(found, reads, defined)
        else:
            self._foreign.add(name)


@lru_cache(maxsize=64)
def _without_text(sql: str) -> str:
    """A statement without its strings and comments, which may hold anything: filters come from the command line."""
    return _QUIET.sub(lambda found: found[0] if found[0][0] == '"' else " ", sql)


def tables_read(sql: str) -> list[str]:
    """The names after FROM and JOIN that the statement does not define itself (WITH), in lower case."""
    defined = _defined(sql)
    return [name for name in _read(sql) if name not in defined]


def _read(sql: str) -> list[str]:
    """The names after FROM and JOIN, in lower case."""
    return list(dict.fromkeys(word.lower() for word in _READ.findall(_without_text(sql))))


def _defined(sql: str) -> set[str]:
    """The names that the statement defines itself (WITH), in lower case."""
    text = _without_text(sql)
    before = (text[max(found.start() - _LONGEST_NAME, 0) : found.start()] for found in _DEFINED.finditer(text))
    return {name[1].lower() for each in before if (name := _NAME_BEFORE.search(each))}
