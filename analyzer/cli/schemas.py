"""Schemas as text for `kanalyze schema`."""

from __future__ import annotations

from collections.abc import Iterator

from dissectors.kafka import schema


def names() -> dict[str, int]:
    """Key of every API that has a schema, by its name in small letters and by the key itself as text."""
    known = schema.known_keys()
    with_schema = schema.readable_keys()
    return {known[key].name.lower(): key for key in with_schema} | {str(key): key for key in with_schema}


def title(key: int) -> str:
    """The API's name."""
    return schema.known_keys()[key].name


def has_version(key: int, version: int) -> bool:
    """Whether the schema of `key` covers this version."""
    return version in _api(key).versions


def listing() -> Iterator[str]:
    """A line per API: key, name, versions."""
    for key in schema.readable_keys():
        yield f"{key:>3}  {title(key):<32} versions {_api(key).versions}"


def fields(key: int, version: int | None) -> Iterator[str]:
    """Both messages, a line per field with its type; of all versions, or of one."""
    api = _api(key)
    yield f"{api.name}, key {key}, versions {api.versions}" + (f", flexible {api.flexible}" if api.flexible else "")
    for message in (api.request, api.response):
        yield ""
        yield message.direction + (f"  # {message.comment}" if message.comment else "")
        yield from _fields(message.fields, version, 1)


def _fields(members: tuple[schema.Field, ...], version: int | None, depth: int) -> Iterator[str]:
    for field in members:
        if version is None or version in field.versions:
            name = "  " * depth + field.name
            words = [f"{name:<38}", f"{_type(field, version):<12}", *_details(field, version)]
            yield " ".join(words).rstrip()
            yield from _fields(field.fields, version, depth + 1)


def _type(field: schema.Field, version: int | None) -> str:
    kind = "{}" if field.type == "struct" and not field.is_array else "" if field.type == "struct" else field.type
    array = "[]" if field.is_array else ""
    if field.nullable is None:
        null = ""
    elif version is not None:
        null = "?" if version in field.nullable else ""
    else:
        null = "?" if field.nullable == field.versions else f"?{field.nullable}"
    return f"{array}{kind}{null}"


def _details(field: schema.Field, version: int | None) -> Iterator[str]:
    yield f"{'' if version is not None else str(field.versions):<6}"
    if field.tag is not None:
        yield f"tag {field.tag}"
    if field.default is not None:
        yield f"= {field.default}"
    if field.comment:
        yield f"# {field.comment}"


def _api(key: int) -> schema.Api:
    api = schema.api(key)
    assert api is not None  # callers take keys from `names`
    return api
