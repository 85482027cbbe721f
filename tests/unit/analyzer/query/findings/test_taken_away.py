"""Who asked for what others then miss: topics or rights that a person or a program took away."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster_stories import OLD
from finding_stories import PRODUCE, Tables, at, failing, many
from made_rows import connection, dataset, exchange
from member_stories import recreated

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence


@pytest.mark.parametrize(
    ("when_s", "topic", "error", "is_told"),
    [
        (-1, "t", 0, True),
        (5, "t", 0, False),  # when it was missed already
        (-1, "u", 0, False),
        (-1, "t", 29, False),  # was not allowed to
    ],
)
def test_who_had_the_topic_deleted_is_named(when_s: int, topic: str, error: int, is_told: bool, tmp_path: Path) -> None:
    story = failing(3, many(3, 100), topic="t") | {"connections": [connection(1, cluster="c")]}
    story["topic_ids"] = [
        {"cluster": "c", "topic": "t", "topic_id": OLD, "first_time_ns": at(-9), "last_time_ns": at(-2)}
    ]
    deletes(story, when_s, topic, error)
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("missing_topic")])
    assert ("; cleanup-job had it deleted" in sentence(found.rule.says, found.row)) is is_told
    assert ("on request" in found.row["advice"]) is is_told


@pytest.mark.parametrize(("when_s", "is_told"), [(2.5, True), (8, False)])
def test_who_had_a_topic_deleted_that_was_made_again_is_named(when_s: float, is_told: bool, tmp_path: Path) -> None:
    story = recreated()
    deletes(story, when_s, "t", 0)
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("topic_recreated")])
    assert ("; cleanup-job had it deleted" in sentence(found.rule.says, found.row)) is is_told


def deletes(story: Tables, when_s: float, topic: str, error: int) -> None:
    """A job asks for it."""
    job = {"client_id": "cleanup-job", "client_address": "10.0.0.9", "api_key": 20, "api_name": "DeleteTopics"}
    story["exchanges"] = [*story["exchanges"], exchange(700, at_ns=at(when_s), **job)]
    entry = {"exchange": 700, "connection": 1, "side": "response", "topic": topic, "error_code": error}
    story["entries"] = [*story.get("entries", []), entry]


@pytest.mark.parametrize(
    ("served_s", "changed_s", "api", "said"),
    [
        (0, 5, 31, "; it was served until admin had ACLs deleted"),
        (0, 5, 30, "; it was served until admin had ACLs made"),
        (0, 1, 30, None),  # served for long after it
        (0, 15, 31, None),  # when it was refused already
        (6, 5, 31, None),  # the change was before all that is known of it
    ],
)
def test_who_changed_rights_before_a_refusal_is_named(
    served_s: int, changed_s: int, api: int, said: str | None, tmp_path: Path
) -> None:
    story = failing(
        29, [exchange(n, at_ns=at(10 + n), **PRODUCE) for n in range(3)], name="TOPIC_AUTHORIZATION_FAILED", topic="t"
    )
    admin = {"client_id": "admin", "client_address": "10.0.0.9"}
    story["exchanges"] += [
        exchange(70, at_ns=at(served_s), **PRODUCE),
        exchange(72, at_ns=at(6.5), **PRODUCE) | ({} if changed_s == 1 else {"client_id": "other"}),
        exchange(71, at_ns=at(changed_s), api_key=api, api_name={30: "CreateAcls", 31: "DeleteAcls"}[api], **admin),
    ]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("authorization")])
    told = sentence(found.rule.says, found.row)
    assert told.endswith("3 times") if said is None else said in told
