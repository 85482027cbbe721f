"""Which values of a message are not for the eyes of those who read it: the one place that decides.

By the roles of the schema:
- @secret: never shown.
- @secret_by_name: the value of a setting. Secret when the `name` (or `key`) beside it looks like that of a password.
- @secret_if_marked: the same, and also secret when the message marks it: `is_sensitive`, or the type "password"
  (`config_type` 9). The mark follows the value: where the bytes end before it, the value is taken for secret.
  (Apache's brokers send null instead of such a value; others do not.)
- @echo: text in which a broker may repeat what it was sent ("Invalid value ... for configuration ..."). It is shown only
  when request and reply were read to their end, neither holds a secret value, and the text names nothing secret.

Where a value is hidden, fields beside it that the schema does not know are hidden too.

Records are the user's own data, shown where records were asked for. But two sorts hold what the messages above hold too:
- those of `__cluster_metadata` (settings of brokers and topics, SCRAM credentials, delegation tokens): each value is secret;
- settings of connectors and their tasks, and session keys, which Kafka Connect keeps in a topic of any name: their keys tell.
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
    from dissectors.kafka.messages.record_batches import Record

# Names of settings whose values are secret. Apache's own types of settings do not suffice: plugins have names of theirs.
SECRET_NAME = re.compile(
    r"passw|passphrase|pwd|secret|jaas|key|token|credential|licen[cs]e|user[._-]?info", re.IGNORECASE
)
_PASSWORD_TYPE = 9
_NAMES = ("name", "key")
_METADATA_TOPIC = "__cluster_metadata"
_METADATA_TOPIC_ID = bytes(15) + b"\x01"
# Keys and values of Connect's topic of settings (`KafkaConfigBackingStore`). The key alone says nothing: "task-1" is anybody's.
_CONNECT_KEY = re.compile(rb"(?:connector|task)-.")
_CONNECT_MARK = b'"properties"'
_CONNECT_SESSION_KEY = b"session-key"


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


def is_metadata_topic(struct: Struct) -> bool | None:
    """Whether the struct is about `__cluster_metadata`, by name or by id; None when it names no topic."""
    found = None
    for node in struct.fields.values():
        if node.field is None or node.field.is_array:
            continue
        if "topic" in node.field.roles:
            found = found or node.value == _METADATA_TOPIC
        elif "topic_id" in node.field.roles:
            found = found or node.value == _METADATA_TOPIC_ID
    return found


def is_secret_record(record: Record, of_metadata: bool) -> bool:
    """Whether value and headers of a record must not be shown. `of_metadata`: it is of the topic `__cluster_metadata`.

    A record without a value is never secret.
    """
    if record.value is None:
        return False
    if of_metadata:
        return record.control is None
    key = record.key or b""
    if key == _CONNECT_SESSION_KEY:
        return True
    return _CONNECT_KEY.match(key) is not None and _CONNECT_MARK in record.value


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
