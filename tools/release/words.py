"""What Apache's field lists do not say: what a field means to kanalyze (roles), and a comment in our own words.

A file of words has a line for a field: API, direction, path, roles, comment, with tabs between; without a path it is the comment of
the message. Where it says nothing, a field gets the roles that every other field of its name and type has, if there are enough of
them; such a guess is listed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.release.definition import Node, blocks, nodes, paths

ENOUGH = 3


@dataclass
class Words:
    """`said`: (API, direction, path) -> roles and comment; `usual`: (name, type, is at the top) -> roles.
    `guessed`, `without`: (what, where) of new fields of which the file said nothing."""

    said: dict[tuple[str, str, str], tuple[str, str]] = field(default_factory=dict)
    usual: dict[tuple[str, str, bool], str] = field(default_factory=dict)
    guessed: list[tuple[str, str]] = field(default_factory=list)
    without: list[tuple[str, str]] = field(default_factory=list)

    def give(self, api: str, direction: str, fields: list[Node], added: set[str]) -> None:
        """Roles and comments to the fields that are new."""
        for path, node in paths(fields):
            if path not in added:
                continue
            if (api, direction, path) in self.said:
                node.roles, node.comment = self.said[api, direction, path]
                continue
            node.roles = self.usual.get(_kind(path, node), "")
            what = f"{node.name} {node.type} {node.roles}".rstrip()
            (self.guessed if node.roles else self.without).append(
                (what, f"{api} {direction} {path.rpartition('.')[0]}".rstrip())
            )

    def of_message(self, api: str, direction: str) -> str:
        """The line that begins a direction."""
        comment = self.said.get((api, direction, ""), ("", ""))[1]
        return f"{direction}  # {comment}" if comment else direction


def read(path: Path) -> dict[tuple[str, str, str], tuple[str, str]]:
    """A file of words."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        api, direction, place, roles, comment = line.split("\t")
        found[api, direction, place] = (roles, comment)
    return found


def lines_of(texts: Iterable[str]) -> Iterator[str]:
    """The file of words of these definitions."""
    yield "api\tdirection\tpath\troles\tcomment"
    for text in texts:
        head, parts = blocks(text)
        for direction, lines in parts.items():
            api, comment = head[0].split()[1], lines[0].partition("#")[2].strip()
            yield "\t".join((api, direction, "", "", comment))
            yield from (
                "\t".join((api, direction, path, node.roles, node.comment)) for path, node in paths(nodes(lines[1:]))
            )


def usual(texts: Iterable[str]) -> dict[tuple[str, str, bool], str]:
    """The roles that all fields of a name and type have in these definitions."""
    found: dict[tuple[str, str, bool], Counter[str]] = defaultdict(Counter)
    for lines in (lines for text in texts for lines in blocks(text)[1].values()):
        for path, node in paths(nodes(lines[1:])):
            found[_kind(path, node)][node.roles] += 1
    return {kind: next(iter(roles)) for kind, roles in found.items() if len(roles) == 1 and roles.total() >= ENOUGH}


def _kind(path: str, node: Node) -> tuple[str, str, bool]:
    return node.name, node.kind + "[]" * node.is_array, "." not in path
