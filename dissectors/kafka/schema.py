"""The schemas of all APIs, and of the structs inside their byte fields: each file is read on first use, once.

What a file says is never changed afterwards. `language` explains how it says it.
"""

from __future__ import annotations

from functools import cache

from dissectors.kafka.fields import OPEN, Api, EmbeddedSchema, Field, Key, Message, SchemaError, Span
from dissectors.kafka.language import parse, parse_embedded

__all__ = [
    "OPEN",
    "Api",
    "EmbeddedSchema",
    "Field",
    "Key",
    "Message",
    "SchemaError",
    "Span",
    "api",
    "api_names",
    "embedded",
    "embedded_names",
    "known_keys",
    "readable_keys",
]


@cache
def _files() -> dict[int, object]:
    """Key -> the schema file of each API that has one; the key is the number that the file name begins with."""
    from importlib.resources import files  # 8 ms: only when a schema is wanted

    folder = files("dissectors.kafka").joinpath("schemas")
    return {int(item.name[:3]): item for item in folder.iterdir() if item.name.endswith(".kafka")}


@cache
def api(key: int) -> Api | None:
    """The schema of an API key, read on first use; None: no schema yet. Raises SchemaError."""
    item = _files().get(key)
    if item is None:
        return None
    return parse(item.read_text(encoding="utf-8"), f"schemas/{item.name}")  # type: ignore[attr-defined]


@cache
def _embedded_files() -> dict[str, object]:
    """Name without its suffix -> file, of each struct that stands inside bytes."""
    from importlib.resources import files

    folder = files("dissectors.kafka").joinpath("schemas", "embedded")
    return {item.name.removesuffix(".kafka"): item for item in folder.iterdir() if item.name.endswith(".kafka")}


@cache
def embedded(name: str) -> EmbeddedSchema:
    """The struct of `schemas/embedded/NAME.kafka`. Raises SchemaError, KeyError when there is no such file."""
    item = _embedded_files()[name]
    return parse_embedded(item.read_text(encoding="utf-8"), f"schemas/embedded/{name}.kafka")  # type: ignore[attr-defined]


def embedded_names() -> list[str]:
    """The names that `embedded` takes, in alphabetical order."""
    return sorted(_embedded_files())


def readable_keys() -> list[int]:
    """The API keys that have a schema file, ascending."""
    return sorted(_files())


@cache
def known_keys() -> dict[int, Key]:
    """Every API key that Kafka has had up to 4.3.1, ascending, with or without a schema file."""
    from importlib.resources import files

    text = files("dissectors.kafka").joinpath("api_keys.tsv").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines()[1:]:
        key, name, first, last, flexible = line.split("\t")
        flexible_from = int(flexible) if flexible != "-" else OPEN + 1
        found[int(key)] = Key(name, Span(int(first), int(last)), flexible_from)
    return found


def api_names() -> list[tuple[int, str]]:
    """(key, name) of every known key, ascending."""
    return [(key, known.name) for key, known in known_keys().items()]
