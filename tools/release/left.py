"""What a new release leaves to a person, as a page: what a pull request says, and what the terminal shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.release.api_file import Definition
from tools.release.words import Words


@dataclass
class Left:
    """`unsure` must be decided, `words` are fields without meaning and comment, `guessed` have a role to look at."""

    release: str
    changes: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    words: Words = field(default_factory=Words)
    checks: list[str] = field(default_factory=list)
    is_right: bool = False

    def add(self, definition: Definition) -> None:
        """What the merge of one API was not sure of."""
        self.unsure += [f"{definition.file}: {each}" for each in definition.unsure]
        for direction, notes in definition.notes.items():
            self.unsure += [f"{definition.file} {direction} {each}" for each in notes.unsure]
            self.changes += [f"{definition.file} {direction}: {new}, before {old}" for new, old, _ in notes.renamed]

    def page(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield f"# Kafka {self.release}"
        yield from _section("What changed", self.changes)
        yield from _section("Checks", self.checks)
        yield from _section("Must be decided: left as it was", self.unsure)
        yield from _section("Roles as other fields of the name have them: look at each", _by_name(self.words.guessed))
        yield from _section("New fields without role and comment: may one hold a secret?", _by_name(self.words.without))
        yield from _section("Zeros in redacted captures until the allow list names them", self.unlisted)


def _by_name(fields: list[tuple[str, str]]) -> list[str]:
    """(what, where) of fields: one line for all places of the same."""
    places: dict[str, list[str]] = {}
    for what, where in fields:
        places.setdefault(what, []).append(where)
    return [f"`{what}`: {', '.join(found)}" for what, found in places.items()]


def _section(title: str, lines: list[str]) -> Iterator[str]:
    yield ""
    yield f"## {title}: {len(lines)}"
    yield ""
    yield from (f"- {line}" for line in lines or ["nothing"])


def unlisted() -> list[str]:
    """Fields of all definitions that the allow list of redaction does not name."""
    from analyzer.redact import allow_list
    from dissectors.kafka.schema import lookup, roles

    texts, data = allow_list.TEXTS, allow_list.BYTES
    lists = {"uuid": allow_list.UUIDS, "string": texts, "bytes": data, "records": data}
    found = []
    for api in filter(None, map(lookup.api, lookup.readable_keys())):
        for message in (api.request, api.response):
            for _, each, _ in roles.walk(message):
                if each.type != "struct" and each.name not in lists.get(each.type, allow_list.NUMBERS):
                    found.append((f"{each.name} {each.type}", f"{api.name} {message.direction}"))
    return _by_name(list(dict.fromkeys(found)))
