"""Definitions as they would be if a release were the newest, made of those of today."""

from __future__ import annotations

from collections.abc import Iterable

from tools.release.api_file import DIRECTIONS, span
from tools.release.definition import Node, blocks, nodes, written


def earlier(text: str, known: frozenset[int], names: dict[str, dict[str, str]]) -> str | None:
    """The definition of the versions in `known` alone; `names`: direction -> newer name -> its name then. None: no version."""
    head, parts = blocks(text)
    words = head[0].split()
    api, facts = words[1], dict(zip(words[2::2], words[3::2], strict=True))
    first, _, last = facts["versions"].partition("-")
    now = frozenset(range(int(first), int(last or first) + 1))
    if not now & known:
        return None
    line = f"api {api}  key {facts['key']}  versions {span(known)}"
    line += f"  flexible {facts['flexible']}" if "flexible" in facts else ""
    found = [line]
    for way in DIRECTIONS:
        kept = list(_kept(nodes(parts[way][1:]), now, known, names.get(way, {})))
        found.append("\n".join([parts[way][0], *written(kept)]))
    return "\n\n".join(found) + "\n"


def _kept(fields: list[Node], around: frozenset[int], known: frozenset[int], names: dict[str, str]) -> Iterable[Node]:
    for node in fields:
        present = node.present(around)
        then = present & known
        if not then:
            continue
        nulls = node.nullable(present) & known
        name = node.type.partition("?")[0]
        node.type = f"{name}?{_text(nulls, then, known)}" if nulls else name
        node.versions = _text(then, around & known, known)
        node.inner = list(_kept(node.inner, present, known, names))
        node.name = names.get(node.name, node.name)
        yield node


def _text(present: frozenset[int], around: frozenset[int], known: frozenset[int]) -> str:
    if present == around:
        return ""
    return f"{min(present)}+" if max(present) == max(known) else span(present)
