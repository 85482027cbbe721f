"""Messages as JSON: the trees of the reference interpreter as dicts, lists, numbers and text.

Names are Apache's in snake_case. Bytes are base64, uuids Kafka's 22 characters of base64url, NaN and the infinities the
strings `NaN`, `Infinity`, `-Infinity`; a null is null. Tagged fields that the schema knows have their names, at
their default when absent; others under `unknown_tags`, tag -> base64. `records` is their size and their batches.
"""

from __future__ import annotations

import math
from base64 import b64encode, urlsafe_b64encode
from typing import TYPE_CHECKING, Any

from analyzer.messages.secrets import is_metadata_topic, is_secret, is_secret_record, may_echo
from dissectors.errors import DissectError
from dissectors.kafka.messages.explain import explain
from dissectors.kafka.messages.records import Budget, read_records
from dissectors.kafka.messages.room import Room

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dissectors.kafka.messages.explain import Explained, Node, Struct
    from dissectors.kafka.messages.record_batches import Batch, Record, Records


class Renderer:
    """What to show: each record of a batch (`records`), values that are secret (`secrets`, see `messages.secrets`).

    Texts in which a broker may repeat a secret are shown when `allow_echoes` was given the exchange and found nothing.
    `budget` bounds what the records of one message may become when they are decompressed, `room` how many are kept.
    """

    def __init__(self, records: bool = False, secrets: bool = False) -> None:
        self.records = records
        self.secrets = secrets
        self.echoes = False
        self._of_metadata = False
        self.budget = Budget()
        self.room = Room()

    def allow_echoes(self, request: Explained | None, reply: Explained | None) -> None:
        """Both messages of the exchange that is shown next; None: it was not seen."""
        self.echoes = may_echo(request, reply)

    def enter(self, struct: Struct) -> None:
        """The struct whose fields come next: records below it are of the topic that it names."""
        of_metadata = is_metadata_topic(struct)
        if of_metadata is not None:
            self._of_metadata = of_metadata

    def struct(self, struct: Struct) -> dict[str, Any]:
        self.enter(struct)
        found = {name: self.node(node, struct) for name, node in struct.fields.items()}
        if struct.unknown_tags:
            hides = any(self.hides(node, struct) for node in struct.fields.values())
            found["unknown_tags"] = {
                str(tag): secret_size(value) if hides else base64(value) for tag, value in struct.unknown_tags.items()
            }
        return found

    def node(self, node: Node, around: Struct) -> Any:
        if self.hides(node, around):
            return {"secret_bytes": size_of(node)}
        kind = "" if node.field is None else node.field.type
        if isinstance(node.value, list):
            return [self.value(element.value, kind) for element in node.value]
        return self.value(node.value, kind)

    def hides(self, node: Node, around: Struct) -> bool:
        return not self.secrets and is_secret(node, around, self.echoes)

    def value(self, value: Any, kind: str) -> Any:
        if value is None or kind == "":
            return value
        if kind == "struct":
            return self.struct(value)
        if kind == "uuid":
            return urlsafe_b64encode(value).decode().rstrip("=")
        if kind == "bytes":
            return base64(value)
        if kind == "records":
            return self.batches(value)
        if kind == "float64" and not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return value

    def batches(self, data: memoryview) -> dict[str, Any]:
        """`partial_bytes` are those of a last batch that is cut off; `problem` says where reading stopped, and why."""
        read = self.read(data)
        return {"size_bytes": len(data), "batches": [self.batch(batch) for batch in read.batches]} | self.rest(read)

    def read(self, data: memoryview) -> Records:
        return read_records(data, self.records, self.budget, room=self.room)

    def rest(self, read: Records) -> dict[str, Any]:
        """What is to be said of a records field behind its batches."""
        found: dict[str, Any] = {"partial_bytes": read.partial_bytes} if read.partial_bytes else {}
        return found if read.problem is None else found | {"problem": error(read.problem)}

    def batch(self, batch: Batch) -> dict[str, Any]:
        found = self.batch_head(batch)
        if batch.records is not None:
            found["records"] = [self.record(each) for each in batch.records]
        return found

    def batch_head(self, batch: Batch) -> dict[str, Any]:
        """A batch without its records."""
        return batch.header() | ({} if batch.problem is None else {"problem": error(batch.problem)})

    def hides_record(self, record: Record) -> bool:
        return not self.secrets and is_secret_record(record, self._of_metadata)

    def record(self, record: Record) -> dict[str, Any]:
        shown = secret_size if self.hides_record(record) else base64
        found: dict[str, Any] = {
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": base64(record.key),
            "value": shown(record.value),
            "headers": [{"key": key, "value": shown(value)} for key, value in record.headers],
        }
        if record.control is not None:
            found["control"] = record.control
        return found


def size_of(node: Node) -> int:
    """Bytes of a text or of bytes without their length field; of an array all that it takes."""
    if isinstance(node.value, list):
        return node.end - node.start
    return len(node.value.encode()) if isinstance(node.value, str) else len(node.value)


def secret_size(value: bytes | None) -> dict[str, int] | None:
    """What is printed in place of bytes that are not shown."""
    return None if value is None else {"secret_bytes": len(value)}


def base64(value: bytes | memoryview | None) -> str | None:
    return None if value is None else b64encode(value).decode()


def error(problem: DissectError) -> dict[str, Any]:
    """What is wrong, where in the message, at which byte."""
    message = f"expected {problem.wanted}, got {problem.got}"
    return {"kind": problem.kind, "path": problem.path, "offset": problem.offset, "message": message}


def message(found: Explained, renderer: Renderer) -> dict[str, Any]:
    """A message as `kanalyze decode` prints it; with an `error`, header and body hold what came before that."""
    renderer.budget, renderer.room = Budget(), Room()
    header = renderer.struct(found.header)
    if found.direction == "request" and found.error is None:
        header.setdefault("client_id", None)  # header v0 has none
    body = None if found.body is None else renderer.struct(found.body)
    if found.error is not None:
        return {"error": error(found.error), "header": header, "body": body, "notes": found.notes}
    return {"header": header, "body": body, "leftover_bytes": found.leftover_bytes, "notes": found.notes}


def decode_line(line: Mapping[str, Any], records: bool = False) -> dict[str, Any]:
    """The answer to one line of `kanalyze decode`: `api_key`, `version`, `direction`, `hex` (frame without length).

    Never raises for what a line says: a line that cannot be understood gets an `error` of kind `usage`. Secrets are
    shown, since whoever asks has the bytes.
    """
    try:
        key, version, direction, frame = _arguments(line)
    except ValueError as problem:
        return usage_error(str(problem))
    return message(explain(key, version, direction, frame), Renderer(records=records, secrets=True))


def usage_error(text: str) -> dict[str, Any]:
    """The answer to a line that asks nothing that could be answered."""
    return {"error": {"kind": "usage", "path": "", "offset": 0, "message": text}, "header": {}, "body": None}


def _arguments(line: Mapping[str, Any]) -> tuple[int, int, str, bytes]:
    """The parts of a line. Raises ValueError with a sentence for the user."""
    if not isinstance(line, dict):
        raise ValueError(f"wanted a JSON object, got {type(line).__name__}")
    key, version, direction, text = (line.get(name) for name in ("api_key", "version", "direction", "hex"))
    for name, value in (("api_key", key), ("version", version)):
        if type(value) is not int:
            raise ValueError(f"{name}: expected a number, got {value!r}")
    if direction not in ("request", "response"):
        raise ValueError(f'direction: expected "request" or "response", got {direction!r}')
    if not isinstance(text, str):
        raise ValueError(f"hex: expected text, got {text!r}")
    try:
        return key, version, direction, bytes.fromhex(text)  # type: ignore[return-value]
    except ValueError as problem:
        raise ValueError(f"hex: {problem}") from None
