"""What is said of errors that no rule of their own tells of."""

from __future__ import annotations

from pathlib import Path

import pytest
from finding_stories import FETCH, PRODUCE, Tables, failing
from made_rows import START_NS, connection, dataset, error, exchange
from pace import at_most

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.finding_rows import as_object
from analyzer.report.sentences import sentence

STORAGE, CORRUPT = "KAFKA_STORAGE_ERROR", "CORRUPT_MESSAGE"


@pytest.mark.parametrize(
    ("code", "name", "ports", "where"),
    [
        (56, STORAGE, [9092, 9092, 9092], ", at broker 10.0.1.1:9092"),
        (56, STORAGE, [9092, 9093, 9092], ""),
        (2, CORRUPT, [9092, 9092, 9092], ""),
    ],
)
def test_a_disk_that_fails_has_its_broker(code: int, name: str, ports: list[int], where: str, tmp_path: Path) -> None:
    rows = [exchange(n, at_ns=START_NS + n, broker_port=port, **FETCH) for n, port in enumerate(ports)]
    with dataset(tmp_path, failing(code, rows, topic="t", name=name)) as made:
        (found,) = find(made, [rule("failing")])
    assert sentence(found.rule.says, found.row).startswith(f"Fetch fails with {name}, 3 times{where}, topic t: ")


@pytest.mark.parametrize(
    ("names", "ids", "topic"), [(["t"], ["A"], "t"), (["t", "u"], ["A"], None), (["t"], ["A", "B"], None)]
)
def test_a_topic_asked_for_by_its_id_and_then_by_its_name_is_one(
    names: list[str], ids: list[str], topic: str | None, tmp_path: Path
) -> None:
    rows = [exchange(n, at_ns=START_NS + n, **FETCH) for n in range(len(names) + len(ids))]
    story = failing(3, rows, name="UNKNOWN_TOPIC_OR_PARTITION")
    for row, told in zip(
        story["errors"], [("topic_id", each) for each in ids] + [("topic", each) for each in names], strict=True
    ):
        row |= {told[0]: told[1]}
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("failing")])
    assert found.row["topic"] == topic


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (["No key.", "No key."], "; the broker says No key"),
        (["No key in t-0.", "No key in t-1.", None], "; to one of them the broker says No key in t-0"),
        ([None, None], ""),
        (["\x1b]0;no\x07"], "; the broker says \\x1b]0;no\\x07"),
    ],
)
def test_what_the_broker_says_is_told(messages: list[str | None], said: str, tmp_path: Path) -> None:
    story = failing(
        87, [exchange(n, at_ns=START_NS + n, **PRODUCE) for n in range(len(messages))], name="INVALID_RECORD"
    )
    for row, message in zip(story["errors"], messages, strict=True):
        row["error_message"] = message
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("failing")])
    assert sentence(found.rule.says, found.row).partition(": ")[2].partition(";")[1:] == (
        (";", said[1:]) if said else ("", "")
    )


@pytest.mark.parametrize(("code", "name", "said"), [(10, "MESSAGE_TOO_LARGE", True), (2, CORRUPT, False)])
def test_what_a_limit_refused_has_its_size(code: int, name: str, said: bool, tmp_path: Path) -> None:
    rows = [exchange(n, at_ns=START_NS + n, **PRODUCE) for n in range(3)]
    place = {"connection": 1, "side": "request", "topic": "t", "position": 0, "codec": "none", "magic": 2}
    sizes = [(0, 0, 70_000), (1, 0, 60_000), (1, 0, 90), (2, 1, 100), (2, 0, 80_000)]
    batches = [place | {"exchange": n, "partition": number, "bytes": size} for n, number, size in sizes]
    story = failing(code, rows, topic="t", partition=0, name=name) | {"batches": batches}
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("failing")])
    told = as_object(found)
    assert told["do"].endswith(" Batches of 60 kB and more were refused.") is said and "3 times" in told["sentence"]


def test_the_size_is_told_of_the_limit_alone(tmp_path: Path) -> None:
    story = failing(
        87, [exchange(n, at_ns=START_NS + n, **PRODUCE) for n in range(3)], name="INVALID_RECORD", topic="u"
    )
    for n in range(3):
        story["errors"].append(error(n, 10, name="MESSAGE_TOO_LARGE", topic="t", partition=0, expected=False))
    place = {"connection": 1, "side": "request", "topic": "t", "partition": 0, "position": 0, "bytes": 60_000}
    story["batches"] = [place | {"exchange": n} for n in range(3)]
    with dataset(tmp_path, story) as made:
        told = {each.row["name"]: each.row["refused_bytes"] for each in find(made, [rule("failing")])}
    assert told == {"INVALID_RECORD": None, "MESSAGE_TOO_LARGE": 60_000}


def not_let_in(cluster: str | None, **members_go_by: str | None) -> Tables:
    """Three JoinGroups with assignor range into each of these groups, which no member goes by; None: no member is seen."""
    asks, events = [], []
    for group, taken in members_go_by.items():
        row = {"connection": 1, "cluster": cluster, "time_ns": START_NS, "begin_ns": START_NS, "group_id": group}
        row |= {"group_type": "classic", "event": "join", "client_address": "10.0.0.1", "client_id": "app"}
        asks += [exchange(len(asks) + n, api_key=11, api_name="JoinGroup", group_id=group) for n in range(3)]
        events += [row | {"exchange": each["exchange"], "protocol": "range", "error_code": 23} for each in asks[-3:]]
        if taken:
            events.append(row | {"exchange": 90, "member_id": "m", "generation": 4, "protocol": taken, "error_code": 0})
    story = failing(23, asks, name="INCONSISTENT_GROUP_PROTOCOL")
    return story | {"group_events": events, "connections": [connection(1, cluster=cluster)]}


@pytest.mark.parametrize(
    ("cluster", "groups", "said"),
    [
        (
            "c",
            {"g": "sessioned"},
            "a group.id of its own. The members go by sessioned, this client offers range first.",
        ),
        (
            None,
            {"g": "sessioned"},
            "a group.id of its own. The members go by sessioned, this client offers range first.",
        ),
        ("c", {"g": "sessioned", "h": None}, "classic and newer members mix (group.consumer.migration.policy)."),
        ("c", {"g": "sticky", "h": None}, "classic and newer members mix (group.consumer.migration.policy)."),
    ],
)
def test_what_members_go_by_is_told_of_all_that_were_refused(
    cluster: str | None, groups: dict[str, str | None], said: str, tmp_path: Path
) -> None:
    with dataset(tmp_path, not_let_in(cluster, **groups)) as made:
        (found,) = find(made, [rule("failing")])
    assert as_object(found)["do"].endswith(said)


@pytest.mark.parametrize("cluster", ["c", None])
@pytest.mark.parametrize(("remover", "said"), [("admin", "admin did so."), ("app", "joins again at once")])
@pytest.mark.parametrize("address", ["10.0.0.1", "10.0.0.9"])
def test_a_member_that_another_took_out_is_not_told_to_poll(
    cluster: str | None, remover: str, said: str, address: str, tmp_path: Path
) -> None:
    """By its name: a translation may give one member several addresses."""
    beats = [exchange(n, at_ns=START_NS + n, api_key=12, api_name="Heartbeat", group_id="g") for n in range(3)]
    story = failing(25, [row | {"member_id": "m"} for row in beats], name="UNKNOWN_MEMBER_ID")
    event = {"connection": 1, "cluster": cluster, "time_ns": START_NS, "begin_ns": START_NS, "group_id": "g"}
    event |= {"group_type": "classic", "client_address": "10.0.0.1", "member_id": "m", "error_code": 0}
    events = [event | {"exchange": 8, "event": "join", "client_id": "app", "generation": 4}]
    events.append(event | {"exchange": 9, "event": "leave", "client_id": remover, "client_address": address})
    made_of = story | {"group_events": events, "connections": [connection(1, cluster=cluster)]}
    with dataset(tmp_path, made_of) as made:
        (found,) = find(made, [rule("failing")])
    assert said in as_object(found)["do"]


@pytest.mark.parametrize(("code", "api", "event"), [(23, "JoinGroup", "join"), (25, "Heartbeat", "leave")])
def test_groups_whose_members_come_and_go_cost_little(code: int, api: str, event: str, tmp_path: Path) -> None:
    many = 20_000
    story = failing(code, [exchange(n, api_name=api, group_id="g") | {"member_id": "m"} for n in range(many)])
    row = {"connection": 1, "cluster": "c", "time_ns": START_NS, "begin_ns": START_NS, "group_id": "g"}
    row |= {"group_type": "classic", "client_address": "10.0.0.1", "member_id": "m", "error_code": 0}
    events = [row | {"exchange": n, "event": "join", "client_id": "app", "protocol": "sticky"} for n in range(many)]
    for each in events:
        each["generation"] = each["exchange"] + 1
    went = {"event": event, "client_id": "other", "protocol": "range", "error_code": 23 if event == "join" else 0}
    story["group_events"] = events + [row | went | {"exchange": n} for n in range(many)]
    with dataset(tmp_path, story) as made, at_most(2):
        (found,) = find(made, [rule("failing")])
    assert found.row["times"] == many
