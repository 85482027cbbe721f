"""The schemas of all APIs, and of the structs inside their byte fields: each file is read on first use, once.

What a file says is never changed afterwards. `language` explains how it says it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

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

FOLDER = Path(__file__).parent
SCHEMAS = FOLDER / "schemas"


@cache
def _files() -> dict[int, Path]:
    """Key -> the schema file of each API that has one; the key is the number that the file name begins with."""
    return {int(path.name[:3]): path for path in SCHEMAS.glob("*.kafka")}


@cache
def api(key: int) -> Api | None:
    """The schema of an API key, read on first use; None: no schema yet. Raises SchemaError."""
    path = _files().get(key)
    if path is None:
        return None
    return parse(path.read_text(encoding="utf-8"), f"schemas/{path.name}")


@cache
def _embedded_files() -> dict[str, Path]:
    """Name without its suffix -> file, of each struct that stands inside bytes."""
    return {path.stem: path for path in (SCHEMAS / "embedded").glob("*.kafka")}


@cache
def embedded(name: str) -> EmbeddedSchema:
    """The struct of `schemas/embedded/NAME.kafka`. Raises SchemaError, KeyError when there is no such file."""
    return parse_embedded(_embedded_files()[name].read_text(encoding="utf-8"), f"schemas/embedded/{name}.kafka")


def embedded_names() -> list[str]:
    """The names that `embedded` takes, in alphabetical order."""
    return sorted(_embedded_files())


def readable_keys() -> list[int]:
    """The API keys that have a schema file, ascending."""
    return sorted(_files())


@cache
def known_keys() -> dict[int, Key]:
    """Every API key that Kafka has had up to 4.3.1, ascending, with or without a schema file."""
    text = (FOLDER / "api_keys.tsv").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines()[1:]:
        key, name, first, last, flexible = line.split("\t")
        flexible_from = int(flexible) if flexible != "-" else OPEN + 1
        found[int(key)] = Key(name, Span(int(first), int(last)), flexible_from)
    return found


def api_names() -> list[tuple[int, str]]:
    """(key, name) of every known key, ascending."""
    return [(key, known.name) for key, known in known_keys().items()]
