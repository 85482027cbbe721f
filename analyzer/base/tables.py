"""The tables that kanalyze makes: names, types and meaning of every column. THE contract of the project.

Rules that hold in every table: a name says its unit (`_ns`, `_ms`, `_bytes`); a moment is int64 ns since the epoch,
UTC; null means "not known" or "does not apply", never 0, and the sentence says when; `exchange` and `connection` are
the keys that join tables. One line is one column: name, type, sentence (unit, meaning of null); a line that begins
with space continues the sentence. To add a column, add a line; docs/tables.md is written from here. Nothing heavy is
imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from analyzer.base.wait_kinds import BROKER, KINDS, MIXED, WAIT

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
tap                   string  Name of the capture point (--tap), else its number, from 1; inputs of one capture point
                              share it.
format                string  pcap or pcapng, with the compression when there is one: pcap.zst; or request log.
bytes                 int64   Size of the capture in bytes, uncompressed, as far as it was read.
cut                   bool    True when the input ends in the middle of a packet; the packets before count.
link_types            string  Link types of the packets, by name, comma separated; null when there is no packet.
packets               int64   Packets in the input, of every kind; the sum of the seven columns that follow.
tcp_packets           int64   Packets with a TCP segment.
not_ip_packets        int64   Packets that carry no IP: ARP, LLDP and the like.
not_tcp_packets       int64   IP packets that carry no TCP.
fragment_packets      int64   IP fragments that were not reassembled.
cut_packets           int64   Packets truncated within their headers.
malformed_packets     int64   Packets whose headers contradict themselves.
unknown_link_packets  int64   Packets of a link type that is not supported.
unread                string  Packets without IP or TCP, by name and number, the most frequent first: ARP, DNS,
                              tunnels that are not decoded; null when there are none.
duplicate_packets     int64   TCP packets that were captured twice (-i any, two interfaces or inputs): this is the second
                              copy, counted nowhere else but in tcp_packets.
dropped_packets       int64   Packets that the capturing host reports as dropped; null when the input does not say.
snap_bytes            int64   Most bytes of a packet that the capture kept (its snap length; the smallest of several
                              interfaces); null when there is no limit.
first_time_ns         int64   Earliest packet, ns since the epoch; null when there is no packet.
last_time_ns          int64   Latest packet, ns since the epoch; null when there is no packet.
""")

CONNECTIONS = _columns("""
connection                       int64   Key: a TCP connection; reused addresses and ports are a new one.
tap                              string  Its capture point. A connection that was captured at several points of its
                                         path has a row for each: TAP.2 is a second interface, TAP.1/2 a second
                                         point on one interface.
cluster                          string  Kafka cluster id from a Metadata or DescribeCluster reply, or from an ApiVersions request
                                         that the broker accepted (KIP-1242), or a name given by kanalyze (advertised addresses
                                         that belong together); null: unknown.
role                             string  client, follower, raft, controller, txn_coordinator, share_coordinator or
                                         forwarding; null: unknown.
is_kafka                         bool    True when its content is Kafka; null when too little was seen to tell.
protocol                         string  What the content looks like: kafka, tls, other; null when no payload was
                                         seen, or none behind an opening.
client_address                   string  IP address of the side that sends requests (Kafka), else of the side that opened it.
client_port                      int32   TCP port of that side.
broker_address                   string  IP address of the other side.
broker_port                      int32   TCP port of the other side.
broker_id                        int32   Node id of the broker; null unless a reply says which node has this address.
opening                          string  Protocol before Kafka in the stream: proxy_v1, proxy_v2 (PROXY protocol), socks4,
                                         socks5, http_connect, the last one of several; null: nothing, or its beginning is
                                         not in the capture.
proxied_for                      string  IP address from a PROXY header: the client for which client_address, a load
                                         balancer, opened the connection; null without one.
broker_speaks                    string  What the first bytes of the broker's side are instead of Kafka, where they are text: http,
                                         ssh, text (anything else); null: they are none, or were not seen.
client_begin                     string  The client's first bytes where they are no Kafka, at most 4, in hex; null: they were read
                                         as Kafka or TLS, or were not seen.
broker_begin                     string  The same of the broker; also where nothing was read since the client's bytes are no Kafka.
first_time_ns                    int64   First packet seen, ns since the epoch.
last_time_ns                     int64   Last packet seen, ns since the epoch.
seen_from                        string  syn: its beginning is in the capture; midstream: it is not.
one_way                          string  client or broker: only the packets of this side are in the capture, though the other
                                         side sent some; null: both are, or it is not known.
close                            string  fin, rst, or none when its end is not in the capture.
closed_by                        string  client or broker: who sent the first FIN or RST, and so ended it; null: neither was
                                         seen, or the packets of one side alone are in the capture.
close_time_ns                    int64   That packet, ns since the epoch; the other side may have gone on; null where closed_by is.
client_packets                   int64   TCP packets that the client sent, retransmissions included.
broker_packets                   int64   TCP packets that the broker sent, retransmissions included.
client_bytes                     int64   Payload bytes that the client sent, as on the wire, retransmissions included.
broker_bytes                     int64   Payload bytes that the broker sent, as on the wire, retransmissions included.
client_wire_bytes                int64   Bytes of the IP packets that the client sent, headers, empty ACKs and retransmissions
                                         included; in a tunnel those of the inner packets.
broker_wire_bytes                int64   Bytes of the IP packets that the broker sent, likewise.
client_retransmitted             int64   Retransmitted segments of the client: only bytes seen before, and no reset.
broker_retransmitted             int64   Retransmitted segments of the broker: only bytes seen before, and no reset.
client_reordered                 int64   Segments of the client that were captured before an earlier one.
broker_reordered                 int64   Segments of the broker that were captured before an earlier one.
client_gaps                      int64   Gaps in the client's stream: bytes that are not in the capture.
broker_gaps                      int64   Gaps in the broker's stream: bytes that are not in the capture.
client_gap_bytes                 int64   Bytes in the gaps of the client's stream.
broker_gap_bytes                 int64   Bytes in the gaps of the broker's stream.
client_cut_bytes                 int64   Of those of the client, bytes that the capture's snap length cut off.
broker_cut_bytes                 int64   Of those of the broker, bytes that the capture's snap length cut off.
client_conflicts                 int64   Segments of the client that repeat bytes with different content; the first seen
                                         counts.
broker_conflicts                 int64   Segments of the broker that repeat bytes with different content; the first seen
                                         counts.
client_damaged                   int64   Segments of the client with a wrong TCP checksum that the broker did not accept: not
                                         read.
broker_damaged                   int64   Segments of the broker with a wrong TCP checksum that the client did not accept: not
                                         read.
client_zero_windows              int64   Segments in which the client announces a zero receive window.
broker_zero_windows              int64   Segments in which the broker announces a zero receive window.
rtt_ns                           int64   SYN to the last ACK of the handshake, ns; null when the handshake was not
                                         seen whole.
syn_ack_ns                       int64   SYN to SYN+ACK, ns: the round trip from the capture to the broker; null
                                         when not seen.
ack_ns                           int64   SYN+ACK to ACK, ns: the round trip from the capture to the client; null
                                         when not seen.
capture_side                     string  Where the packets were captured, by the handshakes between the two hosts: client,
                                         broker or between; null: unknown, or both ends are on one host.
client_stream_bytes              int64   Bytes of the client's stream in the capture, each counted once: framed +
                                         skipped + TLS overhead.
broker_stream_bytes              int64   Bytes of the broker's stream in the capture, each counted once: framed +
                                         skipped + TLS overhead.
client_framed_bytes              int64   Of those, bytes that belong to a Kafka request; 0 on other connections.
broker_framed_bytes              int64   Of those, bytes that belong to a Kafka reply; 0 on other connections.
client_skipped_sync_bytes        int64   Client bytes skipped in search of the next request.
broker_skipped_sync_bytes        int64   Broker bytes skipped in search of the next reply.
client_skipped_malformed_bytes   int64   Client bytes that are not a request: an invalid length or header.
broker_skipped_malformed_bytes   int64   Broker bytes that are not a reply: an invalid length or header.
client_skipped_unfinished_bytes  int64   Client bytes of requests that are not completely in the capture.
broker_skipped_unfinished_bytes  int64   Broker bytes of replies that are not completely in the capture.
client_skipped_foreign_bytes     int64   Client bytes of a stream that turned out not to be Kafka, and of the protocol
                                         before Kafka.
broker_skipped_foreign_bytes     int64   Broker bytes of a stream that turned out not to be Kafka, and of the protocol
                                         before Kafka.
client_opening_bytes             int64   Of those foreign bytes, the client's part of a protocol before Kafka (`opening`).
broker_opening_bytes             int64   Of those foreign bytes, the broker's part of a protocol before Kafka.
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
                                         when the ServerHello was not seen.
tls_cipher                       string  Cipher suite of the TLS session, IANA name; null where tls_version is.
tls_server_name                  string  Server name that the client requested (SNI); null: none, or the ClientHello
                                         was not seen.
tls_alpn                         string  Protocols that the client offered in the TLS handshake (ALPN), comma separated;
                                         null: none.
tls_decrypted                    bool    True when TLS was decrypted with the secrets given; null without TLS.
tls_reason                       string  Why it was not decrypted: no_keys, no_handshake (begun before the capture, or
                                         lost), unsupported (cipher or version), wrong_keys; null when it was, and
                                         without TLS.
tls_handshake                    string  finished; failed: an alert, or an end before any content; null without TLS,
                                         or when it is not known (begun before the capture, lost bytes, still open).
tls_alert                        string  Alert that ended the TLS handshake (RFC 8446): certificate_expired, unknown_ca,
                                         ...; encrypted: there was one, but it is encrypted; null: none.
tls_alert_from                   string  client or broker: who sent tls_alert; null: none.
tls_certificate                  string  Subject of the broker's certificate (RFC 4514); null where it is encrypted
                                         (TLS 1.3) or was not seen.
tls_valid_from_ns                int64   Time from which the broker's certificate is valid; null where tls_certificate is.
tls_valid_until_ns               int64   Time until which the broker's certificate is valid; null where tls_certificate is.
security                         string  plaintext, ssl, sasl_plaintext or sasl_ssl; null: unknown.
principal                        string  User after a successful login; null: none seen or not readable.
claimed_user                     string  User named in a login without a success in the capture; null: none.
sasl_mechanism                   string  SASL mechanism of the login; null: none seen.
software_name                    string  Client library, from its ApiVersions request (KIP-511); null: not sent.
software_version                 string  Version of the client library, from its ApiVersions request; null: not
                                         sent.
asked_cluster_id                 string  Id of the cluster that the client means to reach, from its ApiVersions request (KIP-1242,
                                         version 5 on); null: it named none, as on a first connection.
asked_node_id                    int32   Node id of the broker that it means, from the same request; null: it named none.
views                            int64   Unnamed capture points (--tap) of its path, each side of a translation of addresses among
                                         them: the rows are those of the one that saw most; among equal ones, of the one
                                         nearest to the client.
view_delay_ns                    int64   Time between the first and the last of these points, one way, ns: half of what
                                         requests take from one to the other and replies back; null with one view, and
                                         where no exchange was seen at both.
translated_client                string  Other addresses of the client, where the connection was also captured behind a translation
                                         of addresses (the rows are those of the leg nearest to the client): "address:port",
                                         separated by ", "; null: none.
translated_broker                string  Other addresses of the broker, likewise; null: none.
forwarded_from                   int64   The connection whose requests a proxy carried on over this one (`forwards` has them,
                                         `exchanges` has them as the proxy received them); null: none.
client_wscale                    int32   Window scale that the client offered in its SYN (bits, RFC 7323); null: none, or its
                                         SYN was not seen.
broker_wscale                    int32   Window scale that the broker offered in its SYN; null: none, or its SYN was not seen.
mss                              int32   The smaller of the two segment sizes (MSS) that the SYNs offered, bytes; null: no SYN
                                         was seen.
client_max_unacked_bytes         int64   Most bytes of the client in flight (sent but not acknowledged), as seen at the
                                         capture.
broker_max_unacked_bytes         int64   Most bytes of the broker in flight (sent but not acknowledged), as seen at the
                                         capture.
to_broker_least_ns               int64   Round trip from the capture to the broker, the shortest: client bytes, or the SYN, to
                                         their ACK, ns; null when none was seen.
to_broker_p50_ns                 int64   The same by ACKs that the broker sent at once (for two full segments, or after a
                                         gap), less their own time in queues: median, to within a third, ns; null: there was none.
to_broker_p95_ns                 int64   The same, 95th percentile, ns; null: there was none.
to_broker_acks                   int64   How many such ACKs the broker sent.
to_client_least_ns               int64   Round trip from the capture to the client, the shortest: broker bytes, or the SYN+ACK,
                                         to their ACK, ns; null when none was seen.
to_client_p50_ns                 int64   The same by ACKs that the client sent at once: median, to within a third, ns; null
                                         without such.
to_client_p95_ns                 int64   The same, 95th percentile, ns; null: there was none.
to_client_acks                   int64   How many such ACKs the client sent.
client_data_packets              int64   Packets of the client with payload, retransmissions included.
broker_data_packets              int64   Packets of the broker with payload, retransmissions included.
client_filled                    int64   Of these, packets sent again that filled a gap: lost before the capture.
broker_filled                    int64   Of these, packets sent again that filled a gap: lost before the capture.
client_missing_ids               int64   Packets of the client before which IP ids are missing: some were lost before the capture;
                                         null where its ids are of no use (IPv6, hosts that do not number packets).
broker_missing_ids               int64   Packets of the broker before which IP ids are missing; null as above.
client_full_windows              int64   Waits of the client for more than 5 ms for an ACK because the broker's window was
                                         full; also 0 where the window scale is unknown (no SYN).
broker_full_windows              int64   Waits of the broker for more than 5 ms for an ACK because the client's window was
                                         full; also 0 where the window scale is unknown (no SYN).
client_full_window_ns            int64   Sum of these waits of the client, ns.
broker_full_window_ns            int64   Sum of these waits of the broker, ns.
client_held_small                int64   Small packets of the client that left within 1 ms of an ACK that the broker had delayed
                                         for 40 ms (Nagle's algorithm).
broker_held_small                int64   Small packets of the broker that left within 1 ms of an ACK that the client had delayed
                                         for 40 ms (Nagle's algorithm).
client_needless                  int64   Of client_retransmitted, segments whose bytes the broker said that it had already (D-SACK,
                                         RFC 2883): nothing was lost, or an ACK was.
broker_needless                  int64   Of broker_retransmitted, segments whose bytes the client said that it had already.
client_rack                      string  Rack that the client's Fetch requests name (client.rack), empty where none is configured;
                                         null: no Fetch names one, or several do.
client_host                      string  Host of client_address when the connection began, by the names (--names); null: not named.
client_pod                       string  Kubernetes pod of client_address, likewise.
client_namespace                 string  Kubernetes namespace of client_address, likewise.
client_workload                  string  What the pod belongs to, such as deployment/shop, likewise.
client_zone                      string  Zone of client_address, likewise.
broker_host                      string  Host of broker_address, likewise.
broker_pod                       string  Kubernetes pod of broker_address, likewise.
broker_zone                      string  Zone of broker_address, likewise.
""")

EXCHANGES = _columns("""
exchange          int64   Key: a request with its reply, or a reply without its request; shown as 16 hex digits.
connection        int64   Its connection.
client_address    string  IP address of the client.
client_port       int32   TCP port of the client.
broker_address    string  IP address of the broker.
broker_port       int32   TCP port of the broker.
api_key           int16   API key of the request; null for a reply without its request and for a bare SASL token.
api_name          string  Name of the API, such as "key 95" for a key that nobody knows; null when the key is null.
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
request_packet    int64   Packet that first carried the first byte of the request, numbered as in Wireshark.
response_file     int32   Input (captures.file) that holds the first byte of the reply.
response_packet   int64   Packet that first carried the first byte of the reply, numbered as in Wireshark.
status            string  answered; no_reply_expected (acks=0); reply_lost (it is not in the capture); pending (at the end of
                          the capture); closed (the connection ended before the reply); abandoned (the client gave up and
                          closed the connection); orphan_reply (its request is not in the capture).
kind              string  Kind of request within its API, which separates waits by design (see "Kinds of requests");
                          null: the API has only one.
request_decoded   string  How far the request was read: full; truncated (the capture has its beginning); trailing (bytes are left
                          over behind what its version says: what was read is what a broker reads); unsupported (a newer
                          version or unknown key: of its body at most the client's software is known); malformed; header;
                          none: there is no request.
response_decoded  string  How far the reply was read, the same words. trailing: it does not fit its version, so only what is
                          certain is known, never a throttle time. unsupported: of its body at most a throttle time and an
                          error at its beginning are known.
send_ns           int64   First to last byte of the request, ns; null when one of them is missing.
latency_ns        int64   Last byte of the request to first byte of the reply, ns; null without both.
receive_ns        int64   First to last byte of the reply, ns; null when one of them is missing.
total_ns          int64   First byte of the request to last byte of the reply, ns; null when one of them is missing.
service_ns        int64   Time that the broker spent on this request, without queueing behind others, ns; null: unknown.
throttle_time_ms  int32   Throttle time in the reply, ms; null when it has no such field or was not read.
error_code        int16   First error code of the reply that is not 0; 0 when all are; null: no such field or not
                          read.
error_count       int32   Error codes of the reply that are not 0; null when the reply was not read.
topics            int32   Topics that the request names, or the reply when the request was not read; null: no such
                          field.
partitions        int32   Partitions that the request names, or the reply when the request was not read; null: no such
                          field.
acks              int16   Produce: 0, 1 or -1 (all in-sync replicas); null for other APIs.
acks_inferred     bool    True for a Produce whose acks the snap length cut off and that got no reply though a later
                          request did and no reply bytes are missing: acks must have been 0. Also for one of a newer
                          version whose acks are 0 if they are where they used to be, and all around them makes sense.
max_wait_ms       int32   Fetch: how long the broker may wait for data, ms; null for other APIs.
min_bytes         int32   Fetch: data for which the broker waits, bytes; null for other APIs.
isolation_level   int16   0 read uncommitted, 1 read committed; null when the request does not say.
session_id        int32   Fetch session (KIP-227) of the reply, else of the request; null: none.
session_epoch     int32   Epoch in the fetch session, of the request; null: none.
group_id          string  Group that the request names; null: none.
member_id         string  Member of the group, of the request, or of the reply that assigns it; null: none.
transactional_id  string  Transactional id that the request names; null: none.
replica_id        int32   Fetch: broker id of the follower, below 0 for a consumer; null for other APIs.
role              string  Role of its connection (connections.role); null: unknown.
broker_id         int32   Node id of the broker; null unless a reply says which node has this address.
generation_id     int32   Generation or member epoch of the request, or else of the reply; null: none.
rack_id           string  Rack that the client says it is in (client.rack): Fetch from version 11 on, empty where none is
                          configured; heartbeats of newer groups that name one; null: else.
timeout_ms        int32   Timeout in the request: how long the broker may take, ms; null: no such field.
record_bytes      int64   Bytes of records that the exchange carried, both ways; null: no such field or not read.
queue_ns          int64   Part of latency_ns that the request waited for the replies of earlier requests of its
                          connection, ns; null: unknown.
muted_ns          int64   Part of latency_ns that the request waited for the end of a throttle mute, ns; null: unknown.
inner_api_key     int16   Envelope: API key of the request inside; null for other APIs and when it was not read.
inner_client_id   string  Envelope: client.id of the request inside; null for other APIs and when it was not read.
broker_min_ns     int64   Time in the broker's host, at least, ns: from when the request had arrived, the previous reply had left
                          and no throttle mute ran, to when the reply left (without the throttle time for which brokers before 2.0
                          delay it); without the proxies of proxy_ns and the way behind them; null: unknown.
broker_max_ns     int64   The same, at most, ns: to 1 ms after the reply left, by when a broker's own account of the request has
                          ended in 19 of 20 cases; null: unknown.
broker_ns         int64   The same where it is known within 2 ms or a tenth of it, to when the reply left, ns; null: unknown, and
                          broker_evidence says why.
broker_evidence   string  How it is known when the broker began: log (the broker's own log alone), beside (the capture was
                          taken at the broker), ack (an ACK that was sent at once), idle (nothing else was in flight), reply
                          (the previous one left), mute (a throttle mute ended); or why broker_ns is not: held (the reply may
                          have waited in the broker's host), large (it took long to send), no_timestamps (packets may have been
                          in queues for long, and have no timestamps), clock (timestamps contradict the order of packets), wide
                          (the capture does not allow closer bounds); null without a reply, and after a lost one.
throttle_ns       int64   Part of latency_ns that a throttle took, ns: muted_ns, and the throttle time of a reply that a
                          broker before 2.0 delayed; null: unknown.
there_ns          int64   Travel time of the request's last byte from the client's host to the broker's, ns: the time in queues
                          before the capture; where the capture was not taken beside the broker, also the shortest round
                          trip from the capture to the broker and the time in queues there; null: unknown, or it was
                          retransmitted.
back_ns           int64   The time of the reply's first byte in queues between the broker's host and the capture, ns; null:
                          unknown, or it was retransmitted; without a reply too.
proxy_ns          int64   Part of latency_ns that proxies took, and the ways between them, where the request was captured behind
                          them too (`forwards`), ns; null: not so, or no reply was seen there.
log_total_ns      int64   Time that the broker's own log (--request-log) says it took, from the last byte read to the last byte
                          handed to the socket, ns; null, as in the following: there is no log, or no line of it is this request.
log_queue_ns      int64   Part of it in the request queue, until a handler thread was free, ns.
log_local_ns      int64   Part of it in a handler thread: work on this broker, its disk included, ns.
log_remote_ns     int64   Part of it in wait for others: followers (acks=all), data or members to come, ns.
log_throttle_ns   int64   Throttle time by the log, ns; brokers write 0 for some throttles: throttle_time_ms is what the reply says.
log_response_queue_ns int64 Part of it in the response queue, until a network thread was free, ns.
log_send_ns       int64   Part of it until the reply was handed to the socket, ns.
""")

FETCH_POSITIONS = _columns("""
exchange              int64   The Fetch. One that names no partition, as an empty one of a session, has no row.
connection            int64   Its connection.
cluster               string  Kafka cluster id, or a name given by kanalyze where the id was not seen.
time_ns               int64   First byte of the reply, else of the request, ns since the epoch.
topic                 string  Name of the topic; null when only its id is known.
topic_id              string  Id of the topic; null when the message has none.
partition             int32   Number of the partition.
fetch_offset          int64   Offset at which the client reads, by its fetch session at this request; null: unknown.
end_offset            int64   End that this client can read, known before the request: last stable offset for
                              read_committed, else high watermark; null: unknown.
new_end_offset        int64   The same end in this reply; null when the reply does not name the partition.
next_offset           int64   Offset at which the client reads next, after this reply; null: unknown.
record_bytes          int64   Bytes of records in the reply; null when the reply does not name the partition.
lag                   int64   Records between next_offset and the newest known end, 0 at least; null: unknown.
behind                bool    True when fetch_offset < end_offset: records were waiting; null: unknown.
partial               bool    True when the session began before the capture, so that partitions of it may be unknown.
""")

MUTES = _columns("""
exchange          int64   The exchange whose reply has the throttle time.
connection        int64   The connection that is muted.
begin_ns          int64   First byte of that reply, ns since the epoch.
end_ns            int64   begin_ns + throttle time, cut at the end of the connection, or of the capture, ns since the epoch.
throttle_time_ms  int32   Throttle time of the reply, ms.
applies           bool    True when the broker mutes (2.0 and newer); false for older ones, which delay the reply; null when no
                          ApiVersions reply was read.
held_ns           int64   Time during the mute in which a request of this connection waited, ns; null where applies is false.
sent_inside       int64   Requests sent during the mute (5 ms tolerance at its end); null where applies is false.
resumed_ns        int64   From the end of the mute to the next request of the connection, ns, 0 when that was sent up to
                          5 ms before it; null: none was sent later, or applies is false.
""")

BATCHES = _columns("""
exchange              int64   The exchange that carries it.
connection            int64   The connection of that exchange.
side                  string  request (produced) or response (fetched).
topic                 string  Name of the topic; null when only its id is known.
topic_id              string  Id of the topic; null when the message has none.
partition             int32   Number of the partition.
position              int32   Position of the batch among those of its partition in this message, from 0.
base_offset           int64   First offset; in a Produce request relative, as sent; null: no log has it (beyond 2^60).
last_offset           int64   Last offset, base_offset + last_offset_delta; null when it is not readable.
stored_base_offset    int64   First offset in the log: of a fetched batch its own, of a produced one the reply's base offset
                              plus what earlier batches of the partition take; null: unknown (acks=0, error, no reply).
stored_last_offset    int64   Last offset in the log, in the same way.
magic                 int8    Format: 0, 1 (message sets) or 2 (record batches).
codec                 string  none, gzip, snappy, lz4 or zstd; null when unknown.
records               int32   Records in it; of a compressed message set those inside; null when not readable.
bytes                 int64   Size in bytes as on the wire, header included.
uncompressed_bytes    int64   Size of the records after decompression, bytes; null when they were not opened.
unopened              string  Why a compressed batch was not opened: budget (a run decompresses 256 MiB, which were used up)
                              or unreadable; null when it was, or is not compressed.
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
exchange             int64   The exchange that contains it.
connection           int64   The connection of that exchange.
cluster              string  Kafka cluster id, or a name given by kanalyze where the id was not seen.
time_ns              int64   Last byte of the reply, or of the request when there is no reply, ns since the epoch.
begin_ns             int64   First byte of the request, ns since the epoch.
group_id             string  The group; null when it could not be read.
group_type           string  classic, consumer (KIP-848), share or streams.
event                string  join, sync, leave, heartbeat, commit, or redelivery: a ShareFetch got records that were given to a
                             member of its group before. Heartbeats without news have no row.
client_id            string  client.id of the request.
client_address       string  Address of the client.
member_id            string  The member id, as the reply assigns it or the request names it; null: not yet assigned.
instance_id          string  Static member's group.instance.id; null: dynamic member.
generation           int32   Classic: generation id. Others: member epoch of the reply; null: none.
sent_generation      int32   Generation or member epoch in the request; null: none.
leader               string  Join: member id of the leader that the reply names; null elsewhere.
members              int32   Join reply to the leader: members in the group; null elsewhere.
protocol             string  Assignor or protocol name, of the reply, else the first that the request offers; null: none.
reason               string  Why the client joins or leaves, as the client states it (KIP-800); null: not stated.
topics               string  Topics subscribed to, comma separated, sorted; null: unchanged or not in the message.
assigned_partitions  int32   Partitions that the reply assigns to the member; null: unchanged or not in the message.
session_timeout_ms   int32   Join request: session timeout, ms; null elsewhere.
rebalance_timeout_ms int32   Join request, or consumer heartbeat: rebalance timeout, ms; null: none.
error_code           int16   Error code of the reply; null without a reply.
group_status         string  Heartbeat of a streams group: what keeps the group from its work, such as MISSING_SOURCE_TOPICS, in
                             the order of the reply, comma separated; null: nothing, or another type of group.
topic                string  Redelivery: name of the topic; null: unknown, or another event.
topic_id             string  Redelivery: id of the topic; null elsewhere.
delivery_count       int32   Redelivery: how often these records have been given by now, a row for each number; null elsewhere.
redelivered          int64   Redelivery: records of this topic in the reply that have been given so often; a lower bound where the
                             reply is cut; null elsewhere.
""")

ASSIGNMENTS = _columns("""
exchange    int64   The exchange that contains it.
connection  int64   The connection of that exchange.
cluster     string  Kafka cluster id, or a name given by kanalyze where the id was not seen.
time_ns     int64   When the member received it: last byte of the reply, ns since the epoch.
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
exchange             int64   The exchange that contains it.
connection           int64   The connection of that exchange.
cluster              string  Kafka cluster id, or a name given by kanalyze where the id was not seen.
time_ns              int64   Last byte of the reply, or of the request when there is no reply, ns since the epoch.
begin_ns             int64   First byte of the request, ns since the epoch.
event                string  init, add_partitions, add_offsets, commit_offsets, end, or verify (AddPartitionsToTxn that
                             only verifies).
client_id            string  client.id of the request.
transactional_id     string  The transactional id; null for an idempotent producer without one.
producer_id          int64   Producer id, of the reply (init), else of the request; null: none.
producer_epoch       int16   Producer epoch, in the same way; null: none.
new_producer_epoch   int16   New epoch in the reply of an EndTxn (v5 and newer); null elsewhere.
committed            bool    end: true for a commit, false for an abort; null elsewhere.
group_id             string  add_offsets, commit_offsets: the group; null elsewhere.
transaction_timeout_ms int32 init: the transaction timeout, ms; null elsewhere.
error_code           int16   Error code of the reply; null without a reply.
""")

BROKER_EVENTS = _columns("""
exchange          int64   The exchange that contains it.
connection        int64   The connection of that exchange.
cluster           string  Kafka cluster id, or a name given by kanalyze where the id was not seen.
time_ns           int64   Last byte of the reply, or of the request when there is no reply, ns since the epoch.
begin_ns          int64   First byte of the request, ns since the epoch.
event             string  heartbeat, controlled_shutdown (ZooKeeper), or isr: a leader changes the replicas in sync of a partition.
                          Heartbeats of a broker in service, without an error or an offline log directory, have no row.
broker_id         int32   The broker that tells it; of isr the leader. null: unknown.
client_address    string  Address of that broker.
broker_state      string  As in the metric BrokerState: starting (it asks not to be in service yet, as while it recovers logs),
                          fenced (it does not ask for that, and is not in service), running, pending_controlled_shutdown (it
                          asks to stop), shutting_down (it may stop). null: unknown, and for other events.
offline_log_dirs  int32   Log directories that have failed, as the broker says; null: unknown (BrokerHeartbeat before v1, others).
topic             string  isr: the topic; null: its name is not in the capture.
topic_id          string  isr: topic id (v2 and newer).
partition         int32   isr: the partition; null elsewhere.
isr               string  isr: ids of the brokers in sync, ascending, with commas between, as the reply says; without one, or
                          refused, as the leader asks; null elsewhere.
asked_isr         string  isr: the same as the leader asks; null elsewhere.
partition_epoch   int32   isr: epoch of the partition that the leader changes; each change of its ISR, leader or replicas, by
                          whomever, adds one. null elsewhere.
error_code        int16   Error code of the reply, of isr that of the partition; null without a reply.
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
outcome         string  ok, failed or open (its end is not in the capture).
error_code      int16   Error code of the last reply; null: none was seen.
again           bool    True for a login in mid-connection (re-authentication, KIP-368).
handshake       bool    False for a login without a SaslHandshake before its tokens (GSSAPI, as before KIP-43); null: unknown,
                        as the beginning of the connection, or bytes of it, are not in the capture.
refusal         string  Why the broker refused the login, as it says: the status of OAUTHBEARER (RFC 7628), such as
                        invalid_token, else its error message, if that says more than the error code; null: it did not.
token_expiry_time_ns  int64  Until when the token of OAUTHBEARER is valid (claim exp of a JSON web token), ns since the epoch;
                        null: it does not say, and for other mechanisms.
""")

TOPIC_IDS = _columns("""
cluster        string  Kafka cluster id, or a name given by kanalyze where the id was not seen.
topic_id       string  Id of the topic as Kafka prints it.
topic          string  Its name; fixed for an id.
racks          string  Racks in which some of its partitions have a replica, with commas between, by the last Metadata
                       that says it; null: none does.
whole_racks    string  The same of racks in which each of its partitions has one.
first_time_ns  int64   First message that contained it, ns since the epoch.
last_time_ns   int64   Last message that contained it, ns since the epoch.
""")

BROKERS = _columns("""
cluster        string  Kafka cluster id, or a name given by kanalyze where the id was not seen.
broker_id      int32   Node id.
host           string  Host name or address that the cluster advertises.
port           int32   Port that the cluster advertises.
rack           string  Rack; null: none.
controller     bool    True when some reply named it as the controller; false when replies named others; null: unknown.
first_time_ns  int64   First reply that named it, ns since the epoch.
last_time_ns   int64   Last reply that named it, ns since the epoch.
""")

OFFERED_VERSIONS = _columns("""
exchange     int64   The ApiVersions exchange.
connection   int64   Its connection.
cluster      string  Kafka cluster id, or a name given by kanalyze where the id was not seen.
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
                                none. As in every column of offsets, one that no log has (beyond 2^60) is null too.
high_watermark          int64   Fetch reply: end of what is replicated; null elsewhere.
last_stable_offset      int64   Fetch reply: end of what no open transaction blocks; null elsewhere.
log_start_offset        int64   First offset that the partition still holds; null when the message does not say.
record_bytes            int64   Bytes of records for this partition; null when the message has no records field.
leader_epoch            int32   Epoch of the partition's leader; null when the message does not say.
forgotten               bool    True when a Fetch request removes the partition from its session; null elsewhere.
preferred_read_replica  int32   Fetch reply: replica to read from, -1 for none; null elsewhere.
next_offset             int64   Offset after the last record of the reply; null without readable records.
timestamp_ms            int64   ListOffsets: the moment asked for or found, epoch ms, below 0 a marker; null
                                elsewhere.
""")

ERRORS = _columns("""
exchange       int64   The exchange whose message holds the code.
connection     int64   The connection of that exchange.
side           string  request or response: which of the two messages holds the code.
code           int16   The error code; never 0.
name           string  Apache's name of the code; null for an unknown code.
retriable      bool    True when a client may retry, by Apache's list; null for an unknown code.
expected       bool    True when this code belongs to normal operation of this API at that moment; null: not classified.
level          string  What failed: message, topic, partition, group, member, record, resource, ...
path           string  The field in its message, in Apache's names in snake_case.
entity         string  Name of what failed when it is not a topic: a group, member, resource; null: none.
error_message  string  What the reply says about it beyond Apache's sentence for the code; null: nothing, or it may
                       repeat a secret.
topic          string  Topic that failed; null when the code belongs to no topic or only its id is known.
topic_id       string  Id of that topic as Kafka prints it; null when the message has none.
partition      int32   Partition that failed; null when the code belongs to no partition.
""")

PROBLEMS = _columns("""
file        int32   Input (captures.file) it was found in; null: unknown.
packet      int64   Packet it was found at, numbered as in Wireshark; null: unknown.
connection  int64   Connection it was found on; null when it belongs to none.
exchange    int64   Exchange it was found in; null when it belongs to none.
time_ns     int64   When, ns since the epoch; null: unknown.
side        string  client or broker: who sent the bytes; null when they belong to no connection.
offset      int64   Byte offset in the input, stream or message, as the kind says; null: unknown.
kind        string  Kind of problem.
bytes_lost  int64   Bytes that could not be used; null: unknown.
detail      string  One sentence for a person.
""")

QUEUED_PACKETS = _columns("""
connection      int64   The connection.
tap             string  Capture point, as in `connections`.
client_address  string  Address of the client.
broker_address  string  Address of the broker.
broker_port     int32   Port of the broker.
sender          string  client or broker: who sent the packet.
time_ns         int64   When it was captured, ns since the epoch.
file            int32   Input (captures.file) that holds it.
packet          int64   Its number there, as in Wireshark.
bytes           int64   Payload on the wire; 0: an ACK alone.
waited_ns       int64   Time in queues between its host and the capture, at least, by its TCP timestamp: above 1 ms,
                        give or take the 1 ms of the timestamp.
""")

UNREAD_SILENCES = _columns("""
connection      int64   The TLS connection, which was not decrypted and may be Kafka.
tap             string  Capture point, as in `connections`.
client_address  string  Address of the client.
broker_address  string  Address of the broker.
broker_port     int32   Port of the broker.
begin_ns        int64   When the broker sent data before, ns since the epoch.
asked_time_ns   int64   When the client sent the first data since then, ns since the epoch; null: it sent none.
end_ns          int64   When the broker sent data again, ns since the epoch; null: not before the connection or the capture ended.
file            int32   Input (captures.file) that holds what the client sent; null: it sent nothing.
packet          int64   Its number there, as in Wireshark; null: it sent nothing.
""")

FORWARDS = _columns("""
exchange              int64   Id of the exchange on this leg, which is not a row of `exchanges`.
forwarded_from        int64   Row of `exchanges`: the same exchange as the client sent it to the first proxy.
proxies               int32   Proxies between the client and this leg; 0: none, it is the other leg of a translation of
                              addresses, and something of both was not captured.
connection            int64   Connection of this leg.
from_connection       int64   Connection of the client's leg.
api_key               int16   API of the request.
api_name              string  Name of the API.
client_address        string  Address of the client.
proxy_address         string  Address at which the client reached the first proxy.
proxy_port            int32   Port of it.
proxy_client_address  string  Address from which the last proxy before this leg connects.
broker_address        string  Address that this leg goes to.
broker_port           int32   Port of it.
request_time_ns       int64   First byte of the request on this leg, ns since the epoch.
request_end_ns        int64   Last byte of the request on this leg, ns since the epoch.
response_time_ns      int64   First byte of the reply on this leg, ns since the epoch; null: no reply was seen here.
response_end_ns       int64   Last byte of the reply on this leg, ns since the epoch; null where response_time_ns is.
request_file          int32   Input (captures.file) that holds the request on this leg.
request_packet        int64   Its number there, as in Wireshark.
proxy_ns              int64   Part of the client's latency that is not latency of this leg: proxies, and ways between the legs,
                              ns; null: no reply was seen on one of both.
""")

LOG_REQUESTS = _columns("""
log                int32   Number of the log, in the order in which --request-log names them, from 0.
line               int64   Number of the line in it, from 1.
outcome            string  joined: exchange says which one it is; forwarded: it was inside an Envelope, and the client's own
                           request is another line; outside: before or after the capture; no_connection: no packet of its
                           connection is in the capture; encrypted: the connection is TLS without keys; unread: the capture
                           shows no Kafka on the connection; not_captured: the connection was read, and this request is not in
                           the capture; ambiguous: a request of this number was captured, and whether it is this one is not
                           certain; no_clock: too little agrees to know the difference of the clocks.
exchange           int64   The exchange that it is; null where outcome is not joined.
connection         int64   The connection of that exchange; null where outcome is not joined.
time_ns            int64   When the broker had written the reply, by the capture's clock, ns since the epoch; null: the
                           difference of the clocks is not known.
begin_ns           int64   When the broker had read the request, by the capture's clock, ns since the epoch; null where
                           time_ns is.
logged_time_ns     int64   Moment of the line by the broker's clock, ns since the epoch; a moment without a zone counts as UTC.
broker_address     string  Address of the broker, as it sees itself.
broker_port        int32   Its port.
client_address     string  Address of the client, as the broker sees it.
client_port        int32   Its port.
api_key            int16   API key of the request.
api_name           string  Name of the API.
api_version        int16   Version of the request.
correlation_id     int32   Number that ties the reply to the request.
client_id          string  client.id in the request's header; null when absent.
topic              string  First topic that the request names, by name or id; null: none, or the API has none.
principal          string  User of the connection.
listener           string  Listener of the broker.
security_protocol  string  PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL.
is_forwarded       bool    True for a request within an Envelope.
total_ns           int64   Time from the last byte read to the last byte handed to the socket, ns.
queue_ns           int64   Part of it in the request queue, ns.
local_ns           int64   Part of it in a handler thread, ns.
remote_ns          int64   Part of it in wait for others, ns.
throttle_ns        int64   Throttle time by the log, ns.
response_queue_ns  int64   Part of it in the response queue, ns.
send_ns            int64   Part of it until the reply was handed to the socket, ns.
""")

TABLES: dict[str, tuple[Column, ...]] = {
    "captures": CAPTURES,
    "connections": CONNECTIONS,
    "exchanges": EXCHANGES,
    "entries": ENTRIES,
    "errors": ERRORS,
    "problems": PROBLEMS,
    "queued_packets": QUEUED_PACKETS,
    "unread_silences": UNREAD_SILENCES,
    "fetch_positions": FETCH_POSITIONS,
    "mutes": MUTES,
    "batches": BATCHES,
    "group_events": GROUP_EVENTS,
    "assignments": ASSIGNMENTS,
    "transaction_events": TRANSACTION_EVENTS,
    "broker_events": BROKER_EVENTS,
    "logins": LOGINS,
    "topic_ids": TOPIC_IDS,
    "brokers": BROKERS,
    "offered_versions": OFFERED_VERSIONS,
    "forwards": FORWARDS,
    "log_requests": LOG_REQUESTS,
}

ROW_OF = {
    "captures": "input file",
    "connections": "TCP connection",
    "exchanges": "request, or reply without its request",
    "entries": "topic-partition inside a request or reply",
    "errors": "error code that is not 0, at any depth of a message",
    "problems": "problem in reading the capture",
    "queued_packets": "packet that waited in a queue between its host and the capture",
    "unread_silences": "time in which a broker sent nothing on a TLS connection without keys: of 0.8 s or more, or the last",
    "fetch_positions": "partition that a consumer's Fetch reads, from its reconstructed fetch session",
    "mutes": "reply with a throttle time, and the time for which its connection is muted",
    "batches": "record batch or legacy message set (outermost message)",
    "group_events": "event of a group",
    "assignments": "partition that a reply assigns to a member of a group",
    "transaction_events": "request about a transaction or a producer id",
    "broker_events": "thing that a broker tells the controller: of itself, or of a partition that it leads",
    "logins": "SASL login",
    "topic_ids": "topic id and its name, as messages tell them",
    "brokers": "broker named in a reply",
    "offered_versions": "API that a broker offers in an ApiVersions reply",
    "forwards": "exchange that a proxy carried on, on the leg behind the proxy",
    "log_requests": "request in a broker's own log (--request-log)",
}


# Columns with a moment, of tables and metrics, whose names do not end in `_time_ns`.
_MOMENTS = (
    "time_ns",
    "begin_ns",
    "end_ns",
    "request_end_ns",
    "response_end_ns",
    "tls_valid_from_ns",
    "tls_valid_until_ns",
    "slot_ns",
    "last_rebalance_ns",
)
# Columns, of tables and of `findings`, whose names SQL takes without quotes only behind a table's name: a second name for each.
_SECOND_NAMES = {
    ("entries", "offset"): "record_offset",
    ("problems", "offset"): "byte_offset",
    ("findings", "do"): "advice",
}


# Columns, of tables, metrics and findings, whose texts are words of a small set.
_WORD_COLUMNS = """
answer api_name behind_api_name behind_kind broker_evidence broker_speaks broker_state capture_side cause change close closed_by
codec control_type event finding format group_type isolation kind last_cause level name one_way opening outcome protocol reach
release request_decoded response_decoded role sasl_mechanism security seen_from sender severity side sort state status
timestamp_type tls_alert tls_alert_from tls_certificate tls_cipher tls_handshake tls_version unopened verdict way
"""
_WORDS = frozenset(_WORD_COLUMNS.split())


def is_word(column: str) -> bool:
    """True for a column whose texts are words of a small set, such as `status`; names that somebody chose are none."""
    return column in _WORDS


def is_moment(column: str) -> bool:
    """True for a column, of a table or metric, that holds a moment in ns since the epoch; the other `_ns` are durations."""
    return column.endswith("_time_ns") or column in _MOMENTS


def sql_columns(table: str) -> dict[str, str]:
    """What people's SQL finds in a table beyond its columns: name -> SQL of its value."""
    return more_in_sql(table, (column.name for column in TABLES[table]))


def more_in_sql(table: str, columns: Iterable[str]) -> dict[str, str]:
    """For each moment among the columns a TIMESTAMP (UTC, cut to microseconds) under its name without `_ns`, `begin_time` and
    `end_time` for `begin_ns` and `end_ns`; a second name for a column of `table` that needs quotes. Name -> SQL of its value.
    """
    names = list(columns)
    return moments(names) | {
        _SECOND_NAMES[table, name]: f'"{name}"' for name in names if (table, name) in _SECOND_NAMES
    }


def moments(columns: Iterable[str], function: str = "make_timestamp") -> dict[str, str]:
    """Those of `more_in_sql` that are moments: name -> SQL of its value. `make_timestamptz` makes instants, which say that they are
    UTC."""
    return {_timestamp_name(name): f"{function}({name} // 1000)" for name in columns if is_moment(name)}


def _timestamp_name(moment: str) -> str:
    name = moment.removesuffix("_ns")
    return f"{name}_time" if name in ("begin", "end") else name


_KEYS = ("exchange", "connection", "forwarded_from", "from_connection")


def is_key(column: str) -> bool:
    """True for a column, of a table, metric or finding, that holds the key of an exchange or connection."""
    return column in _KEYS or column.endswith("_exchange") or column.startswith("evidence")


def arrow_schema(table: str) -> pyarrow.Schema:
    """The Arrow schema of a table; every field may be null. An unknown name is a KeyError."""
    import pyarrow

    return pyarrow.schema([(column.name, pyarrow.type_for_alias(column.type)) for column in TABLES[table]])


def docs() -> str:
    """The text of docs/tables.md; a test says when the file is stale."""
    parts = [
        "# Tables",
        "Written from `analyzer/base/tables.py` by `python -m analyzer.base.tables > docs/tables.md`; do not edit.",
        "A point in time is a 64-bit number of nanoseconds since the epoch (UTC); the name of a column has its unit; "
        "null means that a value is not known or does not apply, never zero.",
        "SQL (`kanalyze sql`, `Capture.sql`, a DuckDB file of `kanalyze export`) has more columns, listed below each table: for "
        "each point in time a TIMESTAMP (UTC, truncated to microseconds), whose name is that of the column without `_ns`; for "
        "`begin_ns` and `end_ns` it is `begin_time` and `end_time`. A column whose name needs quotes has a second name without.",
        "Files of `kanalyze export` and `kanalyze spark` have these TIMESTAMP columns too, behind all others: in Parquet as "
        "instants (UTC, microseconds), in CSV and JSON as text.",
        "Of a broker's log of requests without a capture there are rows of `exchanges`, `entries`, `errors`, `group_events`, "
        "`assignments`, `transaction_events`, `broker_events`, `fetch_positions`, `topic_ids`, `brokers`, `offered_versions`, "
        "`log_requests`, `connections` and `captures`; what only packets tell is null in them (docs/guides/broker-log.md).",
    ]
    for table, columns in TABLES.items():
        rows = [f"| `{column.name}` | {column.type} | {column.sentence} |" for column in columns]
        header = [f"One row per {ROW_OF[table]}.", "", "| column | type | meaning |", "|---|---|---|"]
        parts += [f"## {table}", "\n".join(header + rows), *_more_in_sql(table)]
    parts += ["## Kinds of requests", _kinds()]
    return "\n\n".join(parts) + "\n"


def _kinds() -> str:
    """The values of `exchanges.kind`."""
    classes = {
        BROKER: "broker and network",
        MIXED: "broker and network, or a wait by design",
        WAIT: "a wait by design: it says nothing about the broker",
    }
    latency = {name: classes[kind.reach] for name, kind in KINDS.items()}
    latency["produce_acks_0"] = "none: no reply is expected"
    rows = [f"| `{name}` | {kind.words or '-'} | {latency[name]} |" for name, kind in KINDS.items()]
    return "\n".join(["| `exchanges.kind` | in reports | what its latency is |", "|---|---|---|", *rows])


def _more_in_sql(table: str) -> list[str]:
    """The line below a table of docs/tables.md; none where SQL finds nothing more."""
    more = sql_columns(table).items()
    words = [f"`{name}` (TIMESTAMP)" if "make_timestamp" in sql else f"`{name}` (is {sql})" for name, sql in more]
    return [f"In SQL also: {', '.join(words)}."] if words else []


if __name__ == "__main__":
    print(docs(), end="")
