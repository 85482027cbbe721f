"""One API's definition, brought to a new release: the text that was there (or none), and the text that is to be there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tools.release.apache import entries, snake, valid_versions, versions
from tools.release.definition import Node, blocks, nodes, paths, written
from tools.release.merge import Merge, Notes
from tools.release.words import Words

DIRECTIONS = ("request", "response")


@dataclass
class Definition:
    """`text` as the file is to be; `notes` of each direction; `unsure` is what a person must decide about the head."""

    file: str
    text: str
    notes: dict[str, Notes]
    unsure: list[str]


def file_name(request: dict[str, Any]) -> str:
    return f"{request['apiKey']:03d}_{snake(request['name'].removesuffix('Request'))}.kafka"


def brought_to(label: str, text: str | None, messages: dict[str, dict[str, Any]], words: Words) -> Definition:
    """The definition that reads the release called `label` ("4.5") too. `messages`: its field lists by direction."""
    request = messages["request"]
    head, old_blocks = blocks(text) if text else ([], {})
    facts = _facts(head[0]) if head else {}
    old = versions(facts.get("versions"), frozenset(range(1000)))
    valid = valid_versions(request)
    name = request["name"].removesuffix("Request")
    unsure: list[str] = []
    facts = _head(label, facts, request, old, valid, unsure)
    found = Definition(file_name(request), "", {}, unsure)
    parts = [f"api {name}  " + "  ".join(f"{word} {value}" for word, value in facts.items())]
    for direction in DIRECTIONS:
        lines = old_blocks.get(direction, [words.of_message(name, direction)])
        merge = Merge(old, valid)
        fields = nodes(lines[1:])
        before = list(_shown(fields))
        if valid:
            merged = merge.fields(fields, entries(messages[direction]), old, valid | old)
            words.give(name, direction, merged, set(merge.notes.added))
        else:
            merged = fields
        changed = before != list(_shown(merged))
        parts.append("\n".join([lines[0], *written(merged)] if changed else lines))
        found.notes[direction] = merge.notes
    found.text = "\n\n".join(parts) + "\n"
    return found


def _shown(fields: list[Node]) -> list[tuple[Any, ...]]:
    return [
        (path, node.type, node.versions, node.tag, node.roles, node.default, node.comment)
        for path, node in paths(fields)
    ]


def _facts(line: str) -> dict[str, str]:
    words = line.split()[2:]
    facts = dict(zip(words[::2], words[1::2], strict=True))
    if "gone" in facts:
        facts["gone"] += f" in {facts.pop('in')}"
    return facts


def _head(
    label: str,
    facts: dict[str, str],
    request: dict[str, Any],
    old: frozenset[int],
    valid: frozenset[int],
    unsure: list[str],
) -> dict[str, str]:
    """What the first line says after the name, in order."""
    every = old | valid
    if every != frozenset(range(min(every), max(every) + 1)):
        unsure.append(f"versions {sorted(every)} are not one range")
    found = {"key": str(request["apiKey"]), "versions": span(every)}
    flexible = request.get("flexibleVersions", facts.get("flexible", "none"))
    if flexible != "none":  # as the definition has it: a release that removed an API does not say it any more
        found["flexible"] = facts.get("flexible", flexible)
    gone = facts.get("gone")
    lost = old - valid
    if lost and not gone:
        gone = f"{span(lost)} in {label}"
    elif gone and lost - versions(gone.split()[0], every):
        unsure.append(f"{span(lost)} are gone, {gone} was known: a definition tells one release only")
    if gone:
        found["gone"] = gone
    if request.get("latestVersionUnstable"):
        found["unstable"] = str(max(valid))
    elif "unstable" in facts and int(facts["unstable"]) not in valid:
        found["unstable"] = facts["unstable"]
    return found


def span(present: frozenset[int]) -> str:
    """`0-5`, or `0`."""
    return str(min(present)) if len(present) == 1 else f"{min(present)}-{max(present)}"
