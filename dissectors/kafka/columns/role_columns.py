"""Which column gets the value of a field: by the field's role (`@role` in a schema file), and how its type is read."""

from __future__ import annotations

from dissectors import layout
from dissectors.kafka.columns import operations

# Role of a field -> column of values: what a message says once.
VALUE_OF_ROLE = {
    "throttle": layout.VALUE_THROTTLE_MS,
    "acks": layout.VALUE_ACKS,
    "max_wait": layout.VALUE_MAX_WAIT_MS,
    "min_bytes": layout.VALUE_MIN_BYTES,
    "isolation_level": layout.VALUE_ISOLATION_LEVEL,
    "session_id": layout.VALUE_SESSION_ID,
    "session_epoch": layout.VALUE_SESSION_EPOCH,
    "group": layout.VALUE_GROUP_ID,
    "member": layout.VALUE_MEMBER_ID,
    "transactional_id": layout.VALUE_TRANSACTIONAL_ID,
    "replica_id": layout.VALUE_REPLICA_ID,
    "timeout": layout.VALUE_TIMEOUT_MS,
    "software_name": layout.VALUE_SOFTWARE_NAME,
    "software_version": layout.VALUE_SOFTWARE_VERSION,
    "mechanism": layout.VALUE_MECHANISM,
    "generation": layout.VALUE_GENERATION_ID,
    "rack": layout.VALUE_RACK_ID,
}

# Role of an array -> column of values that counts its elements.
COUNT_OF_ROLE = {"topics": layout.VALUE_TOPICS, "partitions": layout.VALUE_PARTITIONS}

# Role of a field -> column of entries: what all rows inside the struct share.
CONTEXT_OF_ROLE = {
    "topic": layout.ENTRY_TOPIC,
    "topic_id": layout.ENTRY_TOPIC_ID_HIGH,
    "partition": layout.ENTRY_PARTITION,
}

# Role of a field -> column of entries: fields of the row's own element.
ENTRY_OF_ROLE = {
    "offset": layout.ENTRY_OFFSET,
    "high_watermark": layout.ENTRY_HIGH_WATERMARK,
    "last_stable_offset": layout.ENTRY_LAST_STABLE_OFFSET,
    "log_start_offset": layout.ENTRY_LOG_START_OFFSET,
    "leader_epoch": layout.ENTRY_LEADER_EPOCH,
    "preferred_read_replica": layout.ENTRY_PREFERRED_READ_REPLICA,
    "timestamp": layout.ENTRY_TIMESTAMP,
}

# Of these, offsets of a log.
OFFSETS = frozenset(("offset", "high_watermark", "last_stable_offset", "log_start_offset"))

# Of a message that may repeat what the broker was sent (@echo) these codes tell nothing of it but the topic's name, counts and
# limits: REQUEST_TIMED_OUT, INVALID_TOPIC_EXCEPTION, TOPIC_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED,
# UNSUPPORTED_VERSION, TOPIC_ALREADY_EXISTS, INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR, INVALID_REPLICA_ASSIGNMENT,
# NOT_CONTROLLER, NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND, THROTTLING_QUOTA_EXCEEDED.
NEVER_ECHO = frozenset((7, 17, 29, 31, 35, 36, 37, 38, 39, 41, 68, 69, 89))

# Type -> bytes and the operation that reads it; those without a second value are never read, only passed over.
FIXED = {
    "bool": (1, operations.LOAD_UINT8),
    "int8": (1, operations.LOAD_INT8),
    "int16": (2, operations.LOAD_INT16),
    "uint16": (2, operations.LOAD_UINT16),
    "int32": (4, operations.LOAD_INT32),
    "uint32": (4, operations.LOAD_UINT32),
    "int64": (8, operations.LOAD_INT64),
    "float64": (8, -1),
    "uuid": (16, operations.LOAD_UUID),
}
