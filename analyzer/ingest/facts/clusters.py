"""Clusters, brokers, topic ids and offered versions, from replies to clients and from requests between brokers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from analyzer.ingest.facts.fact_kinds import FactKind, Message, Row, SeenExchange, known, uuid_or_none


def metadata(seen: SeenExchange) -> Iterator[Row]:
    """Metadata and DescribeCluster replies, registrations and votes: by the field names that they share."""
    message = seen.reply or seen.request
    if message is None:
        return
    cluster = message.get("cluster_id")
    controller = known(message.get("controller_id"))
    if cluster is not None or controller is not None:
        yield "cluster_facts", (cluster, controller)
    for broker in message.get("brokers") or ():
        node = broker.get("node_id", broker.get("broker_id"))
        yield "broker_facts", (node, broker.get("host"), broker.get("port"), broker.get("rack"), message.whole)
    yield from _topics(message.get("topics"), "name", _racks(message))


def topics_by_broker(seen: SeenExchange) -> Iterator[Row]:
    """LeaderAndIsr and UpdateMetadata requests of a ZooKeeper-era controller."""
    message = seen.request
    if message is None:
        return
    yield from _topics(message.get("topic_states"), "topic_name")
    for each in message.get("live_leaders") or ():
        yield "broker_facts", (each["broker_id"], each["host_name"], each["port"], None, False)
    for each in message.get("live_brokers") or ():
        ends = each.get("endpoints") or [{"host": each.get("v0_host"), "port": each.get("v0_port")}]
        for end in ends:
            yield "broker_facts", (each["id"], end.get("host"), end.get("port"), each.get("rack"), message.whole)
    controller = known(message.get("controller_id"))
    if controller is not None:
        yield "cluster_facts", (None, controller)


def topics(seen: SeenExchange) -> Iterator[Row]:
    """CreateTopics, DeleteTopics and DescribeTopicPartitions replies: topics with name and id."""
    if seen.reply is not None:
        yield from _topics(seen.reply.get("topics") or seen.reply.get("responses"), "name")


def _racks(message: Message) -> dict[int, str]:
    """The rack of each broker, where all of them have one; racks with a comma would be several."""
    racks = {each.get("node_id"): each.get("rack") for each in message.get("brokers") or ()}
    return racks if message.whole and all(rack and "," not in rack for rack in racks.values()) else {}


def _topics(found: Iterable[dict[str, Any]] | None, name: str, racks: Mapping[int, str] | None = None) -> Iterator[Row]:
    for topic in found or ():
        topic_id = uuid_or_none(topic.get("topic_id"))
        if topic_id is not None and topic.get(name):
            yield "topic_facts", (topic_id, topic[name], *_replicated(topic, racks or {}))


def _replicated(topic: dict[str, Any], racks: Mapping[int, str]) -> tuple[str | None, str | None]:
    """Racks in which some partition of a topic, and in which each of them has a replica. None: not known, or no partition."""
    sets = [{racks.get(node) for node in each.get("replica_nodes") or ()} for each in topic.get("partitions") or ()]
    if not racks or not sets or any(None in each or not each for each in sets):
        return None, None
    some, each = set[str | None]().union(*sets), set(sets[0]).intersection(*sets)
    return ",".join(sorted(filter(None, some))), ",".join(sorted(filter(None, each)))


def coordinators(seen: SeenExchange) -> Iterator[Row]:
    """FindCoordinator replies name one node, from v4 on several; id -1 with an error."""
    if seen.reply is None:
        return
    for each in (seen.reply.fields, *(seen.reply.get("coordinators") or ())):
        if known(each.get("node_id")) is not None and each.get("host"):
            yield "broker_facts", (each["node_id"], each["host"], each.get("port"), None, False)


def registration(seen: SeenExchange) -> Iterator[Row]:
    """A broker or a controller registers its listeners with the active controller."""
    if seen.request is None:
        return
    cluster = seen.request.get("cluster_id")
    if cluster:
        yield "cluster_facts", (cluster, None)
    node = seen.request.get("broker_id")
    node = seen.request.get("controller_id") if node is None else node
    for end in () if node is None else seen.request.get("listeners") or ():
        yield "broker_facts", (node, end.get("host"), end.get("port"), seen.request.get("rack"), False)


def vote(seen: SeenExchange) -> Iterator[Row]:
    """Requests of the Raft quorum name the cluster."""
    if seen.request is not None and seen.request.get("cluster_id"):
        yield "cluster_facts", (seen.request.get("cluster_id"), None)


def versions(seen: SeenExchange) -> Iterator[Row]:
    """ApiVersions replies, also those that refuse the version of the request: they offer versions too."""
    if seen.reply is None:
        return
    for each in seen.reply.get("api_keys") or ():
        yield "version_facts", (each["api_key"], each["min_version"], each["max_version"])


def asked(seen: SeenExchange) -> Iterator[Row]:
    """ApiVersions requests of clients that know where they go: the cluster and the node that they mean (KIP-1242)."""
    if seen.request is None:
        return
    cluster, node = seen.request.get("cluster_id"), known(seen.request.get("node_id"))
    if cluster is not None or node is not None:
        yield "asked_facts", (cluster, node)


_LISTENERS = "listeners(host port)"
_BROKERS = "brokers(node_id host port rack) cluster_id controller_id"

KINDS = (
    FactKind(
        3,
        None,
        f"{_BROKERS} topics(name topic_id! partitions(replica_nodes))",
        metadata,
        by_body=True,
        brief=f"{_BROKERS} topics(name topic_id!)",
    ),
    FactKind(60, None, "cluster_id controller_id brokers(broker_id host port rack)", metadata, by_body=True),
    FactKind(
        4,
        "controller_id topic_states(topic_name topic_id!) live_leaders(broker_id host_name port)",
        None,
        topics_by_broker,
        by_body=True,
    ),
    FactKind(
        6,
        "controller_id topic_states(topic_name topic_id!) live_brokers(id v0_host v0_port endpoints(port host) rack)",
        None,
        topics_by_broker,
        by_body=True,
    ),
    FactKind(10, None, "node_id host port coordinators(node_id host port)", coordinators, by_body=True),
    FactKind(18, "cluster_id node_id", None, asked, by_body=True),
    FactKind(18, None, "error_code api_keys(api_key min_version max_version)", versions, by_body=True),
    FactKind(19, None, "topics(name topic_id!)", topics, by_body=True),
    FactKind(20, None, "responses(name topic_id!)", topics, by_body=True),
    FactKind(75, None, "topics(name topic_id!)", topics, by_body=True),
    FactKind(52, "cluster_id", None, vote, by_body=True),
    FactKind(53, "cluster_id", None, vote, by_body=True),
    FactKind(54, "cluster_id", None, vote, by_body=True),
    FactKind(62, f"broker_id cluster_id {_LISTENERS} rack", None, registration, by_body=True),
    FactKind(70, f"controller_id {_LISTENERS}", None, registration, by_body=True),
)
