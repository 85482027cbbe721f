"""Writes docs/protocol, a page for each API, from the schemas; with --check only names the stale ones, exit code 1."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from dissectors.kafka.schema import headers, lookup, roles
from dissectors.kafka.schema.error_codes import known_errors
from dissectors.kafka.schema.lookup import Api, EmbeddedSchema, Field, Message, Span

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "protocol"

# What kanalyze takes a field for, by its role; the structure of tables (@row, @topics, ...) is no matter of readers.
MEANINGS = {
    "topic": "topic",
    "topic_id": "id of the topic",
    "partition": "partition",
    "entity": "what the entry is about",
    "message": "what the broker says of the error",
    "throttle": "throttle time, ms",
    "records": "record batches",
    "count": "a number of entries",
    "secret": "secret: never shown",
    "secret_by_name": "secret when its name looks like that of a password",
    "secret_if_marked": "secret when marked as sensitive, or when its name looks like that of a password",
    "echo": "not shown where it may repeat a secret",
    "group": "group id",
    "member": "member id",
    "generation": "generation or member epoch",
    "transactional_id": "transactional id",
    "offset": "offset",
    "high_watermark": "high watermark",
    "last_stable_offset": "last stable offset",
    "log_start_offset": "log start offset",
    "leader_epoch": "leader epoch",
    "timestamp": "moment, ms since the epoch",
    "preferred_read_replica": "replica to read from",
    "replica_id": "the replica that reads",
    "acks": "acknowledgements wanted",
    "max_wait": "time that the broker may wait, ms",
    "min_bytes": "bytes worth an answer",
    "isolation_level": "isolation level",
    "session_id": "fetch session",
    "session_epoch": "place in the session",
    "timeout": "timeout, ms",
    "rack": "rack of the client",
    "software_name": "name of the client software",
    "software_version": "version of the client software",
    "mechanism": "SASL mechanism",
    "protocol_type": "protocol type of the group",
    "broker": "node id",
    "producer_id": "producer id",
    "producer_epoch": "producer epoch",
}
Kind = TypeVar("Kind")

STRUCTURE = frozenset({"row", "topics", "partitions", "forgotten", "error", "embedded"})

HOW_TO_READ = """\
Written from `dissectors/kafka/schema/definitions` by `make docs`; do not edit.

A column of a table is a run of versions with one layout, struck out when Kafka has removed them. `•` the field is
there, `?` it is there and may be null. `[]` is an array of the fields below, `[]INT32` of numbers, `{}` a struct. A
tag: the field stands among the tagged fields at the end of its struct, or is left out at its default. In flexible
versions lengths are compact and every struct ends with tagged fields. *Italics* say what kanalyze takes a field for."""


def pages() -> dict[str, str]:
    """Name of a file in docs/protocol -> its text."""
    found = {page_name(key): api_page(_api(key)) for key in lookup.readable_keys()}
    return {"README.md": index(), "embedded.md": embedded_page(), "error_codes.md": error_page(), **found}


def page_name(key: int) -> str:
    return f"{key:02}_{lookup.known_keys()[key].name}.md"


def _api(key: int) -> Api:
    api = lookup.api(key)
    assert api is not None
    return api


def index() -> str:
    """Every API with its versions and what it is for."""
    lines = ["# Kafka's protocol", "", HOW_TO_READ, ""]
    lines += ["Structs inside bytes fields: [embedded.md](embedded.md). Errors: [error_codes.md](error_codes.md).", ""]
    lines += _table(["key", "API", "versions", "flexible", "removed", "unstable", "what for"], _index_rows())
    return _text(lines)


def _index_rows() -> Iterator[list[str]]:
    for key in lookup.readable_keys():
        api = _api(key)
        link = f"[{api.name}]({page_name(key)})"
        words = [str(api.versions), str(api.flexible or ""), removed(api), str(api.unstable or "")]
        yield [str(key), link, *words, api.request.comment]


def removed(api: Api) -> str:
    if api.gone is None:
        return ""
    return f"{'all' if api.gone == api.versions else api.gone} in {api.gone_in}"


def api_page(api: Api) -> str:
    """Both messages of an API, all versions."""
    facts = [f"Key {api.key}, versions {api.versions}"]
    facts += [f"flexible {api.flexible}" if api.flexible else "never flexible"]
    facts += [f"removed: {removed(api)}"] if api.gone else []
    facts += [f"unstable: {api.unstable}"] if api.unstable else []
    lines = [f"# {api.name}", "", f"{', '.join(facts)}. [All APIs and how to read this page](README.md)"]
    for message in (api.request, api.response):
        lines += ["", f"## {message.direction.capitalize()}", ""]
        lines += [f"{_sentence(message.comment)} {_headers(api, message)}".strip()]
        lines += ["", *_fields(api, message)]
    return _text(lines)


def _headers(api: Api, message: Message) -> str:
    """Which header stands before the message, by version of that."""
    rule = headers.request_version if message is api.request else headers.response_version
    kinds = [(version, rule(api.key, version)) for version in _versions(api)]
    runs = _runs(kinds)
    words = [f"v{kind}" if len(runs) == 1 else f"v{kind} in {versions}" for versions, kind in runs]
    return f"Header {', '.join(words)}."


def embedded_page() -> str:
    """The structs inside bytes fields and control records."""
    lines = ["# Structs inside bytes", "", "[How to read this page](README.md)"]
    for name in lookup.embedded_names():
        found = lookup.embedded(name)
        lines += ["", f"## {found.name}", "", _embedded_facts(found), ""]
        lines += _fields(found, Message("", found.fields))
    return _text(lines)


def _embedded_facts(found: EmbeddedSchema) -> str:
    facts = [f"Versions {found.versions}", f"flexible {found.flexible}" if found.flexible else ""]
    facts += ["an INT16 before the struct is its version" if found.has_prefix else "its first field is its version"]
    facts += ["newer versions are read as the last one" if found.reads_newer else ""]
    return f"{_sentence(found.comment)} {'; '.join(fact for fact in facts if fact)}."


def error_page() -> str:
    rows = ([str(error.code), error.name, "yes" if error.retriable else ""] for error in known_errors().values())
    return _text(["# Error codes", "", *_table(["code", "name", "clients retry"], rows)])


def _fields(found: Api | EmbeddedSchema, message: Message) -> list[str]:
    """The table of fields and versions."""
    if not message.fields:
        return ["No fields."]
    rows = list(roles.walk(message))
    levels = roles.error_levels(message)
    gone = found.gone if isinstance(found, Api) else None
    looks = [
        (
            version,
            (
                gone is not None and version in gone,
                found.is_flexible(version),
                [_cell(each, version) for _, each, _ in rows],
            ),
        )
        for version in _versions(found)
    ]
    runs = _runs(looks)
    heads = [f"~~{versions}~~" if is_gone else str(versions) for versions, (is_gone, _, _) in runs]
    cells = zip(*(cells for _, (_, _, cells) in runs), strict=True)
    body = (
        [f"`{path}`", _type(field), *row, _meaning(field, levels.get(field.number))]
        for (path, field, _), row in zip(rows, cells, strict=True)
    )
    return _table(["field", "type", *heads, "meaning"], body)


def _versions(found: Api | EmbeddedSchema) -> range:
    return range(found.versions.first, found.versions.last + 1)


def _runs(looks: Sequence[tuple[int, Kind]]) -> list[tuple[Span, Kind]]:
    """Neighbouring versions of one kind together."""
    found: list[tuple[Span, Kind]] = []
    for version, kind in looks:
        if found and found[-1][1] == kind:
            found[-1] = Span(found[-1][0].first, version), kind
        else:
            found.append((Span(version, version), kind))
    return found


def _cell(field: Field, version: int) -> str:
    if version not in field.versions:
        return ""
    return "?" if field.nullable is not None and version in field.nullable else "•"


def _type(field: Field) -> str:
    array = "[]" if field.is_array else ""
    kind = ("" if array else "{}") if field.type == "struct" else field.type.upper()
    return f"{array}{kind}" + ("" if field.tag is None else f", tag {field.tag}")


def _meaning(field: Field, level: str | None) -> str:
    """Roles, default and our words."""
    words = [f"*{MEANINGS[role]}*" for role in field.roles if role not in STRUCTURE]
    if level is not None:
        words.append("*[error code](error_codes.md)" + ("*" if level == "message" else f" of the {level}*"))
    if field.embedded is not None:
        words.append(_held(field.embedded))
    if field.default is not None:
        words.append(f"default {field.default}")
    return "; ".join([*words, *([_escape(field.comment)] if field.comment else [])])


def _held(name: str) -> str:
    if name in ("request", "response"):
        return f"holds a whole {name}"
    struct = lookup.embedded(name).name
    return f"holds [{struct}](embedded.md#{struct.lower()})"


def _sentence(comment: str) -> str:
    """Our words as a sentence of their own; nothing when there are none."""
    text = comment[:1].upper() + comment[1:]
    return _escape(text if not text or text.endswith(("?", ".")) else f"{text}.")


def _escape(text: str) -> str:
    for mark in "\\|<*`":
        text = text.replace(mark, f"\\{mark}")
    return text


def _table(heads: Sequence[str], rows: Iterator[list[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |") for cells in lines]


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"


def stale() -> list[str]:
    """Names of pages that are not what the schemas say, and of files that are no page."""
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def main(arguments: list[str]) -> int:
    """Writes stale pages, or with --check only names them."""
    found, wanted = stale(), pages()
    for name in found:
        print(f"docs/protocol/{name} " + ("is stale: run `make docs`" if arguments == ["--check"] else "written"))
        if arguments != ["--check"]:
            _write(FOLDER / name, wanted.get(name))
    return 1 if found and arguments == ["--check"] else 0


def _write(path: Path, text: str | None) -> None:
    """Without text: removes the page of an API that is no more."""
    if text is None:
        path.unlink()
        return
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
