"""The raw tables: which column of a stage's matrix becomes which column of a file.

A raw row holds what one split of a capture can know; `resolve/*.sql` turns raw rows into the final tables. A raw row names its
connection by `part` (one incarnation of a 4-tuple as this run saw it) and a packet by (split, number in the split).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dissectors import layout
from dissectors.numbering import words

STATUSES = words(vars(layout), "STATUS_")
DECODED = words(vars(layout), "DECODED_")
SIDES = ("request", "response")
PROTOCOLS = words(vars(layout), "PROTOCOL_")
CLOSES = ("none", "fin", "rst")
OPENINGS = words(vars(layout), "OPENING_")
ANSWERS = words(vars(layout), "ANSWER_")
WAIT_KINDS = words(vars(layout), "KIND_")


class Field(NamedTuple):
    """One raw column, made from matrix column `at`; UNKNOWN becomes null.

    `type` is an Arrow alias; or `text` (the number of an interned string); `uuid` or `address` (64 bits, and 64 more in the
    next matrix column); `packet` (becomes NAME_split and NAME_number); `api` (an API key, which becomes its name); or a tuple
    of words by number. No section and no rule of the report reads a column that is `seldom`: a large
    report leaves it out, and a question for it is an error there.
    """

    name: str
    at: int
    type: str | tuple[str, ...]
    seldom: bool = False


EXCHANGES = (
    Field("exchange", layout.ROW_EXCHANGE, "int64"),
    Field("part", layout.ROW_PART, "int64"),
    Field("api_key", layout.ROW_KEY, "int16"),
    Field("api_version", layout.ROW_VERSION, "int16"),
    Field("correlation_id", layout.ROW_CORRELATION, "int32"),
    Field("status", layout.ROW_STATUS, STATUSES),
    Field("token", layout.ROW_TOKEN, "bool"),
    Field("api_name", layout.ROW_KEY, "api"),
    Field("request_time_ns", layout.ROW_REQUEST_FIRST, "int64"),
    Field("request_end_ns", layout.ROW_REQUEST_LAST, "int64"),
    Field("response_time_ns", layout.ROW_RESPONSE_FIRST, "int64"),
    Field("response_end_ns", layout.ROW_RESPONSE_LAST, "int64"),
    Field("request_bytes", layout.ROW_REQUEST_BYTES, "int64"),
    Field("response_bytes", layout.ROW_RESPONSE_BYTES, "int64"),
    Field("request", layout.ROW_REQUEST_NUMBER, "packet"),
    Field("response", layout.ROW_RESPONSE_NUMBER, "packet"),
    Field("request_decoded", layout.ROW_REQUEST_DECODED, DECODED),
    Field("response_decoded", layout.ROW_RESPONSE_DECODED, DECODED),
    Field("client_id", layout.ROW_CLIENT_ID, "text"),
    Field("throttle_time_ms", layout.ROW_THROTTLE_MS, "int32"),
    Field("error_code", layout.ROW_ERROR_CODE, "int16"),
    Field("error_count", layout.ROW_ERROR_COUNT, "int32"),
    Field("topics", layout.ROW_TOPICS, "int32"),
    Field("partitions", layout.ROW_PARTITIONS, "int32", seldom=True),
    Field("acks", layout.ROW_ACKS, "int16", seldom=True),
    Field("max_wait_ms", layout.ROW_MAX_WAIT_MS, "int32"),
    Field("min_bytes", layout.ROW_MIN_BYTES, "int32"),
    Field("isolation_level", layout.ROW_ISOLATION_LEVEL, "int16"),
    Field("session_id", layout.ROW_SESSION_ID, "int32"),
    Field("session_epoch", layout.ROW_SESSION_EPOCH, "int32"),
    Field("group_id", layout.ROW_GROUP_ID, "text"),
    Field("member_id", layout.ROW_MEMBER_ID, "text"),
    Field("transactional_id", layout.ROW_TRANSACTIONAL_ID, "text"),
    Field("replica_id", layout.ROW_REPLICA_ID, "int32"),
    Field("timeout_ms", layout.ROW_TIMEOUT_MS, "int32", seldom=True),
    Field("record_bytes", layout.ROW_RECORD_BYTES, "int64", seldom=True),
    Field("software_name", layout.ROW_SOFTWARE_NAME, "text"),
    Field("software_version", layout.ROW_SOFTWARE_VERSION, "text"),
    Field("mechanism", layout.ROW_MECHANISM, "text"),
    Field("generation_id", layout.ROW_GENERATION_ID, "int32"),
    Field("rack_id", layout.ROW_RACK_ID, "text"),
    Field("leftover_bytes", layout.ROW_LEFTOVER, "int32", seldom=True),
    Field("queue_ns", layout.ROW_QUEUE, "int64"),
    Field("muted_ns", layout.ROW_MUTED, "int64"),
    Field("request_lag_ns", layout.ROW_REQUEST_LAG, "int64"),
    Field("reply_lag_ns", layout.ROW_REPLY_LAG, "int64"),
    Field("reply_held_ns", layout.ROW_REPLY_HELD, "int64"),
    Field("reply_end_lag_ns", layout.ROW_REPLY_END_LAG, "int64"),
    Field("ack_time_ns", layout.ROW_ACK_TIME, "int64"),
    Field("ack_lag_ns", layout.ROW_ACK_LAG, "int64"),
    Field("before_lag_ns", layout.ROW_BEFORE_LAG, "int64"),
    Field("marks", layout.ROW_MARKS, "int16"),
    Field("own_kind", layout.ROW_KIND, WAIT_KINDS),
)

# Entries and errors have the LABEL_ columns behind those that the stage writes, by `exchanges.label`.
ENTRIES = (
    Field("exchange", layout.ENTRY_FRAME, "int64"),
    Field("part", layout.ENTRY_COLUMNS + layout.LABEL_PART, "int64"),
    Field("side", layout.ENTRY_COLUMNS + layout.LABEL_SIDE, SIDES),
    Field("topic", layout.ENTRY_TOPIC, "text"),
    Field("topic_id", layout.ENTRY_TOPIC_ID_HIGH, "uuid"),
    Field("partition", layout.ENTRY_PARTITION, "int32"),
    Field("error_code", layout.ENTRY_ERROR_CODE, "int16"),
    Field("offset", layout.ENTRY_OFFSET, "int64"),
    Field("high_watermark", layout.ENTRY_HIGH_WATERMARK, "int64"),
    Field("last_stable_offset", layout.ENTRY_LAST_STABLE_OFFSET, "int64"),
    Field("log_start_offset", layout.ENTRY_LOG_START_OFFSET, "int64", seldom=True),
    Field("record_bytes", layout.ENTRY_RECORD_BYTES, "int64"),
    Field("leader_epoch", layout.ENTRY_LEADER_EPOCH, "int32", seldom=True),
    Field("forgotten", layout.ENTRY_FORGOTTEN, "bool"),
    Field("preferred_read_replica", layout.ENTRY_PREFERRED_READ_REPLICA, "int32"),
    Field("timestamp_ms", layout.ENTRY_TIMESTAMP, "int64", seldom=True),
    Field("next_offset", layout.ENTRY_NEXT_OFFSET, "int64"),
)

ERRORS = (
    Field("exchange", layout.ERROR_FRAME, "int64"),
    Field("part", layout.ERROR_COLUMNS + layout.LABEL_PART, "int64"),
    Field("side", layout.ERROR_COLUMNS + layout.LABEL_SIDE, SIDES),
    Field("code", layout.ERROR_CODE, "int16"),
    Field("api_key", layout.ERROR_COLUMNS + layout.LABEL_KEY, "int16"),
    Field("field", layout.ERROR_FIELD, "int32"),
    Field("entity", layout.ERROR_ENTITY, "text"),
    Field("error_message", layout.ERROR_MESSAGE, "text"),
    Field("topic", layout.ERROR_TOPIC, "text"),
    Field("topic_id", layout.ERROR_TOPIC_ID_HIGH, "uuid"),
    Field("partition", layout.ERROR_PARTITION, "int32"),
)

PROBLEMS = (
    Field("kind", layout.PROBLEM_KIND, "int16"),
    Field("part", layout.PROBLEM_PART, "int64"),
    Field("packet", layout.PROBLEM_NUMBER, "packet"),
    Field("time_ns", layout.PROBLEM_TIME, "int64"),
    Field("side", layout.PROBLEM_SIDE, "int16"),
    Field("offset", layout.PROBLEM_OFFSET, "int64"),
    Field("bytes_lost", layout.PROBLEM_BYTES, "int64"),
    Field("detail", layout.PROBLEM_DETAIL, "int64"),
)


QUEUED = (
    Field("part", layout.QUEUED_PART, "int64"),
    Field("from_address", layout.QUEUED_FROM_HIGH, "address"),
    Field("from_port", layout.QUEUED_FROM_PORT, "int32"),
    Field("packet", layout.QUEUED_NUMBER, "packet"),
    Field("time_ns", layout.QUEUED_TIME, "int64"),
    Field("bytes", layout.QUEUED_BYTES, "int64"),
    Field("lag_ns", layout.QUEUED_LAG, "int64"),
)

SILENCES = (
    Field("part", layout.SILENCE_PART, "int64"),
    Field("side", layout.SILENCE_SIDE, "int16"),
    Field("begin_ns", layout.SILENCE_BEGIN, "int64"),
    Field("end_ns", layout.SILENCE_END, "int64"),
    Field("asked_ns", layout.SILENCE_ASKED, "int64"),
    Field("packet", layout.SILENCE_ASKED_NUMBER, "packet"),
)


def _pair(name: str, at: int) -> tuple[Field, Field]:
    """The columns of both sides: side 0 is `a` (it sent the first packet seen, the SYN when there is one), side 1 is `b`."""
    return Field(f"a_{name}", at, "int64"), Field(f"b_{name}", at + 1, "int64")


PARTS = (
    Field("part", layout.PART_NUMBER, "int64"),
    Field("a_address", layout.PART_A_HIGH, "address"),
    Field("b_address", layout.PART_B_HIGH, "address"),
    Field("a_port", layout.PART_A_PORT, "int32"),
    Field("b_port", layout.PART_B_PORT, "int32"),
    Field("first", layout.PART_FIRST_NUMBER, "packet"),
    Field("tap_number", layout.PART_TAP, "int64"),
    Field("network", layout.PART_NETWORK, "int64"),
    Field("view_number", layout.PART_VIEW, "int64"),
    Field("origin", layout.PART_ORIGIN, "int64"),
    Field("point", layout.PART_POINT, "int64"),
    Field("first_time_ns", layout.PART_FIRST_TIME, "int64"),
    Field("last_time_ns", layout.PART_LAST_TIME, "int64"),
    Field("syn", layout.PART_SYN, "int16"),
    Field("close", layout.PART_CLOSE, CLOSES),
    Field("end_side", layout.PART_END_SIDE, "int16"),
    Field("end_time_ns", layout.PART_END_TIME, "int64"),
    Field("rtt_ns", layout.PART_RTT, "int64"),
    Field("syn_ack_ns", layout.PART_SYN_ACK, "int64"),
    Field("ack_ns", layout.PART_ACK, "int64"),
    *_pair("start_seq", layout.PART_START_SEQ),
    *_pair("packets", layout.PART_PACKETS),
    *_pair("bytes", layout.PART_BYTES),
    *_pair("stream_bytes", layout.PART_STREAM),
    *_pair("retransmitted", layout.PART_RETRANSMITTED),
    *_pair("reordered", layout.PART_REORDERED),
    *_pair("gaps", layout.PART_GAPS),
    *_pair("gap_bytes", layout.PART_GAP_BYTES),
    *_pair("conflicts", layout.PART_CONFLICTS),
    *_pair("damaged", layout.PART_DAMAGED),
    *_pair("zero_windows", layout.PART_ZERO_WINDOW),
    *_pair("data_packets", layout.PART_DATA_PACKETS),
    *_pair("queued", layout.PART_QUEUED),
    *_pair("late", layout.PART_LATE),
    *_pair("ip_steps", layout.PART_IP_STEPS),
    *_pair("ip_jumps", layout.PART_IP_JUMPS),
    *_pair("full_windows", layout.PART_FULL_WINDOW),
    *_pair("full_window_ns", layout.PART_FULL_WINDOW_NS),
    *_pair("nagle", layout.PART_NAGLE),
    *_pair("needless", layout.PART_NEEDLESS),
    *_pair("paced", layout.PART_PACED),
    *_pair("paced_ns", layout.PART_PACED_NS),
    *_pair("wire_bytes", layout.PART_WIRE),
    *_pair("ttl", layout.PART_TTL),
    *_pair("lag_least_ns", layout.PART_LAG_LEAST),
    *_pair("lag_bound_ns", layout.PART_LAG_BOUND),
    *_pair("way_least_ns", layout.PART_WAY_LEAST),
    *_pair("way_count", layout.PART_WAY_COUNT),
    *_pair("way_p50_ns", layout.PART_WAY_P50),
    *_pair("way_p95_ns", layout.PART_WAY_P95),
    *_pair("mss", layout.PART_MSS),
    *_pair("wscale", layout.PART_WSCALE),
    *_pair("most_unacked", layout.PART_MOST_UNACKED),
)

FRAMED_PARTS = (
    Field("part", layout.FRAMING_PART, "int64"),
    Field("connection", layout.FRAMING_CONNECTION, "int64"),
    Field("flow", layout.FRAMING_FLOW, "int64"),
    Field("client_side", layout.FRAMING_CLIENT_SIDE, "int16"),
    Field("protocol", layout.FRAMING_PROTOCOL, PROTOCOLS),
    Field("requests", layout.FRAMING_REQUESTS, "int64"),
    Field("matched", layout.FRAMING_REPLIES, "int64"),
    Field("orphans", layout.FRAMING_ORPHANS, "int64"),
    Field("tokens", layout.FRAMING_TOKENS, "int64"),
    Field("chained", layout.FRAMING_CHAINED, "int64"),
    *_pair("stream_bytes", layout.FRAMING_STREAM),
    *_pair("framed_bytes", layout.FRAMING_FRAMED),
    *_pair("unsynced_bytes", layout.FRAMING_SKIPPED + 2 * layout.SKIP_UNSYNCED),
    *_pair("lost_bytes", layout.FRAMING_SKIPPED + 2 * layout.SKIP_LOST),
    *_pair("bad_bytes", layout.FRAMING_SKIPPED + 2 * layout.SKIP_BAD),
    *_pair("unfinished_bytes", layout.FRAMING_SKIPPED + 2 * layout.SKIP_UNFINISHED),
    *_pair("foreign_bytes", layout.FRAMING_SKIPPED + 2 * layout.SKIP_NOT_KAFKA),
    *_pair("headerless_bytes", layout.FRAMING_SKIPPED + 2 * layout.SKIP_HEADERLESS),
    *_pair("cut_bytes", layout.FRAMING_CUT),
    *_pair("opening_bytes", layout.FRAMING_OPENED),
    Field("opening", layout.FRAMING_OPENING, OPENINGS),
    Field("proxied_for", layout.FRAMING_PROXIED_FOR, "address"),
    Field("broker_speaks", layout.FRAMING_ANSWER, ANSWERS),
    *_pair("begin", layout.FRAMING_BEGIN),
)


def wanted(fields: Sequence[Field], seldom: bool) -> tuple[Field, ...]:
    """The fields of a table with or without those that are `seldom`."""
    return tuple(field for field in fields if seldom or not field.seldom)
