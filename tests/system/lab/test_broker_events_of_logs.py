"""What brokers told the controller, held against the brokers' own logs of these requests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_facts_of_logs import Row, by_request, log, place


def broker_events(line: Row) -> Iterator[Row]:
    key, asked, told = line["requestHeader"]["requestApiKey"], line["request"], line["response"] or {}
    base = {"broker_id": asked.get("brokerId"), "error_code": told.get("errorCode")}
    if key == 7:
        yield base | {"event": "controlled_shutdown"}
    elif key == 63:
        state = "fenced" if told["isFenced"] else "running"
        for word, holds in (
            ("starting", asked["wantFence"]),
            ("pending_controlled_shutdown", asked["wantShutDown"]),
            ("shutting_down", told["shouldShutDown"]),
        ):
            state = word if holds else state
        offline = asked.get("offlineLogDirs")
        if told["errorCode"] == 0 and (state != "running" or offline):
            dirs = None if offline is None else len(offline)
            yield base | {"event": "heartbeat", "broker_state": state, "offline_log_dirs": dirs}
        elif told["errorCode"]:
            yield base | {"event": "heartbeat"}
    elif key == 56:
        codes = {
            (topic.get("topicId", topic.get("topicName")), each["partitionIndex"]): each["errorCode"]
            for topic in told["topics"]
            for each in topic["partitions"]
        }
        for topic in asked["topics"]:
            for each in topic["partitions"]:
                which = (topic.get("topicId", topic.get("topicName")), each["partitionIndex"])
                isr = each.get("newIsr") or [one["brokerId"] for one in each["newIsrWithEpochs"]]
                yield base | {
                    "event": "isr",
                    "partition": which[1],
                    "asked_isr": ",".join(map(str, sorted(isr))),
                    "error_code": told["errorCode"] or codes[which],
                }


@pytest.mark.parametrize("name", ["cluster", "sweep_43", "broker_28"])
def test_what_brokers_tell_the_controller_is_an_event(shared: Path, name: str) -> None:
    rows = by_request(shared, name, "broker_events")
    seen = 0
    for line in log(shared, name):
        if line["response"] is None:
            continue
        wanted = list(broker_events(line))
        found = rows.get(place(line), [])
        assert len(found) == len(wanted), line
        for row, each in zip(found, wanted, strict=True):
            assert {column: row[column] for column in each} == each, line["requestHeader"]
        seen += len(wanted)
    assert seen
