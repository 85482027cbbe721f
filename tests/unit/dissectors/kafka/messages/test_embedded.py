"""Messages inside byte fields: equal to Apache's account of them, opaque where nobody can tell, never an exception."""

from __future__ import annotations

from collections import Counter
from struct import pack
from typing import TYPE_CHECKING, Any

import pytest
from encode import encode
from hypothesis import given
from hypothesis import strategies as st
from kafka_reference import RELEASES
from kafka_vectors import name_of, ours, snake_path, vectors
from test_vectors import drop_absent, exact, walk, without_batches

from analyzer.messages.render import Renderer, message
from analyzer.messages.tree import tree
from dissectors.kafka.messages.embedded import read_struct
from dissectors.kafka.messages.explain import Embedded, Explained, Node, explain
from dissectors.kafka.schema import lookup

if TYPE_CHECKING:
    pass

JOIN, SYNC, DESCRIBE, ENVELOPE = 11, 14, 15, 58
SASL_AUTHENTICATE, HEARTBEAT = 36, 12


def inside(found: Explained) -> dict[str, Explained | Embedded]:
    """Path -> what its bytes hold."""
    nodes = [(path, each) for path, each in walk(found.body) if isinstance(each, Node)]
    return {path: node.embedded for path, node in nodes if node.embedded is not None}


def whole(found: Explained) -> Explained:
    assert found.error is None, found.error
    return found


def envelope(request: bytes, principal: bytes | None = None) -> Explained:
    body = {"request_data": request, "request_principal": principal, "client_host_address": bytes(4)}
    return whole(explain(ENVELOPE, 0, "request", encode(ENVELOPE, 0, "request", {}, body)))


def answer(response: bytes | None, request: Explained | None) -> Explained:
    frame = encode(ENVELOPE, 0, "response", {}, {"response_data": response, "error_code": 0})
    return whole(explain(ENVELOPE, 0, "response", frame, request))


def asked_for(key: int, version: int) -> Explained:
    """An Envelope with some request of this version, since the vectors answer other requests than they send."""
    some = (each for release in RELEASES for each in vectors(release))
    kind = (key, version, "request")
    return envelope(next(bytes.fromhex(v["hex"]) for v in some if (v["api_key"], v["version"], v["direction"]) == kind))


def test_what_bytes_hold_equals_the_account_of_apache() -> None:
    """Everything that the account lists, and nothing else: bytes of other protocol types stay opaque."""
    compared: Counter[str] = Counter()
    for release in RELEASES:
        for vector in vectors(release):
            account = {snake_path(each["path"]): each for each in vector.get("embedded", [])}
            of_response = account.get("response_data")
            request = asked_for(of_response["api_key"], of_response["version"]) if of_response else None
            frame = bytes.fromhex(vector["hex"])
            found = inside(whole(explain(vector["api_key"], vector["version"], vector["direction"], frame, request)))
            assert found.keys() == account.keys(), name_of(vector)
            for path, wanted in account.items():
                assert_equal(found[path], wanted, f"{name_of(vector)} {path}")
                compared[wanted["schema"]] += 1
    at_least = {"ConsumerProtocolSubscription": 87, "ConsumerProtocolAssignment": 59, "DefaultPrincipalData": 3}
    assert compared >= Counter(at_least | {"request": 4, "response": 3})
    assert compared.keys() == at_least.keys() | {"request", "response"}


def assert_equal(found: Explained | Embedded, wanted: dict[str, Any], name: str) -> None:
    assert (found.error, found.leftover_bytes, found.version) == (None, 0, wanted["version"]), name
    if isinstance(found, Embedded):
        assert found.schema == wanted["schema"], name
    else:
        assert (found.direction, found.api_key) == (wanted["schema"], wanted["api_key"]), name
        assert found.header.value("correlation_id") == wanted["correlation_id"], name
        assert found.header.value("client_id") == wanted.get("client_id"), name
    drop_absent(found.body)
    rendered = without_batches(Renderer(secrets=True).struct(found.body))
    assert exact(rendered) == exact(ours(wanted["body"])), name


def test_places_are_those_of_the_frame_around() -> None:
    """The bytes at a text's place are that text."""
    compared = 0
    for release in RELEASES:
        for vector in vectors(release):
            frame = bytes.fromhex(vector["hex"])
            if "embedded" not in vector:
                continue
            found = whole(explain(vector["api_key"], vector["version"], vector["direction"], frame))
            outer = {path: each for path, each in walk(found.body) if isinstance(each, Node) and each.embedded}
            for node in outer.values():
                for _, each in walk(node.embedded.body):
                    if isinstance(each, Node) and isinstance(each.value, str):
                        assert frame[each.start : each.end].endswith(each.value.encode())
                        assert node.start < each.start <= each.end <= node.end
                        compared += 1
    assert compared > 100


# Protocol types and versions.

TOPICS = pack(">ih", 1, 3) + b"abc"
SUBSCRIPTION_0 = pack(">h", 0) + TOPICS + pack(">i", -1)
ASSIGNMENT = pack(">h", 1) + TOPICS + pack(">iii", 2, 0, 7) + pack(">i", 0)
# What Connect hands out: version, error, leader, its address, offset of the configuration, connectors and tasks.
CONNECT = pack(">hhh", 1, 0, 6) + b"leader" + pack(">h", 4) + b"http" + pack(">q", 5) + pack(">i", 0)


def join(metadata: bytes, protocol_type: str = "consumer") -> Embedded | None:
    body = {"protocol_type": protocol_type, "protocols": [{"name": "range", "metadata": metadata}]}
    found = whole(explain(JOIN, 5, "request", encode(JOIN, 5, "request", {}, body)))
    return inside(found).get("protocols[0].metadata")


def test_a_newer_version_is_read_as_the_last_one_and_its_rest_ignored() -> None:
    rest = TOPICS + pack(">i", -1) + pack(">i", 0) + pack(">i", 4) + pack(">h", 1) + b"r"
    known, newer = join(pack(">h", 3) + rest), join(pack(">h", 9) + rest + b"more")
    assert (known.version, known.leftover_bytes, newer.version, newer.leftover_bytes) == (3, 0, 9, 4)
    assert newer.error is None
    for found in (known, newer):
        shown = Renderer().struct(found.body)
        assert shown == {
            "topics": ["abc"],
            "user_data": None,
            "owned_partitions": [],
            "generation_id": 4,
            "rack_id": "r",
        }


def test_bytes_of_another_protocol_type_are_opaque() -> None:
    assert join(SUBSCRIPTION_0) is not None
    for protocol_type in ("connect", "streams", "", "Consumer"):
        assert join(SUBSCRIPTION_0, protocol_type) is None


def test_damage_inside_is_told_with_its_place() -> None:
    cut = join(SUBSCRIPTION_0[:-1])
    assert (cut.error.kind, cut.error.path) == ("malformed", "protocols[0].metadata.user_data")
    assert Renderer().struct(cut.body) == {"topics": ["abc"]}
    negative = join(pack(">h", -1) + SUBSCRIPTION_0[2:])
    assert (negative.error.kind, negative.body.fields) == ("unsupported", {})
    assert join(b"\x00").error.kind == "malformed"
    assert join(b"") is None


def sync(assignment: bytes, version: int, request: Explained | None = None, **body: Any) -> Embedded | None:
    frame = encode(SYNC, version, "response", {}, {"assignment": assignment, **body})
    return inside(whole(explain(SYNC, version, "response", frame, request))).get("assignment")


def test_where_no_protocol_type_is_told_only_what_fits_exactly_is_read() -> None:
    found = sync(ASSIGNMENT, 3)
    assert Renderer().struct(found.body)["assigned_partitions"] == [{"topic": "abc", "partitions": [0, 7]}]
    assert len(found.notes) == 1
    assert sync(ASSIGNMENT, 5).notes == found.notes
    for other in (CONNECT, ASSIGNMENT + b"!", ASSIGNMENT[:-1], pack(">h", 4) + ASSIGNMENT[2:], b"\x00"):
        assert sync(other, 3) is None
    null_topic = pack(">hih", 1, 1, -1) + pack(">ii", 0, 0)
    assert sync(null_topic, 3) is None
    assert sync(null_topic, 5, protocol_type="consumer").error is None


def test_a_response_takes_the_protocol_type_of_its_request() -> None:
    def request(protocol_type: str | None) -> Explained:
        return whole(explain(SYNC, 5, "request", encode(SYNC, 5, "request", {}, {"protocol_type": protocol_type})))

    assert sync(ASSIGNMENT, 5, request("connect")) is None
    assert sync(ASSIGNMENT, 5, request("consumer")).notes == []
    assert sync(ASSIGNMENT, 5, request("connect"), protocol_type="consumer").notes == []
    assert len(sync(ASSIGNMENT, 5, request(None)).notes) == 1


def test_each_group_has_its_own_protocol_type() -> None:
    member = {"member_id": "m", "member_metadata": SUBSCRIPTION_0, "member_assignment": ASSIGNMENT}
    groups = [{"group_id": each, "protocol_type": each, "members": [member]} for each in ("consumer", "connect")]
    found = whole(explain(DESCRIBE, 3, "response", encode(DESCRIBE, 3, "response", {}, {"groups": groups})))
    assert inside(found).keys() == {f"groups[0].members[0].member_{each}" for each in ("metadata", "assignment")}


# Forwarded requests.

TOKEN = b"\x00alice\x00alice-pw"


def test_a_forwarded_request_and_its_answer_hide_only_their_own_secrets() -> None:
    login = encode(SASL_AUTHENTICATE, 2, "request", {"client_id": "me"}, {"auth_bytes": TOKEN})
    asked = envelope(login)
    reply = {"error_code": 0, "error_message": "fine", "auth_bytes": TOKEN, "session_lifetime_ms": 9}
    answered = answer(encode(SASL_AUTHENTICATE, 2, "response", {"correlation_id": 3}, reply), asked)
    for found, name, clear in ((asked, "request_data", '"me"'), (answered, "response_data", '"fine"')):
        size = len(found.body.value(name))
        assert message(found, Renderer())["body"][name] == {"secret_bytes": size}
        lines = list(tree(found, Renderer()))
        assert any(clear in line for line in lines)
        assert any(line.endswith('auth_bytes = {"secret_bytes": 15}') for line in lines)
        assert not any("alice" in line or "YWxpY2U" in line for line in lines)


def test_an_answer_without_its_request_stays_bytes() -> None:
    login = encode(SASL_AUTHENTICATE, 2, "response", {}, {})
    assert inside(answer(login, None)) == {}
    unrelated = explain(HEARTBEAT, 0, "request", encode(HEARTBEAT, 0, "request", {}, {}))
    assert inside(answer(login, unrelated)) == {}
    assert inside(answer(None, envelope(login))) == {}


def test_a_subscription_inside_a_forwarded_request_is_read() -> None:
    body = {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata": SUBSCRIPTION_0}]}
    found = inside(envelope(encode(JOIN, 5, "request", {}, body)))["request_data"]
    assert inside(found)["protocols[0].metadata"].error is None


def test_a_forwarded_forwarding_is_not_opened() -> None:
    """Kafka refuses it; and a frame that is nothing but envelopes must not exhaust the stack."""
    frame = encode(HEARTBEAT, 0, "request", {}, {})
    for _ in range(2000):
        frame = encode(ENVELOPE, 0, "request", {}, {"request_data": frame, "client_host_address": b""})
    found = whole(explain(ENVELOPE, 0, "request", frame))
    inner = inside(found)["request_data"]
    assert (inner.api_key, inner.error, inside(inner)) == (ENVELOPE, None, {})


def test_forwarded_bytes_that_are_no_request() -> None:
    assert inside(envelope(b"\x00\x0c\x00")) == {}
    unknown = inside(envelope(pack(">hhi", 999, 0, 1) + pack(">h", -1)))["request_data"]
    assert (unknown.error.kind, unknown.header.value("correlation_id")) == ("unsupported", 1)
    cut = inside(envelope(pack(">hhih", HEARTBEAT, 0, 1, -1) + pack(">h", 9)))["request_data"]
    assert (cut.error.kind, cut.error.path) == ("malformed", "request_data.group_id")
    longer = inside(envelope(encode(HEARTBEAT, 0, "request", {}, {}) + b"xyz"))["request_data"]
    assert (longer.error, longer.leftover_bytes) == (None, 3)


def test_the_principal_of_another_builder_is_told_as_such() -> None:
    found = inside(envelope(encode(HEARTBEAT, 0, "request", {}, {}), principal=b"\x00\x07custom"))["request_principal"]
    assert found.error.kind == "unsupported"


# Robustness, and what must not change.


@given(st.sampled_from(lookup.embedded_names()), st.integers(0, 3), st.binary(max_size=80))
def test_any_bytes_give_a_tree_or_an_error(name: str, version: int, data: bytes) -> None:
    for each in (data, pack(">h", version) + data):
        found = read_struct(name, each)
        if found.error is None:
            last = max((node.end for node in found.body.fields.values()), default=0)
            assert last + found.leftover_bytes <= len(each)
        else:
            assert found.error.kind in ("malformed", "unsupported")


def test_every_embedded_role_names_a_file_or_a_direction() -> None:
    used = set()
    for key in lookup.readable_keys():
        api = lookup.api(key)
        todo = [*api.request.fields, *api.response.fields]
        while todo:
            field = todo.pop()
            todo += field.fields
            if field.embedded is not None:
                used.add(field.embedded)
    assert used == {"request", "response", "subscription", "assignment", "principal"}
    assert used - {"request", "response"} <= set(lookup.embedded_names())


def test_bodies_as_json_are_not_changed_by_what_bytes_hold() -> None:
    body = {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata": SUBSCRIPTION_0}]}
    found = whole(explain(JOIN, 0, "request", encode(JOIN, 0, "request", {}, body)))
    assert inside(found)
    shown = message(found, Renderer())["body"]["protocols"]
    assert shown == [{"name": "range", "metadata": "AAAAAAABAANhYmP/////"}]


@pytest.mark.slow
@pytest.mark.parametrize("key", [JOIN, SYNC, DESCRIBE, ENVELOPE])
def test_cut_messages_keep_what_their_whole_bytes_hold(key: int) -> None:
    read = 0
    for vector in vectors("4.3.1"):
        if vector["api_key"] == key and "embedded" in vector:
            frame = bytes.fromhex(vector["hex"])
            for cut in range(len(frame)):
                found = explain(key, vector["version"], vector["direction"], frame[:cut])
                assert found.error.kind == "truncated"
                read += len(inside(found)) if found.body is not None else 0
    assert read > 50
