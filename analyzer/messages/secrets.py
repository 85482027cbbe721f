"""Which values of a message are not for the eyes of those who read it: the one place that decides.

By the roles of the schema:
- @secret: never shown.
- @secret_by_name: the value of a setting. Secret when the `name` (or `key`) beside it looks like that of a password.
- @secret_if_marked: the same, and also secret when the message marks it: `is_sensitive`, or the type "password"
  (`config_type` 9). The mark stands behind the value: where the bytes end before it, the value is taken for secret.
  (Apache's brokers send null instead of such a value; others do not.)
- @echo: text in which a broker may repeat what it was sent ("Invalid value ... for configuration ..."). It is shown only
  when request and reply were read to their end, neither holds a secret value, and the text names nothing secret.

Where a value is hidden, fields beside it that the schema does not know are hidden too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from dissectors.kafka.messages.nodes import Struct
from dissectors.kafka.schema import lookup, roles

if TYPE_CHECKING:
    from dissectors.kafka.messages.explain import Explained, Node

# Names of settings whose values are secret. Apache's own types of settings do not suffice: plugins have names of theirs.
SECRET_NAME = re.compile(
    r"passw|passphrase|pwd|secret|jaas|key|token|credential|licen[cs]e|user[._-]?info", re.IGNORECASE
)
_PASSWORD_TYPE = 9
_NAMES = ("name", "key")


def is_secret(node: Node, around: Struct, echoes: bool) -> bool:
    """Whether a field of the struct `around` must not be shown. `echoes`: @echo is shown where it names nothing secret.

    A field that is null is never secret.
    """
    if node.field is None or node.value is None:
        return False
    kinds = node.field.roles
    if "secret" in kinds:
        return True
    if "secret_by_name" in kinds:
        return _is_named_secret(around)
    if "secret_if_marked" in kinds:
        return _holds_value(node) and (_is_named_secret(around) or _is_marked_secret(around))
    return "echo" in kinds and bool(node.value) and (not echoes or SECRET_NAME.search(node.value) is not None)


def _is_named_secret(around: Struct) -> bool:
    return any(SECRET_NAME.search(around.value(name) or "") for name in _NAMES)


def _is_marked_secret(around: Struct) -> bool:
    return around.value("is_sensitive") is not False or around.value("config_type") == _PASSWORD_TYPE


def _holds_value(node: Node) -> bool:
    """Whether there is something to hide: in an array of synonyms, a value that is not null."""
    if not isinstance(node.value, list):
        return True
    return any(isinstance(each.value, Struct) and each.value.value("value") is not None for each in node.value)


def may_echo(request: Explained | None, reply: Explained | None) -> bool:
    """Whether texts of these two messages of an exchange may be shown: nothing in them is secret, nothing unread."""
    known = reply if request is None else request
    if known is None or not _echoes(known.api_key):
        return True
    if request is None or request.error is not None or (reply is not None and reply.error is not None):
        return False
    return not any(_secrets(message.body) for message in (request, reply) if message is not None and message.body)


@cache
def _echoes(api_key: int) -> bool:
    api = lookup.api(api_key)
    return api is not None and any("echo" in field.roles for _, field, _ in roles.walk(api.response))


def _secrets(struct: Struct) -> bool:
    """Whether the struct, or one below it, holds a secret value."""
    for node, around in _fields(struct):
        if is_secret(node, around, echoes=True) and node.field is not None and "echo" not in node.field.roles:
            return True
    return False


def _fields(struct: Struct) -> Iterator[tuple[Node, Struct]]:
    for node in struct.fields.values():
        yield node, struct
        below = node.value if isinstance(node.value, list) else [node]
        for each in below:
            if isinstance(each.value, Struct):
                yield from _fields(each.value)
