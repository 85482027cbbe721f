"""What may be kept of a message: the one list. A field that is not named here becomes zeros of the same length.

Fields go by their names, over all APIs and versions; a test holds the list against every field of every schema, so that a field of
a new version is looked at by a person before a byte of it is kept. Lengths, counts and tags, without which nothing could be read,
are kept everywhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dissectors.kafka.schema.fields import Field


def _words(text: str) -> list[str]:
    return text.split()


# Numbers and flags: codes, counts, sizes, times, offsets, epochs, ports, and ids that Kafka counts up.
NUMBERS = frozenset(
    _words("""
    acceptable_recovery_lag acceptable_recovery_lag_legacy accepted_compression_types ack_when_committed
    acknowledge_error_code acknowledge_types acks acquisition_lock_timeout_ms adding_replicas allow_auto_topic_creation
    allow_downgrade allow_replication_factor_change api_key assignment_epoch authorized_operations base_offset batch_index
    batch_size broker_epoch broker_id broker_ids candidate_id cluster_authorized_operations commit_timestamp committed
    committed_leader_epoch committed_offset compression_type config_operation config_source config_type controller_epoch
    controller_id coordinator_epoch count current_leader_epoch current_metadata_offset current_txn_start_offset
    delete_partition delete_partitions delivery_complete_count delivery_count delivery_state delta_temporality
    duration_filter election_type eligible_leader_replicas enable2_pc end_offset endpoint_information_epoch endpoint_type
    epoch error_code expiry_time_period_ms expiry_timestamp expiry_timestamp_ms fetch_offset finalized_features_epoch
    first_offset generation_id generation_id_or_member_epoch group_epoch heartbeat_interval_ms high_watermark id
    include_authorized_operations include_cluster_authorized_operations include_documentation include_fenced_brokers
    include_synonyms include_topic_authorized_operations include_topology_description index is_caught_up is_classic
    is_cordoned is_default is_fenced is_future_key is_internal is_k_raft_controller is_migrating_zk_broker is_new
    is_renew_ack is_sensitive isolation_level isr isr_nodes issue_timestamp issue_timestamp_ms iterations k_raft_version
    keep_prepared_txn key_type lag last_caught_up_timestamp last_contained_log_timestamp last_fetch_timestamp
    last_fetched_epoch last_known_elr last_offset last_offset_epoch last_sequence last_stable_offset last_timestamp leader
    leader_epoch leader_id leader_recovery_state log_append_time_ms log_end_offset log_start_offset low_watermark match_type
    max_bytes max_lifetime_ms max_num_offsets max_records max_supported_version max_timestamp max_timestamp_ms max_version
    max_version_level max_wait_ms mechanism member_epoch member_type min_bytes min_supported_version min_version
    min_version_level new_isr node_id node_type num_partitions offline_replicas offset offset_lag old_style_offsets
    ongoing_txn_producer_epoch ongoing_txn_producer_id operation partition partition_epoch partition_error_code partition_id
    partition_index partition_indexes partition_max_bytes partition_size partitions pattern_type pattern_type_filter
    permission_type port position pre_vote preferred_read_replica preferred_successors previous_broker_epoch producer_epoch
    producer_id producer_id_filters producer_id_len producer_id_start push_interval_ms read_only rebalance_timeout_ms remove
    removing_replicas renew_period_ms repartition_source_topics replica_epoch replica_id replica_nodes replicas
    replication_factor require_stable resource_pattern_type resource_type resource_type_filter resource_types
    response_partition_limit retention_time_ms security_protocol session_epoch session_id session_lifetime_ms
    session_timeout_ms share_acquire_mode share_session_epoch should_shut_down shutdown_application size skip_assignment
    source source_topic_regex source_topics start_offset state_epoch status_code strict subscription_id
    task_offset_interval_ms telemetry_max_bytes terminating throttle_time_ms timeout_ms timestamp token_authenticated
    topic_authorized_operations topic_config_error_code topology_description_required topology_description_status
    topology_epoch total_bytes transaction_result transaction_start_time_ms transaction_timeout_ms transaction_version type
    upgrade_type usable_bytes v0_port v3_and_below_producer_epoch v3_and_below_producer_id validate_only value verify_only
    version vote_granted voter_id want_fence want_shut_down zk_migration_ready zk_version
    """)
)

# Text -> what becomes of it: a pseudonym ("topic", "group", "client", "host", "principal" keep what is well known of their
# kind, "name" nothing), or "word", which is kept where it is a word of Kafka's own. What is not here becomes zeros.
TEXTS = (
    dict.fromkeys(
        _words("""
        assignor_name entity_type feature group_state group_type key listener mechanism mechanisms name protocol_data protocol_name
        protocol_type server_assignor state_filters states_filter transaction_state type types_filter unknown_state_filters
        client_software_name
        """),
        "word",
    )
    | dict.fromkeys(
        _words("""
        subscribed_topic_names repartition_sink_topics sink_topic source_topics topic topic_name topic_names topics
        """),
        "topic",
    )
    | dict.fromkeys(_words("coordinator_keys group_id group_ids groups groups_names"), "group")
    | {"client_id": "client", "client_software_version": "version"}
    | dict.fromkeys(_words("client_host host host_filter host_name v0_host"), "host")
    | dict.fromkeys(_words("owner_principal_type principal_type token_requester_principal_type"), "word")
    | dict.fromkeys(
        _words("""
        owner_principal_name principal principal_filter principal_name token_requester_principal_name user entity_name
        """),
        "principal",
    )
    | dict.fromkeys(
        _words("acknowledge_error_message batch_index_error_message error_message reason status_detail"), "sentence"
    )
    | dict.fromkeys(
        _words("""
        cluster_id committed_metadata configuration_keys group_instance_id instance_id leader log_dir match member_id metadata path
        process_id rack rack_id requested_metrics resource_name resource_name_filter source_topic_regex stores
        subscribed_topic_regex subtopology_id successors token_id transactional_id transactional_id_pattern transactional_ids
        v3_and_below_transactional_id
        """),
        "name",
    )
    | dict.fromkeys(_words("value documentation"), "secret")
)

# Bytes -> "records", "token" (of SASL), "address", "message" (one that the schema embeds). What is not here becomes zeros.
BYTES = (
    dict.fromkeys(
        _words("assignment member_assignment member_metadata metadata request_data request_principal"), "message"
    )
    | dict.fromkeys(_words("records unaligned_records"), "records")
    | {"auth_bytes": "token", "client_host_address": "address"}
    | dict.fromkeys(_words("hmac metrics response_data salt salted_password user_data"), "secret")
)

# All of them become pseudonyms.
UUIDS = frozenset(
    _words("""
    candidate_directory_id client_instance_id cordoned_log_dirs id incarnation_id log_dirs offline_log_dirs replica_directory_id
    topic_id voter_directory_id
    """)
)

_WORDS = frozenset(
    _words(
        "BrokerStateMachine CompleteAbort CompleteCommit Completing CompletingRebalance Consumer Dead Empty Group NotReady "
        "Ongoing PrepareAbort PrepareCommit PrepareEpochFence PreparingRebalance Reconciling Stable Streams Unknown User "
        "Assigning Classic Share classic consumer share streams connect stream none sr schema-registry "
        "range roundrobin sticky cooperative-sticky uniform homogeneous simple compatible sessioned eager "
        "client-id user ip producer_byte_rate consumer_byte_rate request_percentage controller_mutation_rate "
        "connection_creation_rate "
        "PLAIN GSSAPI SCRAM-SHA-256 SCRAM-SHA-512 OAUTHBEARER AWS_MSK_IAM ANONYMOUS DELEGATION-TOKEN "
        "PLAINTEXT SSL SASL_PLAINTEXT SASL_SSL CONTROLLER REPLICATION INTERNAL EXTERNAL BROKER "
        "metadata.version kraft.version transaction.version group.version eligible.leader.replicas.version share.version "
        "streams.version "
        "apache-kafka-java apache-kafka-streams librdkafka confluent-kafka-python confluent-kafka-go confluent-kafka-dotnet "
        "confluent-kafka-javascript rdkafka-ruby rdkafka sarama kafka-python kafka-python-ng aiokafka kafkajs kgo kafka-go "
        "rskafka kafka-node ruby-kafka node-rdkafka php-rdkafka rust-rdkafka brod kafka_ex franz-go segmentio "
    )
)
_WELL_KNOWN = {
    "topic": frozenset(
        _words(
            "__consumer_offsets __transaction_state __cluster_metadata __share_group_state _schemas __remote_log_metadata "
            "connect-configs connect-offsets connect-status __amazon_msk_canary"
        )
    ),
    "group": frozenset(("connect-cluster", "schema-registry")),
    "principal": frozenset(("ANONYMOUS", "User:ANONYMOUS", "User:*", "*", "<default>")),
    "host": frozenset(("*",)),
}
# Client ids that libraries and brokers give when nobody chose one.
_DEFAULT_CLIENT = re.compile(
    r"(consumer|producer|adminclient|console-consumer|console-producer|perf-producer-client|perf-consumer-client)(-\d{1,6})?"
    r"|rdkafka|sarama|kgo|kafkajs|kafka-go|kafka-python(-producer|-consumer)?(-[\d.]{1,12})?"
    r"|aiokafka(-producer|-consumer)?(-[\d.]{1,12})?"
    r"|broker-\d{1,10}(-fetcher-\d{1,6}|-txn-marker-sender|-to-controller[a-z-]*)?"
    r"|raft-client-\d{1,10}|NetworkPartitionMetadataClient-client-\d{1,10}"
)
# What tells the library of a client that does not name its software.
_LIBRARY = re.compile(r"sarama|kafka-python|aiokafka|rdkafka|^kgo", re.IGNORECASE)
_VERSION = re.compile(
    r"v?\d{1,5}(\.\d{1,5}){0,4}([.+-](rc|alpha|beta|dev|snapshot|ccs|ce|final|release|redhat|amzn|post|pre)?[.-]?\d{0,5}){0,3}",
    re.IGNORECASE,
)
# What clients say when they join or leave; a name may be beside it.
_PHRASE = re.compile(
    rb"the consumer is being closed|the consumer unsubscribed from all topics|consumer poll timeout has expired"
    rb"|need to revoke partitions and re-join|need to re-join with the given member-id|rebalance enforced by user|not provided"
    rb"|group is already rebalancing|rebalance failed due to"
)
_PRINCIPAL_KIND = re.compile(rb"(?:User|Group):")

# All text that may stay, for whoever looks for what must not.
WELL_KNOWN_TEXT = tuple(
    word.encode()
    for word in (
        *_WORDS,
        *(each for words in _WELL_KNOWN.values() for each in words),
        *_words(
            "console-consumer console-producer perf-producer-client perf-consumer-client adminclient -txn-marker-sender"
        ),
        "NetworkPartitionMetadataClient-client-",
        "kanalyze",
        # of logins (RFC 5802, RFC 7628, KIP-48)
        *_words("tokenauth=true auth=Bearer invalid-encoding unknown-user other-error invalid-proof"),
        *_PHRASE.pattern.decode().split("|"),
    )
)


def treatment(field: Field) -> str:
    """What becomes of a field: "number" is kept as it is, "secret" becomes zeros, the others are those of the tables above."""
    kind, name = field.type, field.name
    if kind == "uuid":
        return "uuid" if name in UUIDS else "secret"
    if kind == "string":
        if name in ("name", "key", "resource_name"):
            return "topic" if "topic" in field.roles else "group" if "entity" in field.roles else TEXTS[name]
        return TEXTS.get(name, "secret")
    if kind in ("bytes", "records"):
        return BYTES.get(name, "secret")
    return "number" if name in NUMBERS else "secret"


def is_kept(kind: str, value: bytes) -> bool:
    """Whether text of this kind ("word", "topic" ...) is well known, and so stays as it is."""
    if kind in _WELL_KNOWN:
        return value.decode("latin-1") in _WELL_KNOWN[kind]
    if kind == "word":
        return value.decode("latin-1") in _WORDS
    text = value.decode("latin-1")
    if kind == "client":
        return _DEFAULT_CLIENT.fullmatch(text) is not None
    return kind == "version" and len(text) <= 40 and _VERSION.fullmatch(text) is not None


def parts(kind: str, value: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Text around what is kept of it: (before, kept, behind); None: nothing is."""
    found = None
    if kind == "principal":
        found = _PRINCIPAL_KIND.match(value)
    elif kind == "sentence" and (phrase := _PHRASE.search(value)):
        return value[: phrase.start()], phrase[0], value[phrase.end() :]
    elif kind == "client" and (text := _LIBRARY.search(value.decode("latin-1"))):
        return value[: text.start()], value[text.start() : text.end()], value[text.end() :]
    return None if found is None else (b"", value[: found.end()], value[found.end() :])
