"""Where the fields of a message are: their paths, and what an error code is about."""

from __future__ import annotations

from collections.abc import Iterator

from dissectors.kafka.schema.lookup import Field, Message


def walk(message: Message) -> Iterator[tuple[str, Field, tuple[Field, ...]]]:
    """(path, field, the structs around it from outside in) of every field, by number.

    Paths are like `topics[].partitions[].error_code`.
    """

    def below(fields: tuple[Field, ...], prefix: str, around: tuple[Field, ...]) -> Iterator:
        for field in fields:
            path = prefix + field.name
            yield path, field, around
            yield from below(field.fields, f"{path}[]." if field.is_array else f"{path}.", (*around, field))

    yield from below(message.fields, "", ())


def paths(message: Message) -> list[str]:
    """The path of each field, at the place of its number."""
    return [path for path, _, _ in walk(message)]


# The role that tells what a struct is about -> the level of an error that is beside it; the first that fits.
_LEVELS = {
    "partition": "partition",
    "topic": "topic",
    "topic_id": "topic",
    "member": "member",
    "group": "group",
    "transactional_id": "transaction",
    "broker": "broker",
    "entity": "resource",
}


def error_levels(message: Message) -> dict[int, str]:
    """Field number of each @error -> what it is about: message, topic, partition, group, ... or as its line says.

    An error is about the innermost array element around it; what that is follows from the roles of the element's
    fields.
    """
    found = {}
    for _, field, around in walk(message):
        if "error" in field.roles:
            found[field.number] = field.level or _level(around)
    return found


def _level(around: tuple[Field, ...]) -> str:
    element = next((outer for outer in reversed(around) if outer.is_array), None)
    if element is None:
        return "message"
    roles = {role for field in element.fields for role in field.roles}
    return next((level for role, level in _LEVELS.items() if role in roles), "resource")
