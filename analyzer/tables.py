"""The tables that kanalyze makes: names, types and meaning of every column. THE contract of the project.

Rules that hold in every table: a name says its unit (`_ns`, `_ms`, `_bytes`); a moment is int64 ns since the epoch,
UTC; null means "not known" or "does not apply", never 0, and the sentence says when; `exchange` and `connection` are
the keys that join tables. One line is one column: name, type, sentence (unit, meaning of null); a line that begins
with space continues the sentence. To add a column, add a line; docs/tables.md is written from here. Nothing heavy is
imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow

# Our types (Arrow's names) and what SQL calls them.
SQL_TYPES = {"int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "string": "VARCHAR", "bool": "BOOLEAN"}


class Column(NamedTuple):
    """One column: `type` is a key of SQL_TYPES; `sentence` says what it holds, in which unit, and when it is null."""

    name: str
    type: str
    sentence: str


def _columns(text: str) -> tuple[Column, ...]:
    """Reads the lines of one table."""
    found: list[Column] = []
    for line in text.strip().splitlines():
        if line.startswith("  "):
            last = found.pop()
            found.append(last._replace(sentence=f"{last.sentence} {line.strip()}"))
        else:
            name, kind, sentence = line.split(maxsplit=2)
            found.append(Column(name, kind, sentence))
    return tuple(found)


CAPTURES = _columns("""
file                  int32   Number of the input in the order of reading, from 0; other tables name inputs by it.
path                  string  The input as it was given: a path, a URI, or - for standard input.
tap                   string  Name of the place where the packets were taken; inputs of one place share it.
format                string  pcap or pcapng, with the compression when there is one: pcap.zst.
bytes                 int64   Size of the capture in bytes, uncompressed, as far as it was read.
cut                   bool    True when the input ends in the middle of a packet; what came before counts.
link_types            string  Link types of the packets, by name, comma separated; null when there is no packet.
packets               int64   Packets in the input, of every kind; the sum of the seven columns that follow.
tcp_packets           int64   Packets with a TCP segment.
not_ip_packets        int64   Packets that carry no IP: ARP, LLDP and the like.
not_tcp_packets       int64   IP packets that carry no TCP.
fragment_packets      int64   IP fragments that were not put together.
cut_packets           int64   Packets captured too short for their own headers.
malformed_packets     int64   Packets whose headers contradict themselves.
unknown_link_packets  int64   Packets of a link type that is not supported.
duplicate_packets     int64   TCP packets that repeat another one of the input and were left out (-i any).
dropped_packets       int64   Packets that the capturing host says it lost; null when the input says nothing.
first_time_ns         int64   Earliest packet, ns since the epoch; null when there is no packet.
last_time_ns          int64   Latest packet, ns since the epoch; null when there is no packet.
""")

CONNECTIONS = _columns("""
connection                       int64   Key: a TCP connection, one incarnation of its two addresses and ports.
tap                              string  Where its packets were taken.
cluster                          string  Kafka cluster id; null until a Metadata or DescribeCluster reply tells it.
role                             string  client, follower, raft, controller, txn_coordinator, share_coordinator or
                                         forwarding; null: unknown.
is_kafka                         bool    True when its content is Kafka; null when too little was seen to tell.
protocol                         string  What the content looks like: kafka, tls, other; null when no payload was
                                         seen.
client_address                   string  IP address of the side that asks (Kafka), else of the side that opened.
client_port                      int32   TCP port of that side.
broker_address                   string  IP address of the other side.
broker_port                      int32   TCP port of the other side.
broker_id                        int32   Node id of the broker; null until a reply tells which node has this address.
first_time_ns                    int64   First packet seen, ns since the epoch.
last_time_ns                     int64   Last packet seen, ns since the epoch.
seen_from                        string  syn: the capture holds its beginning; midstream: it does not.
close                            string  fin, rst, or none when the capture holds no end of it.
client_packets                   int64   TCP packets that the client sent, repeated ones included.
broker_packets                   int64   TCP packets that the broker sent, repeated ones included.
client_bytes                     int64   Payload bytes that the client sent, as on the wire, repeated ones included.
broker_bytes                     int64   Payload bytes that the broker sent, as on the wire, repeated ones included.
client_retransmitted             int64   Segments of the client that brought only bytes seen before.
broker_retransmitted             int64   Segments of the broker that brought only bytes seen before.
client_reordered                 int64   Segments of the client that came before an earlier one.
broker_reordered                 int64   Segments of the broker that came before an earlier one.
client_gaps                      int64   Holes in the client's stream: bytes that are not in the capture.
broker_gaps                      int64   Holes in the broker's stream: bytes that are not in the capture.
client_gap_bytes                 int64   Bytes in the holes of the client's stream.
broker_gap_bytes                 int64   Bytes in the holes of the broker's stream.
client_conflicts                 int64   Segments of the client that repeat bytes with another content; the first seen
                                         counts.
broker_conflicts                 int64   Segments of the broker that repeat bytes with another content; the first seen
                                         counts.
client_zero_windows              int64   Segments in which the client says that it can take no more bytes.
broker_zero_windows              int64   Segments in which the broker says that it can take no more bytes.
rtt_ns                           int64   SYN to the last ACK of the handshake, ns; null when the handshake was not
                                         seen whole.
syn_ack_ns                       int64   SYN to SYN+ACK, ns: the way from the capture to the broker and back; null
                                         when not seen.
ack_ns                           int64   SYN+ACK to ACK, ns: the way from the capture to the client and back; null
                                         when not seen.
client_stream_bytes              int64   Bytes of the client's stream in the capture, each counted once: framed +
                                         skipped.
broker_stream_bytes              int64   Bytes of the broker's stream in the capture, each counted once: framed +
                                         skipped.
client_framed_bytes              int64   Of those, bytes that belong to a Kafka request; 0 on other connections.
broker_framed_bytes              int64   Of those, bytes that belong to a Kafka reply; 0 on other connections.
client_skipped_sync_bytes        int64   Client bytes passed over in search of the next request.
broker_skipped_sync_bytes        int64   Broker bytes passed over in search of the next reply.
client_skipped_malformed_bytes   int64   Client bytes that are no request: an impossible length or header.
broker_skipped_malformed_bytes   int64   Broker bytes that are no reply: an impossible length or header.
client_skipped_unfinished_bytes  int64   Client bytes of requests whose other bytes are not in the capture.
broker_skipped_unfinished_bytes  int64   Broker bytes of replies whose other bytes are not in the capture.
client_skipped_foreign_bytes     int64   Client bytes of a stream that turned out to be something else than Kafka.
broker_skipped_foreign_bytes     int64   Broker bytes of a stream that turned out to be something else than Kafka.
requests                         int64   Kafka requests seen.
replies                          int64   Kafka replies seen, those without their request included.
tls                              bool    True when the content is TLS, decrypted or not.
security                         string  plaintext, ssl, sasl_plaintext or sasl_ssl; null: unknown.
principal                        string  User who logged in, after the broker agreed; null: none seen or not readable.
claimed_user                     string  User named in a login that was not seen to succeed; null: none.
sasl_mechanism                   string  SASL mechanism of the login; null: none seen.
software_name                    string  Client library, as its ApiVersions request says (KIP-511); null: not said.
software_version                 string  Version of the client library, as its ApiVersions request says; null: not
                                         said.
""")

EXCHANGES = _columns("""
exchange          int64   Key: a request with its reply, or a reply that lost its request; shown as 16 hex digits.
connection        int64   The connection it ran on.
client_address    string  IP address of the client.
client_port       int32   TCP port of the client.
broker_address    string  IP address of the broker.
broker_port       int32   TCP port of the broker.
api_key           int16   API key of the request; null for a reply without its request and for a bare SASL token.
api_name          string  Name of the API; null when the key is null, the key as text when we know no name.
api_version       int16   Version of the request; null where api_key is.
correlation_id    int32   Number that ties the reply to the request.
client_id         string  client.id in the request's header; null when absent or not readable.
principal         string  User of the connection at that moment; null: none seen or not readable.
request_time_ns   int64   First byte of the request, ns since the epoch; null for a reply without its request.
request_end_ns    int64   Last byte of the request, ns since the epoch; null when not captured.
response_time_ns  int64   First byte of the reply, ns since the epoch; null without a reply.
response_end_ns   int64   Last byte of the reply, ns since the epoch; null without a reply or when not captured.
request_bytes     int64   Size of the request in bytes, its length field of 4 included; null without a request.
response_bytes    int64   Size of the reply in bytes, its length field of 4 included; null without a reply.
request_file      int32   Input (captures.file) that holds the first byte of the request.
request_packet    int64   Packet that first carried the first byte of the request, numbered as Wireshark does.
response_file     int32   Input (captures.file) that holds the first byte of the reply.
response_packet   int64   Packet that first carried the first byte of the reply, numbered as Wireshark does.
status            string  answered, no_reply_expected, reply_lost, pending, closed, abandoned or orphan_reply.
kind              string  Which sort of this API's requests it is, so that waits by design stand apart; null: the API
                          has one sort.
request_decoded   string  full, header, truncated, malformed, unsupported or none: how far the request was read.
response_decoded  string  full, header, truncated, malformed, unsupported or none: how far the reply was read.
send_ns           int64   First to last byte of the request, ns; null when one of them is missing.
latency_ns        int64   Last byte of the request to first byte of the reply, ns; null without both.
receive_ns        int64   First to last byte of the reply, ns; null when one of them is missing.
total_ns          int64   First byte of the request to last byte of the reply, ns; null when one of them is missing.
service_ns        int64   What the broker spent on this request, without waits behind others, ns; null: unknown.
throttle_time_ms  int32   Throttle time that the reply tells, ms; null when it has no such field or was not read.
error_code        int16   First error code of the reply that is not 0; 0 when all are; null: no such field or not
                          read.
error_count       int32   Error codes of the reply that are not 0; null when the reply was not read.
topics            int32   Topics that the request names, or the reply when the request was not read; null: no such
                          field.
partitions        int32   Partitions that the request names, or the reply when the request was not read; null: no such
                          field.
acks              int16   Produce: 0, 1 or -1 (all in-sync replicas); null for other APIs.
max_wait_ms       int32   Fetch: how long the broker may wait for data, ms; null for other APIs.
min_bytes         int32   Fetch: how much data is worth an answer, bytes; null for other APIs.
isolation_level   int16   0 read uncommitted, 1 read committed; null when the request does not say.
session_id        int32   Fetch session (KIP-227), of the reply when there is one, else of the request; null: none.
session_epoch     int32   Epoch in the fetch session, of the request; null: none.
group_id          string  Group that the request names; null: none.
member_id         string  Member of the group, of the request, or of the reply that assigns it; null: none.
transactional_id  string  Transactional id that the request names; null: none.
replica_id        int32   Fetch: id of the follower that asks, below 0 for a consumer; null for other APIs.
""")

ENTRIES = _columns("""
exchange                int64   The exchange it is part of.
connection              int64   The connection of that exchange.
side                    string  request or response: which of the two messages names this partition.
topic                   string  Name of the topic; null when only its id is known.
topic_id                string  Id of the topic as Kafka prints it (22 characters); null when the message has none.
partition               int32   Number of the partition; null when the message names whole topics.
error_code              int16   Error code of this partition, 0 for none; null when the message has none.
offset                  int64   Fetch request: where to read; Produce reply: base offset; commits: the position; null:
                                none.
high_watermark          int64   Fetch reply: end of what is replicated; null elsewhere.
last_stable_offset      int64   Fetch reply: end of what no open transaction holds back; null elsewhere.
log_start_offset        int64   First offset that the partition still holds; null when the message does not say.
record_bytes            int64   Bytes of records for this partition; null when the message has no records field.
leader_epoch            int32   Epoch of the partition's leader; null when the message does not say.
forgotten               bool    True when a Fetch request takes the partition out of its session; null elsewhere.
preferred_read_replica  int32   Fetch reply: replica to read from, -1 for none; null elsewhere.
next_offset             int64   Offset after the last record of the reply; null without readable records.
timestamp_ms            int64   ListOffsets: the moment asked for or found, epoch ms, below 0 a marker; null
                                elsewhere.
""")

ERRORS = _columns("""
exchange    int64   The exchange whose message holds the code.
connection  int64   The connection of that exchange.
side        string  request or response: which of the two messages holds the code.
code        int16   The error code; never 0.
name        string  Apache's name of the code; null for a code that is not in our list.
retriable   bool    True when a client may simply try again, as Apache says; null for an unknown code.
expected    bool    True when this code belongs to normal operation of this API at that moment; null: not judged.
level       string  What failed: message, topic, partition, group, member, record, resource, ...
path        string  The field in its message, in Apache's names in snake_case.
entity      string  Name of what failed when it is no topic: a group, member, resource; null: none.
topic       string  Topic that failed; null when the code belongs to no topic or only its id is known.
topic_id    string  Id of that topic as Kafka prints it; null when the message has none.
partition   int32   Partition that failed; null when the code belongs to no partition.
""")

PROBLEMS = _columns("""
file        int32   Input (captures.file) it was found in; null: unknown.
packet      int64   Packet it was found at, numbered as Wireshark does; null: unknown.
connection  int64   Connection it was found on; null when it belongs to none.
exchange    int64   Exchange it was found in; null when it belongs to none.
time_ns     int64   When, ns since the epoch; null: unknown.
side        string  client or broker: who sent the bytes; null when they belong to no connection.
offset      int64   Byte offset in the input, stream or message, as the kind says; null: unknown.
kind        string  What sort of problem it is.
bytes_lost  int64   Bytes that could not be used; null: unknown.
detail      string  One sentence for a person.
""")

TABLES: dict[str, tuple[Column, ...]] = {
    "captures": CAPTURES,
    "connections": CONNECTIONS,
    "exchanges": EXCHANGES,
    "entries": ENTRIES,
    "errors": ERRORS,
    "problems": PROBLEMS,
}

ROW_OF = {
    "captures": "input file",
    "connections": "TCP connection",
    "exchanges": "request, or reply that has lost its request",
    "entries": "topic-partition inside a request or reply",
    "errors": "error code that is not 0, at any depth of a message",
    "problems": "thing that could not be read",
}


def arrow_schema(table: str) -> pyarrow.Schema:
    """The Arrow schema of a table; every field may be null. An unknown name is a KeyError."""
    import pyarrow

    return pyarrow.schema([(column.name, pyarrow.type_for_alias(column.type)) for column in TABLES[table]])


def docs() -> str:
    """The text of docs/tables.md; a test says when the file is stale."""
    parts = [
        "# Tables",
        "Written from `analyzer/tables.py` by `python -m analyzer.tables > docs/tables.md`; do not edit.",
        "One row is one thing. A moment is a 64-bit number of nanoseconds since the epoch (UTC); a name says its unit; "
        "null means that a value is not known or does not apply, never zero.",
    ]
    for table, columns in TABLES.items():
        rows = [f"| `{column.name}` | {column.type} | {column.sentence} |" for column in columns]
        header = [f"One row per {ROW_OF[table]}.", "", "| column | type | meaning |", "|---|---|---|"]
        parts += [f"## {table}", "\n".join(header + rows)]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    print(docs(), end="")
