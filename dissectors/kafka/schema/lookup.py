"""The schemas of all APIs, and of the structs inside their byte fields: each file is read on first use, once.

What a file says is never changed afterwards. `schema_files` explains how it says it.
"""

from __future__ import annotations

import re
from array import array
from functools import cache
from pkgutil import get_data

from dissectors.kafka.schema.fields import OPEN, Api, EmbeddedSchema, Field, Key, Message, SchemaError, Span
from dissectors.kafka.schema.schema_files import parse, parse_embedded

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
    "api_name",
    "api_names",
    "embedded",
    "embedded_names",
    "known_keys",
    "readable_keys",
    "version_limits",
]

_INNER_CAPITAL = re.compile("(?<=[a-z0-9])(?=[A-Z])")


def _name(key: int) -> str:
    """The file of an API that has a schema: its key, and its name in snake_case."""
    return f"{key:03}_{_INNER_CAPITAL.sub('_', known_keys()[key].name).lower()}.kafka"


@cache
def api(key: int) -> Api | None:
    """The schema of an API key, read on first use; None: no schema yet. Raises SchemaError."""
    if key not in known_keys():
        return None
    name = f"definitions/{_name(key)}"
    try:
        text = _text(name)
    except FileNotFoundError:
        return None
    return parse(text, name)


@cache
def embedded(name: str) -> EmbeddedSchema:
    """The struct of `definitions/embedded/NAME.kafka`. Raises SchemaError, KeyError when there is no such file."""
    file = f"definitions/embedded/{name}.kafka"
    try:
        text = _text(file)
    except FileNotFoundError:
        raise KeyError(name) from None
    return parse_embedded(text, file)


def embedded_names() -> list[str]:
    """The names that `embedded` takes, in alphabetical order."""
    return [name.removesuffix(".kafka") for name in _listed("definitions/embedded")]


def readable_keys() -> list[int]:
    """The API keys that have a schema file, ascending."""
    return [int(name[:3]) for name in _listed("definitions")]


@cache
def known_keys() -> dict[int, Key]:
    """Every API key that Kafka has had, ascending, with or without a schema file."""
    found = {}
    for line in _text("api_keys.tsv").splitlines()[1:]:
        key, name, first, last, flexible = line.split("\t")
        flexible_from = int(flexible) if flexible != "-" else OPEN + 1
        found[int(key)] = Key(name, Span(int(first), int(last)), flexible_from)
    return found


def api_names() -> list[tuple[int, str]]:
    """(key, name) of every known key, ascending."""
    return [(key, known.name) for key, known in known_keys().items()]


def api_name(key: int) -> str:
    """What people see as the name of a key: `key 95` for one that nobody knows."""
    known = known_keys().get(key)
    return f"key {key}" if known is None else known.name


def version_limits() -> tuple[array[int], array[int]]:
    """The newest and the first flexible version by API key; -1 where there is no such key."""
    known = known_keys()
    newest = [known[key].versions.last if key in known else -1 for key in range(max(known) + 1)]
    flexible = [known[key].flexible_from if key in known else -1 for key in range(max(known) + 1)]
    return array("q", newest), array("q", flexible)


def _text(name: str) -> str:
    """A file of this package. Raises FileNotFoundError."""
    data = get_data("dissectors.kafka.schema", name)
    assert data is not None  # as long as the package is loaded from files
    return data.decode("utf-8")


def _listed(folder: str) -> list[str]:
    """Names of the schema files in a folder of this package, in order."""
    from importlib.resources import files  # 6 ms that reading one file can do without

    return sorted(
        item.name
        for item in files("dissectors.kafka.schema").joinpath(folder).iterdir()
        if item.name.endswith(".kafka")
    )
