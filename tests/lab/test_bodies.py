"""Both bodies of every exchange are what the broker wrote of them in its request log, field by field.

All captures that can be read, those with lost and cut packets too: of a message that is not there whole, what can be
read is compared. Secrets are values here. Records are compared as their sizes. `pytest -s` prints how many messages
were compared of each API and version.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from agreement import connection_name, requests
from broker_bodies import Account, Comparison, Sized, body, read_accounts
from oracle import Capture
from program import LAB, found_captures

from analyzer.bodies import each_message
from analyzer.local import open_dataset
from analyzer.options import Options
from analyzer.render import Renderer
from dissectors.kafka import schema
from dissectors.kafka.explain import Explained, Struct, explain

if TYPE_CHECKING:
    from collections.abc import Iterator

API_VERSIONS = 18
# Every `shape_...` capture is of one run, and has one log.
SHAPES_LOG = "shape_full.requests.jsonl.zst"
# librdkafka 2.x ends a Metadata v13 request for all topics with the three bytes of an older form; the broker ignores them.
LEFTOVERS = {("clients", 3, 13, "request")}


@dataclass
class Compared:
    """What came out of one capture. `whole`, `partly`: (API key, version, side) -> messages that were compared; `not_seen`
    counts by reason the sides of log lines without a message to compare."""

    whole: Counter[tuple[int, int, str]] = field(default_factory=Counter)
    partly: Counter[tuple[int, int, str]] = field(default_factory=Counter)
    not_seen: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


class _Shown(Renderer):
    """Trees with all values; records as their size, as nothing else of them is logged."""

    def __init__(self) -> None:
        super().__init__(secrets=True)

    def batches(self, data: memoryview) -> Any:
        return Sized(len(data))


def readable() -> list[Capture]:
    """Captures with a log, but for those of encrypted connections."""
    captures = [capture for capture in found_captures() if not capture.name.startswith("tls")]
    return [capture for capture in captures if log_of(capture) is not None]


def log_of(capture: Capture) -> Any:
    shapes = LAB / SHAPES_LOG
    if capture.log.exists():
        return capture.log
    return shapes if capture.name.startswith("shape_") and shapes.exists() else None


Message = tuple[dict[str, Any], bytes | None, bytes | None]


def messages(capture: Capture) -> Iterator[Message]:
    """(exchange, request frame, reply frame) in the order of the requests."""
    paths = [str(path) for path in capture.files]
    found: dict[int, Message] = {}

    def take(row: dict[str, Any], request: bytes | None, reply: bytes | None) -> None:
        found[row["exchange"]] = row, request, reply

    with open_dataset(paths, Options()) as dataset:
        each_message(dataset, paths, Options(), take)
    for row in requests([row for row, _, _ in found.values()]):
        yield found[row["exchange"]]


@cache
def compare(capture_name: str) -> Compared:
    """Compares every line of the log with the exchange of its connection, correlation id and key, first with first."""
    capture = next(each for each in readable() if each.name == capture_name)
    waiting: dict[tuple[str, int, int], deque[Message]] = defaultdict(deque)
    for message in messages(capture):
        row = message[0]
        waiting[connection_name(row), row["correlation_id"], row["api_key"]].append(message)
    found = Compared()
    for account in read_accounts(log_of(capture)):
        queue = waiting.get((account.connection, account.correlation_id, account.api_key))
        if not queue:
            found.not_seen["no exchange"] += 2
            continue
        row, request, reply = queue.popleft()
        _side(found, capture, account, "request", request, row["request_bytes"])
        _side(found, capture, account, "response", reply, row["response_bytes"])
    return found


def _side(found: Compared, capture: Capture, account: Account, side: str, frame: bytes | None, size: int | None) -> None:
    """Compares one message; `size` is that of its frame on the wire, with the length field."""
    if not account.bodies[side] and side == "response":
        assert frame is None, f"the broker did not answer, we have {frame!r}"
        found.not_seen["no answer to acks=0"] += 1
        return
    if frame is None or size is None:
        found.not_seen[f"{side} not captured"] += 1
        return
    whole = len(frame) == size - 4
    name = f"{account.connection} #{account.correlation_id} key {account.api_key} v{account.version} {side}"
    read = explain(account.api_key, account.version, side, frame)
    if _is_unread_by_the_broker(account, side):
        found.not_seen["a version of ApiVersions that the broker did not read either"] += 1
        return
    where = account.api_key, account.version, side
    if read.leftover_bytes and (capture.name, *where) not in LEFTOVERS:
        found.differences.append(f"{name}: {read.leftover_bytes} bytes left over")
    if whole and read.error is not None:
        found.differences.append(f"{name}: {read.error}")
        return
    comparison = Comparison(account.api_key, side, whole, account.is_text)
    wanted = body(account, side, read.body_version)
    found.differences += [f"{name}: {each}" for each in comparison.differences(_as_logged(read), wanted)]
    (found.whole if whole else found.partly)[where] += 1


def _is_unread_by_the_broker(account: Account, side: str) -> bool:
    """An ApiVersions request of a version that the broker does not know is answered without a look at its body."""
    refused = account.bodies["response"].get("errorCode") == 35
    return account.api_key == API_VERSIONS and side == "request" and refused and account.bodies["request"] == {}


def _as_logged(read: Explained) -> dict[str, Any]:
    """A body without the tagged fields that are not on the wire, which Apache's JSON leaves out."""
    if read.body is None:
        return {}
    _drop_absent(read.body)
    tree = _Shown().struct(read.body)
    return _without_unknown_tags(tree)


def _drop_absent(struct: Struct) -> None:
    for name, node in list(struct.fields.items()):
        if node.field is not None and node.field.tag is not None and node.start == node.end:
            del struct.fields[name]
            continue
        for inner in node.value if isinstance(node.value, list) else [node]:
            if isinstance(inner.value, Struct):
                _drop_absent(inner.value)


def _without_unknown_tags(value: Any) -> Any:
    """The broker's JSON has no fields that its schema does not know."""
    if isinstance(value, list):
        return [_without_unknown_tags(each) for each in value]
    if isinstance(value, dict):
        return {name: _without_unknown_tags(each) for name, each in value.items() if name != "unknown_tags"}
    return value


@pytest.mark.parametrize("name", [capture.name for capture in readable()])
def test_bodies_are_those_of_the_broker(name: str) -> None:
    found = compare(name)
    assert found.differences[:20] == []
    assert found.whole.total() + found.partly.total() + found.not_seen.total() == 2 * len(
        read_accounts(log_of(next(each for each in readable() if each.name == name)))
    )
