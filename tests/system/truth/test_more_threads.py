"""More of what people describe in public threads, rebuilt as small captures (tests/data/threads): the first finding names the
cause, whom it is about, and how often."""

from __future__ import annotations

import pytest
from paths import ROOT

import analyzer

FOLDER = ROOT / "tests" / "data" / "threads"
# Capture -> the rule of the first finding, and words that it or its advice must say. No rule: nothing may be found at all.
FIRST: dict[str, tuple[str | None, tuple[str, ...]]] = {
    # A client gives up before the broker must answer, or before it does.
    "fetch_wait_over_timeout": (
        "gives_up",
        ("gives up Fetch", "after 10.0 s each time, 7 times", "30.0 s", "fetch.max.wait.ms"),
    ),
    "join_given_up": ("gives_up", ('"kafkajs" gives up JoinGroup', "after 30.0 s each time, 6 times", "5 min 0 s")),
    "timeout_below_latency": (
        "gives_up",
        ("after 1.0 s each time, 20 times", "20 replies arrived after that", "501 ms later"),
    ),
    "offsets_set_by_a_tool": (
        "offsets_set",
        ("adminclient-3 set", "group etl for topic orders", "from 5,800 to 0 (1 partition), 5,800 records back"),
    ),
    # Not the client ends it, nor is it for want of a login.
    "proxy_cuts_join": (
        "gives_up",
        ("is cut off in JoinGroup at 10.1.0.3:9092 after 30.0 s each time, 5 times", "proxy"),
    ),
    "proxy_cuts_fetch": ("gives_up", ("is cut off in Fetch", "after 15.0 s each time, 8 times", "up to 30.0 s")),
    # A broker that stops while three members of one name wait for data.
    "healthy_broker_stops": (None, ()),
    "session_lifetime_no_reauth": (
        "session_not_renewed",
        ("1 min 0 s after their login (PLAIN)", "4 times", "KIP-368"),
    ),
    "idempotent_not_allowed": (
        "authorization",
        ("InitProducerId", "10 times", "IdempotentWrite", "enable.idempotence"),
    ),
    "controller_quota": (
        "throttled",
        ("(CreateTopics): 10 throttled replies (20.0 s in all)", "controller_mutation_rate"),
    ),
    # A Java client of Kafka 4 at a broker of 0.10.2, 20 times.
    "kafka_4_at_old_broker": (
        "asks_in_vain",
        ("20 times", "Java 4.1.0, to which its broker offers Fetch up to v3", "KIP-896"),
    ),
    # Addresses and what listens there.
    "same_address_all_brokers": ("shared_address", ("3 brokers", "10.9.0.100:9092", "160 requests")),
    "advertised_zero": ("advertised_unreachable", ("0.0.0.0:9092, which is no address of a host",)),
    "metadata_no_brokers": ("no_brokers_named", ("without naming a single broker, 60 times",)),
    "bootstrap_to_controller": ("controller_asked", ("10.9.0.9:9093 is a controller and no broker", "15 times")),
    "proxy_header_to_plain_broker": ("hung_up_at_once", ("12 times; each begins with a PROXY header", "send-proxy")),
    "sni_missing": ("wrong_protocol", ("server name (SNI)", "12 connections failed")),
    "hairpin_nlb": ("answered_in_part", ("5 of 20 attempts from 1 host",)),
    "reset_together": ("unanswered", ("8 requests", "8 connections to 3 brokers were reset within 14 ms", "firewall")),
    # One client goes where Metadata says from 30 s on, another one does not. With a second listener nothing has moved.
    "broker_at_another_address": (
        "broker_gone",
        ("broker 10.1.0.2:9092", "36 connection attempts from 1 address", "names 10.1.0.22:9092 for it since", "pods"),
    ),
    "broker_gone_of_two_listeners": ("broker_gone", ("broker 10.1.0.2:9092", "it was stopped, was killed")),
    "port_reuse_timewait": ("repeated_connects", ("6 of 12 connections", "up to 1.0 s")),
    "half_open_rst": ("silent_then_reset", ("4 connections of 4 hosts, for up to 25.4 s",)),
    "wrong_correlation": ("unasked_reply", ("correlation id belongs to none of its open requests", "8 times")),
    "msk_too_many_connects": (
        "authentication_failures",
        ("20 logins", "the broker says Too many connects", "at this rate"),
    ),
    # Consumers that get nothing.
    "preferred_replica_ignored": ("no_progress", ("says to read from broker 2", "client.rack")),
    "follower_pingpong": (
        "offset_out_of_range",
        ("one broker does not have and another one serves, 80 times", "follower"),
    ),
    "more_members_than_partitions": ("spare_members", ("1 of 4 members", "worker-3", "3 partitions")),
    # The leader moved after 30 s; 211 records were written at the new one, which this client never asks.
    "stuck_after_leader_move": (
        "not_asking",
        ("orders-0 for 1 min 48 s", "211 records", "refused: NOT_LEADER_OR_FOLLOWER", "did not follow"),
    ),
    # A deploy under other instance ids: the old ones hold two of four partitions, which nobody reads.
    "static_members_gone": (
        "assigned_not_fetched",
        ("member app-7f9c-aaaa-m (and others)", "2 partitions", "2 min 5 s; it went before that", "group.instance.id"),
    ),
    "healthy_static_restart": (None, ()),
    "log_corrupt_at_offset": ("failing", ("CORRUPT_MESSAGE, 60 times, topic sales, partition 3", "kafka-dump-log.sh")),
    # Each time, two batches with the same records follow, and are taken.
    "refused_batch_split": ("failing", ("MESSAGE_TOO_LARGE, twice, topic bulk", "split a refused batch")),
    "share_session_lost": (
        "failing",
        ("SHARE_SESSION_NOT_FOUND, 100 times, group workers", "group.share.max.share.sessions"),
    ),
    # Who was removed from its group, and who was not.
    "late_member_kept": (
        "poll_gap",
        ("late-app", "once, 1 min 11 s at worst: it was still a member when it joined again"),
    ),
    "commit_from_outside": ("commit_failures", ("group billing by adminclient-1", "3 times: it names no member")),
    "stale_member_epoch": (
        "commit_failures",
        ("STALE_MEMBER_EPOCH, 20 times: the group has given", "with its next heartbeat"),
    ),
    # Seven records, 11 minutes of silence, then batches that go on where those ended, each refused.
    "idle_producer_forgotten": (
        "out_of_order",
        ("12 times", "acknowledged 11 min 13 s before, and none between is missing", "producer.id.expiration.ms"),
    ),
    "healthy_idle_producer": (None, ()),
    # What applications do at their start, and a position behind the last marker of a transaction.
    "healthy_topic_exists": (None, ()),
    "healthy_transactions_read": (None, ()),
    "sync_never": ("silent_leader", ("2 members of group g", "6 times, for up to 10.0 s", "member m-dead")),
    "auto_create_rf": ("failing", ("INVALID_REPLICATION_FACTOR, 60 times", "default.replication.factor")),
    # What coordinators say without an error code: records 0 to 49 are given in replies 32 s apart, five times in all.
    "share_redelivered": ("share_redelivered", ("share group jobs", "of orders", "up to 5 times")),
    "streams_missing": (
        "streams_waiting",
        ("streams group st-app", "MISSING_SOURCE_TOPICS", "--create", "kanalyze show"),
    ),
    "healthy_share_group": (None, ()),
    # Brokers and controllers among themselves.
    "kraft_duplicate_broker": ("refused_broker", ("10.9.0.4", "DUPLICATE_BROKER_REGISTRATION, 40 times", "node.id")),
    "kraft_wrong_cluster": ("refused_broker", ("INCONSISTENT_CLUSTER_ID, 60 times", "cluster.id")),
    "follower_unknown_topic": (
        "unexplained",
        ("200 Fetch between brokers", "UNKNOWN_TOPIC_ID", "deleted or made anew while it was away"),
    ),
    "replica_not_let_in": (
        "unexplained",
        ("100 AlterPartition between brokers", "INELIGIBLE_REPLICA", "see the log of the broker that follows"),
    ),
    "kraft_vote_loop": ("no_quorum", ("80 Vote requests in 59.2 s, by 2 candidates",)),
    # Every second connection is answered by a second host too, whose reset ends it.
    "two_hosts_one_address": ("unanswered", ("12 requests (ApiVersions)", "longest wait 0.51 ms")),
    # Groups. Two workers of Connect, whose leader lacks the newest of the config topic: 200 generations in a minute.
    "connect_config_behind": (
        "requested_rebalances",
        ("group connect-etl", "200 times", "up to 31 ms", "config topic"),
    ),
    "healthy_connect_start": (None, ()),
    "group_of_other_sort": (
        "failing",
        ("group connect-etl", "30 times", "group.id of its own", "go by sessioned, this client offers range"),
    ),
    "assignors_differ": ("failing", ("group shop", "go by range, this client offers cooperative-sticky first")),
    "classic_group_has_name": ("failing", ("GROUP_ID_NOT_FOUND, 20 times", "members of the older protocol")),
    "streams_shutdown": ("streams_waiting", ("enricher is asked to stop", "SHUTDOWN_APPLICATION", "its log says why")),
    "members_taken_out": (
        "failing",
        ("UNKNOWN_MEMBER_ID, 3 times, group bill", "took these members out", "adminclient-7 did so"),
    ),
    # Of two partitions one is to go to mail-b, from 10.8 s on; the capture ends at 123.
    "partition_not_given_up": (
        "spare_members",
        ("no partition and gets no records: mail-b; mail-a is to give partitions up, and has not for 1 min 52 s",),
    ),
    "healthy_partition_given_up": (None, ()),
    # Heartbeats and commits of four groups take 8 s, Fetches at the same broker 2 ms.
    "slow_coordinator": (
        "slow_requests",
        ("g0 waits for Heartbeat at 10.1.0.3:9092 for up to 8.0 s: 6 of 6", "__consumer_offsets"),
    ),
    "renewal_of_other_user": (
        "failing",
        ("SASL_AUTHENTICATION_FAILED, 4 times", "the broker says Cannot change principals", "must be of the same user"),
    ),
    # Each reply has records of partition 0, and refuses 5 (4 and 5).
    "partition_not_there": (
        "missing_topic",
        (
            "partition orders-5, which brokers do not know, although",
            "(200 requests)",
            "a topic of this name that had more",
        ),
    ),
    "partitions_not_there": (
        "missing_topic",
        ("partitions of orders, which brokers do not know, although they have others", "how many partitions"),
    ),
    # Each batch begins with new Fetches where the one before ended; agents of a broker that come and go.
    "healthy_spark_batches": (None, ()),
    "healthy_changing_agents": (None, ()),
    "share_groups_off": (
        "failing",
        ("ShareGroupHeartbeat", "UNSUPPORTED_VERSION, 30 times, group jobs", "share.version"),
    ),
    "compacted_without_key": ("failing", ("INVALID_RECORD, 20 times, topic customers", "without a key")),
    "topic_policy": ("failing", ("POLICY_VIOLATION, 12 times, topic connect-status", "create.topic.policy.class.name")),
    # 25 records each 0.5 s; three lives of 22 s, each reads 42 batches, and begins 11.0 s after the one before ended.
    "starts_at_the_end": (
        "rereads",
        ("topic orders from its end on each time it starts, twice, and leaves out 1,200 records", "group etl: none"),
    ),
    "healthy_goes_on_at_commits": (None, ()),
    # What a Fetch waits for. Records 1,000 to 899,999 lie elsewhere; each of 23 replies holds 500 of 250,000 records.
    "remote_read_too_late": (
        "no_progress",
        ("60 Fetches", "whole fetch.max.wait.ms each time", "899,000 records", "remote storage"),
    ),
    "fetch_min_over_max": (
        "held_for_bytes",
        ("up to 5.0 s late", "23 of its 23 Fetches", "one Fetch may bring fewer bytes than its fetch.min.bytes"),
    ),
    "leader_without_followers": ("failing", ("OFFSET_NOT_AVAILABLE, 290 times", "no follower fetches from it")),
    # Jobs that end with a long poll under way, as others begin: nobody gives up.
    "healthy_poll_jobs": (None, ()),
}


@pytest.mark.parametrize("name", sorted(FIRST))
def test_the_first_finding_names_the_cause(name: str) -> None:
    rule, words = FIRST[name]
    with analyzer.read(FOLDER / f"{name}.pcap.zst") as capture:
        found = list(capture.findings)
    assert (found[0].name if found else None) == rule
    said = " ".join(f"{each.sentence} {each.do}" for each in found[:1])
    assert [each for each in words if each not in said] == []


def test_who_comes_back_without_hello_lost_nothing_but_time() -> None:
    with analyzer.read(FOLDER / "hello_unknown.pcap.zst") as capture:
        (found,) = [each for each in capture.findings if each.name == "hung_up_at_once"]
    assert found.severity == "info" and "10 times" in found.sentence and "api.version.request" in found.do
