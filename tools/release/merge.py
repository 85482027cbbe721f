"""A definition and the field list of a new release become the definition that reads both.

Lines, comments and roles that stand there are kept. A field is found again by its name, and where the name changed by its place
and type, as long as the versions that both know agree. What cannot be told for sure is a note for a person, and is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tools.release.apache import Entry, versions
from tools.release.definition import Node


@dataclass
class Notes:
    """What became of the fields, for the person who looks at it; paths within the message."""

    added: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str, int]] = field(default_factory=list)  # path, older name, newest version with that name
    unsure: list[str] = field(default_factory=list)


@dataclass
class Merge:
    """`old` are the versions of the definition, `valid` those of the release."""

    old: frozenset[int]
    valid: frozenset[int]
    notes: Notes = field(default_factory=Notes)

    @property
    def every(self) -> frozenset[int]:
        return self.old | self.valid

    def fields(
        self, ours: list[Node], theirs: tuple[Entry, ...], around: frozenset[int], now: frozenset[int]
    ) -> list[Node]:
        """The fields of a struct that was there in the versions `around`, and now is in `now`."""
        return self._below("", ours, theirs, around, now)

    def _below(
        self, path: str, ours: list[Node], theirs: tuple[Entry, ...], around: frozenset[int], now: frozenset[int]
    ) -> list[Node]:
        pairs = self._pairs(ours, theirs, around)
        found: list[Node] = list(ours)
        after = -1
        for entry in theirs:
            node = pairs.get(entry.name)
            if node is None and entry.versions & self.old:
                self.notes.unsure.append(f"{path}{entry.name}: is not as the definition has it in versions both know")
            elif node is None:
                node = _new(entry)
                after += 1
                found.insert(after, node)
                self.notes.added.append(f"{path}{entry.name}")
                self._update(path, node, entry, frozenset(), now, frozenset())
            else:
                after = max(after, found.index(node))
                if node.name != entry.name:
                    newest = max(node.present(around) & self.valid)
                    self.notes.renamed.append((f"{path}{entry.name}", node.name, newest))
                self._update(path, node, entry, node.present(around), now, node.nullable(node.present(around)))
        for node in ours:
            if node not in pairs.values():
                self._gone(path, node, node.present(around), now)
        return found

    def _gone(self, path: str, node: Node, was: frozenset[int], now: frozenset[int]) -> None:
        if was & self.valid:
            self.notes.unsure.append(f"{path}{node.name}: the release has nothing there in {_span(was & self.valid)}")
        else:
            node.versions = self._text(was, now, node.versions)

    def _pairs(self, ours: list[Node], theirs: tuple[Entry, ...], around: frozenset[int]) -> dict[str, Node]:
        """Name of the release's field -> our line of it."""
        named = {node.name: node for node in ours}
        pairs: dict[str, Node] = {}
        for entry in theirs:
            node = named.get(entry.name)
            if node is not None and self._agree(node, entry, around):
                pairs[entry.name] = node
        left = [node for node in ours if node not in pairs.values() and node.present(around) & self.valid]
        for entry in theirs:
            if entry.name in pairs or not entry.versions & self.old:
                continue
            node = next((each for each in left if self._agree(each, entry, around)), None)
            if node is not None:
                pairs[entry.name] = node
                left.remove(node)
        return pairs

    def _agree(self, node: Node, entry: Entry, around: frozenset[int]) -> bool:
        """Whether all versions that both know have it, or have it not, in the same form."""
        same = (node.kind, node.is_array, node.tag) == (entry.kind, entry.is_array, entry.tag)
        return same and node.present(around) & self.valid == entry.versions & self.old

    def _update(
        self, path: str, node: Node, entry: Entry, was: frozenset[int], now: frozenset[int], nulls: frozenset[int]
    ) -> None:
        present = was - self.valid | entry.versions
        node.name = entry.name
        node.versions = self._text(present, now, node.versions)
        node.type = self._type(node, present, nulls - self.valid | entry.nullable)
        node.default = entry.default
        if node.kind == "struct":
            inner = f"{path}{entry.name}[]." if entry.is_array else f"{path}{entry.name}."
            node.inner = self._below(inner, node.inner, entry.inner, was, present)

    def _type(self, node: Node, present: frozenset[int], nulls: frozenset[int]) -> str:
        if node.nullable(present) == nulls:
            return node.type
        name = node.type.partition("?")[0]
        return f"{name}?{self._text(nulls, present, '')}" if nulls else name

    def _text(self, present: frozenset[int], around: frozenset[int], stands: str) -> str:
        """The versions as a line says them: nothing where they are those of the struct."""
        if versions(stands, around) == present if stands else present == around:
            return stands
        if present == around:
            return ""
        return f"{min(present)}+" if max(present) == max(self.every) else _span(present)


def _new(entry: Entry) -> Node:
    name = (
        ("[]" if entry.is_array else "{}") if entry.kind == "struct" else ("[]" if entry.is_array else "") + entry.kind
    )
    return Node(entry.name, name, "", entry.tag, "", entry.default, "")


def _span(present: frozenset[int]) -> str:
    return str(min(present)) if len(present) == 1 else f"{min(present)}-{max(present)}"
