"""Events of groups whose coordinator assigns, as the request logs of brokers tell them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]

# KIP-1071: what a coordinator says of a streams group, by its code.
STATUSES = (
    "STALE_TOPOLOGY",
    "MISSING_SOURCE_TOPICS",
    "INCORRECTLY_PARTITIONED_TOPICS",
    "MISSING_INTERNAL_TOPICS",
    "SHUTDOWN_APPLICATION",
    "ASSIGNMENT_DELAYED",
)


def newer_group_event(line: Row) -> Row | None:
    """The event of a heartbeat; None when it says nothing new."""
    asked, told = line["request"], line["response"]
    sent, error, assignment = asked["memberEpoch"], told["errorCode"], told.get("assignment")
    event = "join" if sent == 0 else "leave" if sent < 0 else "heartbeat"
    news = ("subscribedTopicNames", "subscribedTopicRegex", "topicPartitions", "topology", "activeTasks")
    new = error or assignment is not None or told.get("activeTasks") is not None or told["memberEpoch"] != sent
    status = ", ".join(STATUSES[each["statusCode"]] for each in told.get("status") or ())
    if event == "heartbeat" and not new and not status and all(asked.get(name) is None for name in news):
        return None
    kinds = {68: "consumer", 76: "share", 88: "streams"}
    return {
        "group_id": asked["groupId"],
        "group_type": kinds[line["requestHeader"]["requestApiKey"]],
        "event": event,
        "member_id": told["memberId"] or asked["memberId"] or None,
        "instance_id": asked.get("instanceId"),
        "generation": told["memberEpoch"] if error == 0 else None,
        "sent_generation": sent,
        "assigned_partitions": None
        if assignment is None or error
        else sum(len(topic["partitions"]) for topic in assignment["topicPartitions"]),
        "group_status": status or None,
        "error_code": error,
    }


def redeliveries(line: Row) -> Iterator[Row]:
    """What a ShareFetch got that was given before, a row for each topic and number of deliveries."""
    for topic in line["response"].get("responses") or ():
        acquired = [each for partition in topic["partitions"] for each in partition["acquiredRecords"]]
        for deliveries in sorted({each["deliveryCount"] for each in acquired} - {1}):
            of_these = [each for each in acquired if each["deliveryCount"] == deliveries]
            yield {
                "group_id": line["request"]["groupId"],
                "group_type": "share",
                "event": "redelivery",
                "member_id": line["request"]["memberId"],
                "topic_id": topic["topicId"],
                "delivery_count": deliveries,
                "redelivered": sum(each["lastOffset"] - each["firstOffset"] + 1 for each in of_these),
                "error_code": line["response"]["errorCode"],
            }
