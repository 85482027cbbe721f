"""Both bodies of every exchange are what the broker wrote of them in its request log, field by field.

All captures that can be read, those with lost and cut packets too: of a message that was not captured whole, its
beginning is compared. Secrets are values here: no broker of the lab redacts them. Records are compared as their sizes.
`pytest -s` prints how many messages were compared of each API and version.
"""

from __future__ import annotations

import json
import marshal
import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from agreement import API_VERSIONS, UNSUPPORTED_VERSION, connection_name, requests
from body_comparison import Comparison, Sized
from broker_bodies import Account, body, read_accounts
from effort import LONG
from oracle import Capture
from paths import LAB
from program import found_captures

from analyzer.base.options import Options
from analyzer.messages.bodies import each_message
from analyzer.messages.render import Renderer
from analyzer.run.local import open_dataset
from dissectors.kafka.messages.explain import Explained, Struct, explain
from dissectors.kafka.schema import lookup

# What no broker of the lab says: (API key, side, path) -> why.
UNSAID = {
    (0, "request", "transactional_id"): "left out of the text that 1.1.1 and 2.4.1 log",
    (1, "response", "responses[].partitions[].records"): "1.1.1 and 2.4.1 log the name of a Java object",
    (2, "request", "topics"): "left out by 1.1.1 in version 0",
    (78, "response", "responses[].partitions[].records"): "4.x logs the records of ShareFetch as empty",
}
# Log lines without a message of ours to compare: nothing else may be the reason.
NO_EXCHANGE = "no exchange"
NOT_SEEN = {
    NO_EXCHANGE,
    "acks=0 has no answer",
    "answer not captured",
    "ApiVersions of a version that the broker did not read either",
}
# Bytes behind the end of a body: librdkafka's Metadata v13 request for all topics has three too many.
LEFTOVERS = {("clients", 3, 13, "request")}
# Every `shape_...` capture is of one run, and has one log.
SHAPES_LOG = LAB / "shape_full.requests.jsonl.zst"

# API key, version, "request" or "response".
Where = tuple[int, int, str]
# Exchange, request frame, reply frame.
Message = tuple[dict[str, Any], bytes | None, bytes | None]


@dataclass
class Compared:
    """What came out of one capture. `whole` and `partly` count compared messages; `not_seen` the others, by reason. `logged`: what
    the log has, in `lines` lines."""

    lines: int = 0
    logged: set[Where] = field(default_factory=set)
    whole: Counter[Where] = field(default_factory=Counter)
    partly: Counter[Where] = field(default_factory=Counter)
    not_seen: Counter[str] = field(default_factory=Counter)
    unsaid: set[tuple[int, str, str]] = field(default_factory=set)
    differences: list[str] = field(default_factory=list)


class _Shown(Renderer):
    """Trees with all values; records as their size, as nothing else of them is logged."""

    def __init__(self) -> None:
        super().__init__(secrets=True)

    def batches(self, data: memoryview) -> Any:
        return Sized(len(data))


def log_of(capture: Capture) -> Path | None:
    if capture.log.exists():
        return capture.log
    return SHAPES_LOG if capture.name.startswith("shape_") and SHAPES_LOG.exists() else None


# Forms of `shape_full` whose bodies are the same bytes in another file format, or cut elsewhere.
ALIKE = (
    () if LONG else ("shape_any", "shape_gzip", "shape_nano", "shape_rot", "shape_snap96", "shape_snap256", "shape_two")
)
# Captures with a log, but for those of encrypted connections.
CAPTURES = {
    each.name: each
    for each in found_captures()
    if log_of(each) and not each.name.startswith("tls") and each.name not in ALIKE
}


def accounts(name: str) -> list[Account]:
    log = log_of(CAPTURES[name])
    assert log is not None
    return read_accounts(log)


def messages(capture: Capture) -> Iterator[Message]:
    """In the order of the requests."""
    paths = [str(path) for path in capture.files]
    found: dict[int, Message] = {}

    def take(row: dict[str, Any], request: bytes | None, reply: bytes | None) -> None:
        found[row["exchange"]] = row, request, reply

    with open_dataset(paths, Options()) as dataset:
        each_message(dataset, paths, Options(), take)
    for row in requests([row for row, _, _ in found.values()]):
        yield found[row["exchange"]]


def matched(name: str) -> Iterator[tuple[Account, Message | None]]:
    """Every line of the log with the exchange of its connection, correlation id and key; ids come again, in order."""
    waiting: dict[tuple[str, int, int], deque[Message]] = defaultdict(deque)
    for message in messages(CAPTURES[name]):
        row = message[0]
        waiting[connection_name(row), row["correlation_id"], row["api_key"]].append(message)
    for account in accounts(name):
        queue = waiting.get((account.connection, account.correlation_id, account.api_key))
        yield account, queue.popleft() if queue else None


# Messages that were found to be what the log says. Clients say the same again and again, and several captures are of one run.
_SAME: set[bytes] = set()


@cache
def compare(name: str) -> Compared:
    found = Compared()
    for account, message in matched(name):
        found.lines += 1
        found.logged |= {(account.api_key, account.version, side) for side in account.bodies}
        if message is None:
            found.not_seen[NO_EXCHANGE] += 2
            continue
        row, request, reply = message
        _compare_side(found, name, account, "request", request, row["request_bytes"])
        _compare_side(found, name, account, "response", reply, row["response_bytes"])
    return found


def _compare_side(
    found: Compared, name: str, account: Account, side: str, frame: bytes | None, wire_bytes: int | None
) -> None:
    """Compares one message; `wire_bytes` has the four of its length field."""
    reason = _not_compared(account, side, frame)
    if reason is not None:
        found.not_seen[reason] += 1
        return
    assert frame is not None and wire_bytes is not None
    whole = len(frame) == wire_bytes - 4
    where = account.api_key, account.version, side
    (found.whole if whole else found.partly)[where] += 1
    told = _told(account, side, frame, whole)
    if told in _SAME:
        return
    read = explain(*where, frame)
    comparison = Comparison(account.api_key, side, whole, account.is_text)
    label = f"{account.connection} #{account.correlation_id} key {account.api_key} v{account.version} {side}"
    if read.leftover_bytes and (name, *where) not in LEFTOVERS:
        found.differences.append(f"{label}: {read.leftover_bytes} bytes left over")
    if read.error is not None and (whole or read.error.kind != "truncated"):
        found.differences.append(f"{label}: {read.error}")
    differences = [f"{label} {each}" for each in _differences(comparison, account, read)]
    found.differences += differences
    found.unsaid |= {(account.api_key, side, path) for path in comparison.unsaid}
    if not differences and read.error is None and not read.leftover_bytes:
        _SAME.add(told)


def _told(account: Account, side: str, frame: bytes, whole: bool) -> bytes:
    """A digest of all that a comparison depends on: the message but for its correlation id, and what the log says of it."""
    message = frame[:4] + frame[8:] if side == "request" else frame[4:]
    read_as = account.api_key, account.version, side, account.is_text, whole
    return blake2b(marshal.dumps((read_as, message, account.bodies[side]), 2), digest_size=16).digest()


def _not_compared(account: Account, side: str, frame: bytes | None) -> str | None:
    """Why a log line has nothing to compare on this side; None: it has."""
    refused = account.bodies["response"].get("errorCode") == UNSUPPORTED_VERSION
    if side == "request":
        assert frame is not None
        unread = account.api_key == API_VERSIONS and refused and not account.bodies["request"]
        return "ApiVersions of a version that the broker did not read either" if unread else None
    if not account.bodies["response"]:
        assert frame is None, "the broker says that it did not answer"
        return "acks=0 has no answer"
    return "answer not captured" if frame is None else None


def _differences(comparison: Comparison, account: Account, read: Explained) -> list[str]:
    theirs = body(account, comparison.side, read.body_version)
    return list(comparison.differences(_as_logged(read), theirs))


def _as_logged(read: Explained) -> dict[str, Any]:
    """A body without the tagged fields that are not on the wire, which Apache's JSON leaves out."""
    if read.body is None:
        return {}
    _drop_absent(read.body)
    return _without_unknown_tags(_Shown().struct(read.body))


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


@pytest.mark.parametrize("name", CAPTURES)
def test_bodies_are_those_of_the_broker(name: str) -> None:
    found = compare(name)
    assert found.differences[:20] == []
    assert found.unsaid <= UNSAID.keys()
    assert found.not_seen.keys() <= NOT_SEEN


@pytest.mark.parametrize("name", CAPTURES)
def test_every_line_of_the_log_was_compared(name: str) -> None:
    """But for those that the manifest counts as not captured."""
    found, capture = compare(name), CAPTURES[name]
    assert found.whole.total() + found.partly.total() + found.not_seen.total() == 2 * found.lines
    counted = capture if capture.facts["log_not_in_pcap"] else CAPTURES["shape_full"]
    assert found.not_seen[NO_EXCHANGE] == 2 * counted.fact("log_not_in_pcap")
    assert found.not_seen["answer not captured"] <= 15
    if "snap" not in name:
        assert not found.partly


def test_nearly_every_api_and_version_was_compared() -> None:
    """Prints how many messages that were; captures that tell of one run count once."""
    whole: Counter[Where] = Counter()
    for name in CAPTURES:
        if log_of(CAPTURES[name]) == CAPTURES[name].log:
            whole += compare(name).whole
    logged = set[Where]().union(*(compare(name).logged for name in CAPTURES))
    for line in summary(whole):
        print(line)
    # Not read by the broker either: see `_not_compared`.
    unread = {(API_VERSIONS, version, "request") for version in (5, 99)}
    assert logged - whole.keys() <= unread
    assert whole.total() > 10_000


def summary(counted: Counter[Where]) -> Iterator[str]:
    """A line for each API: version, requests + responses."""
    versions = {where[:2] for where in counted}
    keys = sorted({key for key, _ in versions})
    yield f"{counted.total():,} bodies equal the broker's: {len(versions)} versions of {len(keys)} APIs"
    names = dict(lookup.api_names())
    for key in keys:
        each = (
            f"v{version} {counted[key, version, 'request']}+{counted[key, version, 'response']}"
            for version in sorted(version for other, version in versions if other == key)
        )
        yield f"  {names[key]} ({key}): {', '.join(each)}"


def test_any_changed_value_is_found() -> None:
    """One value of each body of the log is changed by chance: the comparison must tell."""
    chance = random.Random(4)
    changed = 0
    for account, message in matched("sweep_43"):
        if message is None:
            continue
        for side, frame in (("request", message[1]), ("response", message[2])):
            if frame is None or not account.bodies[side]:
                continue
            read = explain(account.api_key, account.version, side, frame)
            other = _changed(account, side, chance)
            assert other is None or _differences(Comparison(account.api_key, side), other, read), other
            changed += other is not None
    assert changed > 600


def _changed(account: Account, side: str, chance: random.Random) -> Account | None:
    """The account with one value of a body changed; None when there is nothing to change."""
    bodies = deepcopy(account.bodies)
    places = [(holder, at) for holder, at in _values(bodies[side]) if (account.api_key, at) != (78, "records")]
    if not places:
        return None
    holder, at = chance.choice(places)
    value = holder[at]
    if isinstance(value, bool):
        holder[at] = not value
    elif isinstance(value, (int, float)):
        holder[at] = value + 1
    else:
        holder[at] = 7 if value is None else None
    return replace(account, bodies=bodies)


def _values(holder: Any) -> Iterator[tuple[Any, Any]]:
    """(struct or list, name or index) of every single value, and of every list that is empty."""
    for at in holder if isinstance(holder, dict) else range(len(holder)):
        if isinstance(holder[at], (dict, list)) and holder[at]:
            yield from _values(holder[at])
        else:
            yield holder, at


def test_the_beginning_of_a_body_is_compared_too() -> None:
    comparison = Comparison(3, "request", whole=False)
    theirs = {"topics": [{"name": "a"}, {"name": "b"}], "flag": True}
    assert list(comparison.differences({"topics": [{"name": "a"}, {}]}, theirs)) == []
    assert list(comparison.differences({"topics": [{"name": "b"}]}, theirs)) == [
        "topics[0].name: 'b', the broker says 'a'"
    ]
    whole = list(replace(comparison, whole=True).differences({"topics": [{"name": "a"}]}, theirs))
    assert whole == ["topics: 1 elements, the broker says 2", "flag: missing, the broker says True"]


def test_the_names_of_old_releases_are_used() -> None:
    """A text log and ours: names, types and the order of some lists differ, values do not."""
    text = {"topics": [{"topic": "orders", "partitions": [{"partition": 0}]}], "groupId": 17}
    account = Account("", 1, 9, 1, {"request": text, "response": {}}, is_text=True)
    theirs = body(account, "request", 1)
    ours = {"group_id": "17", "topics": [{"name": "orders", "partition_indexes": [0]}]}
    assert list(Comparison(9, "request", is_text=True).differences(ours, theirs)) == []
    assert list(Comparison(9, "request").differences(ours, theirs)) == ["group_id: '17', the broker says 17"]
    assert json.dumps(theirs) == '{"topics": [{"name": "orders", "partition_indexes": [0]}], "group_id": 17}'
