"""A definition as a tree of lines that can be changed and written again. What stands there is kept as it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.release.alignment import Cells, aligned_block, cells_of
from tools.release.apache import versions


@dataclass(eq=False)
class Node:
    """A field line. `type` is as written: `string?7+`, `[]`, `{}?`, `[]int32`."""

    name: str
    type: str
    versions: str
    tag: int | None
    roles: str
    default: str | None
    comment: str
    inner: list[Node] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """The primitive, or "struct"."""
        name = self.type.partition("?")[0].removeprefix("[]")
        return "struct" if name in ("", "{}") else name

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    def present(self, around: frozenset[int]) -> frozenset[int]:
        """The versions in which it is there, of those of its struct."""
        return versions(self.versions, around) if self.versions else around

    def nullable(self, present: frozenset[int]) -> frozenset[int]:
        _, mark, when = self.type.partition("?")
        return versions(when, present) if when else present if mark else frozenset()


def blocks(text: str) -> tuple[list[str], dict[str, list[str]]]:
    """The head of a definition, and of each direction its lines with the one that names it."""
    head, *parts = text.rstrip("\n").split("\n\n")
    return head.split("\n"), {part.split(maxsplit=1)[0]: part.split("\n") for part in parts}


def nodes(lines: list[str]) -> list[Node]:
    """The fields of the lines of a direction."""
    roots: list[Node] = []
    open_at: list[list[Node]] = [roots]
    for line in lines:
        depth = (len(line) - len(line.lstrip(" "))) // 2
        node = _node(cells_of(line))
        del open_at[depth:]
        open_at[-1].append(node)
        open_at.append(node.inner)
    return roots


def _node(cells: Cells) -> Node:
    words = cells.meaning.split()
    tag = int(words[1]) if words[:1] == ["tag"] else None
    default = words[-1] if "=" in words else None
    roles = " ".join(word for word in words if word.startswith("@"))
    return Node(cells.name.strip(), cells.type, cells.versions, tag, roles, default, cells.comment.removeprefix("# "))


def lines_of(fields: list[Node], depth: int = 1) -> Iterator[Cells]:
    for node in fields:
        parts = (
            "" if node.tag is None else f"tag {node.tag}",
            node.roles,
            "" if node.default is None else f"= {node.default}",
        )
        meaning = "  ".join(part for part in parts if part)
        comment = f"# {node.comment}" if node.comment else ""
        yield Cells("  " * depth + node.name, node.type, node.versions, meaning, comment)
        yield from lines_of(node.inner, depth + 1)


def written(fields: list[Node]) -> list[str]:
    """The lines of a direction, in columns."""
    return aligned_block(list(lines_of(fields)))


def paths(fields: list[Node], prefix: str = "") -> Iterator[tuple[str, Node]]:
    """(path, field) in order; paths are like `topics[].partitions[].error_code`."""
    for node in fields:
        yield prefix + node.name, node
        yield from paths(node.inner, f"{prefix}{node.name}[]." if node.is_array else f"{prefix}{node.name}.")
