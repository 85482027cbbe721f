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
SQL_TYPES = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "string": "VARCHAR",
    "bool": "BOOLEAN",
}


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
tap                   string  Name of the place where the packets were taken (--tap), else its number, from 1; inputs of
                              one place share it.
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
unread                string  What the packets without IP or TCP were, by name and number, the most frequent first: ARP,
                              DNS, tunnels that are not read; null when there are none.
duplicate_packets     int64   TCP packets that were captured twice (-i any, two interfaces or inputs): this is the second
                              copy, counted nowhere else but in tcp_packets.
dropped_packets       int64   Packets that the capturing host says it lost; null when the input says nothing.
snap_bytes            int64   Most bytes of a packet that the capture kept (its snap length; the least of several
                              interfaces); null when there is no limit.
first_time_ns         int64   Earliest packet, ns since the epoch; null when there is no packet.
last_time_ns          int64   Latest packet, ns since the epoch; null when there is no packet.
""")

CONNECTIONS = _columns("""
connection                       int64   Key: a TCP connection, one incarnation of its two addresses and ports.
tap                              string  Where its packets were taken. A connection that was captured at several points
                                         of its way has a row for each: TAP.2 is a second interface, TAP.1/2 a second
                                         point on one interface.
cluster                          string  Kafka cluster id that a Metadata or DescribeCluster reply told, or a name of
                                         ours (advertised addresses that belong together); null: unknown.
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
opening                          string  What came before Kafka in the stream: proxy_v1, proxy_v2 (PROXY protocol), socks4,
                                         socks5, http_connect, the last one of several; null: nothing, or its beginning is
                                         not in the capture.
proxied_for                      string  IP address that a PROXY header names: for whom the client address, a load
                                         balancer, made the connection; null without.
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
client_cut_bytes                 int64   Of those of the client, bytes that the capture's snap length cut off.
broker_cut_bytes                 int64   Of those of the broker, bytes that the capture's snap length cut off.
client_conflicts                 int64   Segments of the client that repeat bytes with another content; the first seen
                                         counts.
broker_conflicts                 int64   Segments of the broker that repeat bytes with another content; the first seen
                                         counts.
client_damaged                   int64   Segments of the client with a wrong TCP checksum that the broker did not take: not
                                         read.
broker_damaged                   int64   Segments of the broker with a wrong TCP checksum that the client did not take: not
                                         read.
client_zero_windows              int64   Segments in which the client says that it can take no more bytes.
broker_zero_windows              int64   Segments in which the broker says that it can take no more bytes.
rtt_ns                           int64   SYN to the last ACK of the handshake, ns; null when the handshake was not
                                         seen whole.
syn_ack_ns                       int64   SYN to SYN+ACK, ns: the way from the capture to the broker and back; null
                                         when not seen.
ack_ns                           int64   SYN+ACK to ACK, ns: the way from the capture to the client and back; null
                                         when not seen.
capture_side                     string  Where the packets were taken, by the handshakes between the two hosts: client,
                                         broker or between; null: not told by them, or both ends are on one host.
client_stream_bytes              int64   Bytes of the client's stream in the capture, each counted once: framed +
                                         skipped + TLS overhead.
broker_stream_bytes              int64   Bytes of the broker's stream in the capture, each counted once: framed +
                                         skipped + TLS overhead.
client_framed_bytes              int64   Of those, bytes that belong to a Kafka request; 0 on other connections.
broker_framed_bytes              int64   Of those, bytes that belong to a Kafka reply; 0 on other connections.
client_skipped_sync_bytes        int64   Client bytes passed over in search of the next request.
broker_skipped_sync_bytes        int64   Broker bytes passed over in search of the next reply.
client_skipped_malformed_bytes   int64   Client bytes that are no request: an impossible length or header.
broker_skipped_malformed_bytes   int64   Broker bytes that are no reply: an impossible length or header.
client_skipped_unfinished_bytes  int64   Client bytes of requests whose other bytes are not in the capture.
broker_skipped_unfinished_bytes  int64   Broker bytes of replies whose other bytes are not in the capture.
client_skipped_foreign_bytes     int64   Client bytes of a stream that turned out to be something else than Kafka, and of
                                         what came before Kafka.
broker_skipped_foreign_bytes     int64   Broker bytes of a stream that turned out to be something else than Kafka, and of
                                         what came before Kafka.
client_skipped_encrypted_bytes   int64   Client bytes of TLS that could not be decrypted; 0 without TLS.
broker_skipped_encrypted_bytes   int64   Broker bytes of TLS that could not be decrypted; 0 without TLS.
client_tls_overhead_bytes        int64   Client bytes that TLS adds and that were read: handshake, record headers,
                                         authentication tags.
broker_tls_overhead_bytes        int64   Broker bytes that TLS adds and that were read: handshake, record headers,
                                         authentication tags.
requests                         int64   Kafka requests seen.
replies                          int64   Kafka replies seen, those without their request included.
tls                              bool    True when the content is TLS, decrypted or not.
tls_version                      string  Version that the TLS handshake agreed on: TLSv1.2, TLSv1.3; null without TLS or
                                         when the server's hello was not seen.
tls_cipher                       string  Cipher suite of the TLS session, IANA's name; null where tls_version is.
tls_server_name                  string  Server name that the client asked for (SNI); null: none, or its hello was not
                                         seen.
tls_alpn                         string  Protocols that the client offered in the TLS handshake (ALPN), comma separated;
                                         null: none.
tls_decrypted                    bool    True when TLS was decrypted with the secrets given; null without TLS.
tls_reason                       string  Why it was not decrypted: no_keys, no_handshake (begun before the capture, or
                                         lost), unsupported (cipher or version), wrong_keys; null when it was, and
                                         without TLS.
tls_handshake                    string  finished; failed: an alert, or an end before any content; null without TLS,
                                         or when it is not known (begun before the capture, lost bytes, still open).
tls_alert                        string  Alert that ended the TLS handshake (RFC 8446): certificate_expired, unknown_ca,
                                         ...; encrypted: there was one, which nobody but its reader knows; null: none.
tls_alert_from                   string  client or broker: who sent tls_alert; null: none.
tls_certificate                  string  Subject of the broker's certificate (RFC 4514); null where it is not in clear
                                         (TLS 1.3) or was not seen.
tls_valid_from_ns                int64   From when on the broker's certificate is valid; null where tls_certificate is.
tls_valid_until_ns               int64   Until when the broker's certificate is valid; null where tls_certificate is.
security                         string  plaintext, ssl, sasl_plaintext or sasl_ssl; null: unknown.
principal                        string  User who logged in, after the broker agreed; null: none seen or not readable.
claimed_user                     string  User named in a login that was not seen to succeed; null: none.
sasl_mechanism                   string  SASL mechanism of the login; null: none seen.
software_name                    string  Client library, as its ApiVersions request says (KIP-511); null: not said.
software_version                 string  Version of the client library, as its ApiVersions request says; null: not
                                         said.
views                            int64   Points of its way at which it was captured without a name (--tap): the rows are those
                                         of one of them, which saw most; of equal ones it is the one nearest to the client.
view_delay_ns                    int64   Time between the first and the last of these points, one way, ns: half of what
                                         requests take from one to the other and replies back; null with one view, and
                                         where no exchange was seen at both.
client_wscale                    int32   Window scale that the client offered in its SYN (bits, RFC 7323); null: none, or its
                                         SYN was not seen.
broker_wscale                    int32   Window scale that the broker offered in its SYN; null: none, or its SYN was not seen.
mss                              int32   The lesser of the two segment sizes (MSS) that the SYNs offered, bytes; null: no SYN
                                         was seen.
client_max_unacked_bytes         int64   Most bytes of the client that were on the way and not acknowledged, as seen at the
                                         capture.
broker_max_unacked_bytes         int64   Most bytes of the broker that were on the way and not acknowledged, as seen at the
                                         capture.
to_broker_least_ns               int64   Round trip from the capture to the broker, the shortest: client bytes, or the SYN, to
                                         their ACK, ns; null when none was seen.
to_broker_p50_ns                 int64   The same by ACKs that the broker sent at once (for two full segments, or behind a
                                         hole), less their own time in queues: median, to within a third, ns; null without such.
to_broker_p95_ns                 int64   The same, 95th percentile, ns; null without such.
to_broker_acks                   int64   How many such ACKs the broker sent.
to_client_least_ns               int64   Round trip from the capture to the client, the shortest: broker bytes, or the SYN+ACK,
                                         to their ACK, ns; null when none was seen.
to_client_p50_ns                 int64   The same by ACKs that the client sent at once: median, to within a third, ns; null
                                         without such.
to_client_p95_ns                 int64   The same, 95th percentile, ns; null without such.
to_client_acks                   int64   How many such ACKs the client sent.
client_data_packets              int64   Packets of the client with payload, repeated ones included.
broker_data_packets              int64   Packets of the broker with payload, repeated ones included.
client_filled                    int64   Of these, such of the client as filled a hole of the capture later: lost before it.
broker_filled                    int64   Of these, such of the broker as filled a hole of the capture later: lost before it.
client_missing_ids               int64   Packets of the client before which IP ids are missing: some were lost before the capture;
                                         null where its ids tell nothing (IPv6, hosts that do not count them).
broker_missing_ids               int64   Packets of the broker before which IP ids are missing; null as above.
client_full_windows              int64   Times that the client waited for more than 5 ms for an ACK, as the broker's window was
                                         full; 0 too where no SYN told the window scale.
broker_full_windows              int64   Times that the broker waited for more than 5 ms for an ACK, as the client's window was
                                         full; 0 too where no SYN told the window scale.
client_full_window_ns            int64   How long the client waited so, ns.
broker_full_window_ns            int64   How long the broker waited so, ns.
client_held_small                int64   Small packets of the client that left within 1 ms of an ACK that the broker had delayed
                                         for 40 ms (Nagle's rule).
broker_held_small                int64   Small packets of the broker that left within 1 ms of an ACK that the client had delayed
                                         for 40 ms (Nagle's rule).
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
acks_inferred     bool    True for a Produce whose acks the snap length cut off and that got no reply though a later
                          request did and no reply bytes are missing: acks must have been 0.
max_wait_ms       int32   Fetch: how long the broker may wait for data, ms; null for other APIs.
min_bytes         int32   Fetch: how much data is worth an answer, bytes; null for other APIs.
isolation_level   int16   0 read uncommitted, 1 read committed; null when the request does not say.
session_id        int32   Fetch session (KIP-227), of the reply when there is one, else of the request; null: none.
session_epoch     int32   Epoch in the fetch session, of the request; null: none.
group_id          string  Group that the request names; null: none.
member_id         string  Member of the group, of the request, or of the reply that assigns it; null: none.
transactional_id  string  Transactional id that the request names; null: none.
replica_id        int32   Fetch: id of the follower that asks, below 0 for a consumer; null for other APIs.
role              string  Role of its connection (connections.role); null: unknown.
broker_id         int32   Node id of the broker that was asked; null until a reply tells which node has this address.
generation_id     int32   Generation or member epoch that the request, or else the reply, tells; null: none.
timeout_ms        int32   How long the broker may take, as the request says, ms; null: no such field.
record_bytes      int64   Bytes of records that the exchange carried, both ways; null: no such field or not read.
queue_ns          int64   Part of latency_ns that the request waited for the replies of earlier requests of its
                          connection, ns; null: unknown.
muted_ns          int64   Part of latency_ns that the request waited for the end of a throttle mute, ns; null: unknown.
inner_api_key     int16   Envelope: API key of the request inside; null for other APIs and when it was not read.
inner_client_id   string  Envelope: client.id of the request inside; null for other APIs and when it was not read.
broker_min_ns     int64   Time in the broker's host, at least, ns: from when the request had arrived, the reply before it had left
                          and no throttle mute ran, to when the reply left (less the throttle time that brokers before 2.0 hold
                          it for); null: unknown.
broker_max_ns     int64   The same, at most, ns; null: unknown.
broker_ns         int64   The same where both are near each other, within 2 ms or a tenth of it, ns; null: unknown, and
                          broker_evidence says why.
broker_evidence   string  How it is known when the broker began: beside (the capture was taken there), ack (an ACK that was
                          sent at once), idle (nothing else was on the way), reply (the one before left), mute (a throttle mute
                          ended); or why broker_ns is not: held (the reply may have waited in its own host), large (it took
                          long to send), no_timestamps (packets may have been in queues for long, and do not say so), clock
                          (timestamps contradict the order of packets), wide (the capture leaves too much open); null
                          without a reply, and after a lost one.
throttle_ns       int64   Part of latency_ns that a throttle took, ns: muted_ns, and of a reply that a broker before 2.0 held
                          back its throttle time; null: unknown.
there_ns          int64   The way of the request's last byte, from the client's host to the broker's, ns: the time in queues
                          before the capture, and where that was not taken beside the broker the shortest round trip
                          from there to the broker and back, and queues; null: unknown, or it was sent again.
back_ns           int64   The time of the reply's first byte in queues between the broker's host and the capture, ns; null:
                          unknown, or it was sent again; without a reply too.
""")

FETCH_POSITIONS = _columns("""
exchange              int64   The Fetch.
connection            int64   Its connection.
cluster               string  Kafka cluster id, or a name of ours for a cluster whose id was not seen.
time_ns               int64   First byte of the reply, else of the request, ns since the epoch.
topic                 string  Name of the topic; null when only its id is known.
topic_id              string  Id of the topic; null when the message has none.
partition             int32   Number of the partition.
fetch_offset          int64   Where the client reads, as its session stands at this request; null: unknown.
end_offset            int64   End that this client can read, known before the request: last stable offset for
                              read_committed, else high watermark; null: unknown.
new_end_offset        int64   The same end as this reply tells it; null when the reply does not name the partition.
next_offset           int64   Where the client reads next, after this reply; null: unknown.
record_bytes          int64   Bytes of records in the reply; null when the reply does not name the partition.
lag                   int64   Records between next_offset and the newest known end, 0 at least; null: unknown.
behind                bool    True when fetch_offset < end_offset: records were waiting; null: unknown.
partial               bool    True when the session began before the capture, so that partitions of it may be unknown.
""")

MUTES = _columns("""
exchange          int64   The exchange whose reply throttles.
connection        int64   The connection that is muted.
begin_ns          int64   First byte of that reply, ns since the epoch.
end_ns            int64   begin_ns + throttle time, cut at the end of the connection, ns since the epoch.
throttle_time_ms  int32   Throttle time of the reply, ms.
applies           bool    True when the broker mutes (2.0 and newer); false for older ones, which spent the time before
                          the reply; null when no offer of versions was seen.
held_ns           int64   Time in the window with a request of this connection waiting, ns; null where applies is false.
sent_inside       int64   Requests sent inside the window (5 ms tolerance at its end); null where applies is false.
resumed_ns        int64   From the window's end to the next request of the connection, ns, 0 when that came up to 5 ms
                          before it; null: none came later, or applies is false.
""")

BATCHES = _columns("""
exchange              int64   The exchange that carries it.
connection            int64   The connection of that exchange.
side                  string  request (produced) or response (fetched).
topic                 string  Name of the topic; null when only its id is known.
topic_id              string  Id of the topic; null when the message has none.
partition             int32   Number of the partition.
position              int32   Place of the batch among those of its partition in this message, from 0.
base_offset           int64   First offset; in a Produce request relative, as sent.
last_offset           int64   Last offset, base_offset + last_offset_delta; null when it is not readable.
stored_base_offset    int64   First offset in the log: of a fetched batch its own, of a produced one the reply's base offset
                              plus what earlier batches of the partition take; null: unknown (acks=0, error, no reply).
stored_last_offset    int64   Last offset in the log, in the same way.
magic                 int8    Format: 0, 1 (message sets) or 2 (record batches).
codec                 string  none, gzip, snappy, lz4 or zstd; null when unknown.
records               int32   Records in it; of a compressed message set those inside; null when not readable.
bytes                 int64   Size in bytes as on the wire, header included.
uncompressed_bytes    int64   Size of the records after decompression, bytes; null when they were not opened.
unopened              string  Why a compressed batch was not opened: budget (256 MiB are decompressed in a run, which were used up
                              by it or before) or unreadable; null when it was, or is not compressed.
first_timestamp_ms    int64   Base timestamp, epoch ms; null for magic 0.
max_timestamp_ms      int64   Greatest timestamp, epoch ms; null for magic 0.
timestamp_type        string  create or log_append; null for magic 0.
producer_id           int64   Producer id; null when there is none (-1) or the format has none.
producer_epoch        int16   Producer epoch; null with producer_id.
base_sequence         int32   Sequence number of the first record; null with producer_id.
transactional         bool    True when it is part of a transaction; null for magic 0 and 1.
control               bool    True when it holds a control record; null for magic 0 and 1.
control_type          string  abort, commit, or another control record's name; null for data and when not readable.
crc                   int64   The checksum in its header, unsigned; null when not captured.
crc_ok                bool    True when the checksum fits; null when it was not computed or bytes are missing.
""")

GROUP_EVENTS = _columns("""
exchange             int64   The exchange that tells it.
connection           int64   The connection of that exchange.
cluster              string  Kafka cluster id, or a name of ours for a cluster whose id was not seen.
time_ns              int64   Last byte of the reply, or of the request when there is no reply, ns since the epoch.
begin_ns             int64   First byte of the request, ns since the epoch.
group_id             string  The group; null when it could not be read.
group_type           string  classic, consumer (KIP-848), share or streams.
event                string  join, sync, leave, heartbeat or commit. Heartbeats that say nothing new leave no row.
client_id            string  client.id of the request.
client_address       string  Address of the client.
member_id            string  The member, as the reply assigns it or the request says; null: not yet assigned.
instance_id          string  Static member's group.instance.id; null: dynamic member.
generation           int32   Classic: generation id. Others: member epoch of the reply; null: not told.
sent_generation      int32   Generation or member epoch that the request says; null: none.
leader               string  Join: member id of the leader that the reply names; null elsewhere.
members              int32   Join reply to the leader: members in the group; null elsewhere.
protocol             string  Assignor or protocol name, of the reply, else the first that the request offers; null: none.
reason               string  Why the client joins or leaves, in its own words (KIP-800); null: not said.
topics               string  Topics subscribed to, comma separated, sorted; null: unchanged or not told.
assigned_partitions  int32   Partitions that the reply assigns to the member; null: unchanged or not told.
session_timeout_ms   int32   Join request: session timeout, ms; null elsewhere.
rebalance_timeout_ms int32   Join request, or consumer heartbeat: rebalance timeout, ms; null: not told.
error_code           int16   Error code of the reply; null without a reply.
""")

ASSIGNMENTS = _columns("""
exchange    int64   The exchange that tells it.
connection  int64   The connection of that exchange.
cluster     string  Kafka cluster id, or a name of ours for a cluster whose id was not seen.
time_ns     int64   When the member was told: last byte of the reply, ns since the epoch.
group_id    string  The group.
group_type  string  classic, consumer, share or streams.
member_id   string  The member that holds the partition from now on.
client_id   string  client.id of that member.
client_address string Address of that member.
generation  int32   Generation or member epoch of the assignment.
topic       string  Name of the topic; null when only its id is known.
topic_id    string  Id of the topic; null when the message has none.
partition   int32   Number of the partition.
""")

TRANSACTION_EVENTS = _columns("""
exchange             int64   The exchange that tells it.
connection           int64   The connection of that exchange.
cluster              string  Kafka cluster id, or a name of ours for a cluster whose id was not seen.
time_ns              int64   Last byte of the reply, or of the request when there is no reply, ns since the epoch.
begin_ns             int64   First byte of the request, ns since the epoch.
event                string  init, add_partitions, add_offsets, commit_offsets, end, or verify (AddPartitionsToTxn that
                             only asks).
client_id            string  client.id of the request.
transactional_id     string  The transactional id; null for an idempotent producer without one.
producer_id          int64   Producer id, of the reply (init), else of the request; null: none.
producer_epoch       int16   Producer epoch, in the same way; null: none.
new_producer_epoch   int16   Epoch that the reply of an EndTxn (v5 and newer) hands out; null elsewhere.
committed            bool    end: true for a commit, false for an abort; null elsewhere.
group_id             string  add_offsets, commit_offsets: the group; null elsewhere.
transaction_timeout_ms int32 init: the transaction timeout, ms; null elsewhere.
error_code           int16   Error code of the reply; null without a reply.
""")

LOGINS = _columns("""
exchange        int64   The exchange that ended the login (the last SaslAuthenticate or token), else its first.
connection      int64   The connection.
time_ns         int64   When it ended, ns since the epoch.
sasl_mechanism  string  Mechanism; null: unknown.
claimed_user    string  User that the client named: authcid of PLAIN, user of SCRAM, subject of OAUTHBEARER; null: not
                        readable (GSSAPI and others).
token_id        string  Delegation token's id when the login used one (tokenauth=true); null: none.
principal       string  Name after success: User:<user>, the token's owner, or token:<id>; null: failed or unknown.
outcome         string  ok, failed or open (the capture holds no end of it).
error_code      int16   Error code of the last reply; null: none was seen.
again           bool    True for a login in mid-connection (re-authentication, KIP-368).
""")

TOPIC_IDS = _columns("""
cluster        string  Kafka cluster id, or a name of ours for a cluster whose id was not seen.
topic_id       string  Id of the topic as Kafka prints it.
topic          string  Its name; fixed for an id.
first_time_ns  int64   First message that told it, ns since the epoch.
last_time_ns   int64   Last message that told it, ns since the epoch.
""")

BROKERS = _columns("""
cluster        string  Kafka cluster id, or a name of ours for a cluster whose id was not seen.
broker_id      int32   Node id.
host           string  Host name or address that the cluster advertises.
port           int32   Port that the cluster advertises.
rack           string  Rack; null: none told.
controller     bool    True when some reply named it as the controller; false when replies named others; null: not told.
first_time_ns  int64   First reply that named it, ns since the epoch.
last_time_ns   int64   Last reply that named it, ns since the epoch.
""")

OFFERED_VERSIONS = _columns("""
exchange     int64   The ApiVersions exchange.
connection   int64   Its connection.
cluster      string  Kafka cluster id, or a name of ours for a cluster whose id was not seen.
time_ns      int64   First byte of the reply, ns since the epoch.
api_key      int16   API key that the broker offers.
min_version  int16   Oldest version that it offers.
max_version  int16   Newest version that it offers.
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
    "fetch_positions": FETCH_POSITIONS,
    "mutes": MUTES,
    "batches": BATCHES,
    "group_events": GROUP_EVENTS,
    "assignments": ASSIGNMENTS,
    "transaction_events": TRANSACTION_EVENTS,
    "logins": LOGINS,
    "topic_ids": TOPIC_IDS,
    "brokers": BROKERS,
    "offered_versions": OFFERED_VERSIONS,
}

ROW_OF = {
    "captures": "input file",
    "connections": "TCP connection",
    "exchanges": "request, or reply that has lost its request",
    "entries": "topic-partition inside a request or reply",
    "errors": "error code that is not 0, at any depth of a message",
    "problems": "thing that could not be read",
    "fetch_positions": "partition that a consumer's Fetch reads, its fetch session rebuilt",
    "mutes": "reply that throttles, with the time in which it keeps its connection mute",
    "batches": "record batch or legacy message set (outermost message)",
    "group_events": "step in the life of a group",
    "assignments": "partition that a reply assigns to a member of a group",
    "transaction_events": "request about a transaction or a producer id",
    "logins": "SASL login",
    "topic_ids": "topic id and its name",
    "brokers": "broker that a reply names",
    "offered_versions": "API that a broker offers in an ApiVersions reply",
}


def is_key(column: str) -> bool:
    """True for a column, of a table, metric or finding, that holds the key of an exchange or connection."""
    return column in ("exchange", "connection") or column.endswith("_exchange") or column.startswith("evidence")


def arrow_schema(table: str) -> pyarrow.Schema:
    """The Arrow schema of a table; every field may be null. An unknown name is a KeyError."""
    import pyarrow

    return pyarrow.schema([(column.name, pyarrow.type_for_alias(column.type)) for column in TABLES[table]])


def docs() -> str:
    """The text of docs/tables.md; a test says when the file is stale."""
    parts = [
        "# Tables",
        "Written from `analyzer/base/tables.py` by `python -m analyzer.base.tables > docs/tables.md`; do not edit.",
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
