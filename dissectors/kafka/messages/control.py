"""Records of control batches: the end of a transaction, and what a KRaft quorum writes into its own log.

Sources: KIP-98 (transactions), KIP-595 (leaders), KIP-630 (snapshots), KIP-853 (voters).
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

from dissectors.kafka.messages.embedded import read_struct
from dissectors.kafka.messages.nodes import Struct

# Type number in the key -> its name, and the schema of the value.
_TYPES = (
    ("ABORT", "end_txn_marker"),
    ("COMMIT", "end_txn_marker"),
    ("LEADER_CHANGE", "leader_change"),
    ("SNAPSHOT_HEADER", "snapshot_header"),
    ("SNAPSHOT_FOOTER", "snapshot_footer"),
    ("KRAFT_VERSION", "kraft_version"),
    ("KRAFT_VOTERS", "voters"),
)


def control_of(key: bytes | None, value: bytes | None) -> dict[str, Any] | None:
    """What a control record says, as plain values (uuids in Kafka's text form); None when its key is no such thing.

    `type` is Kafka's name of it, `UNKNOWN_7` where there is none. ABORT and COMMIT add `coordinator_epoch`, the others
    their message as `body`; a value that cannot be read adds `problem`, a sentence.
    """
    kind = read_struct("control_type", key or b"")
    if kind.error is not None:
        return None
    number = kind.body.value("type")
    if not 0 <= number < len(_TYPES):
        return {"type": f"UNKNOWN_{number}"}
    name, schema = _TYPES[number]
    content = read_struct(schema, value or b"")
    if content.error is not None:
        return {"type": name, "problem": str(content.error)}
    body = _plain(content.body)
    return {"type": name, **body} if number < 2 else {"type": name, "body": body}


def _plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return {name: _plain(node.value) for name, node in value.fields.items()}
    if isinstance(value, list):
        return [_plain(element.value) for element in value]
    return urlsafe_b64encode(value).decode().rstrip("=") if isinstance(value, bytes) else value
