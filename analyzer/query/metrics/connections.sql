-- How did each Kafka connection fare? One row per connection, the longest-lived first; bytes are payload on the wire (`wire_bytes`: IP packets with headers),
-- `retransmitted_share` is of packets (0 to 1), `in_flight` the most requests that waited for a reply at once, `idle_ns`
-- from its last message to its end (null while it is open), `unanswered` what it left without a reply when it closed,
-- `login_refusal` and `token_expiry_time_ns` what is known of a token that was refused (table logins), `without_handshake`: a login that
-- failed had no SaslHandshake.
-- `application`: of which its client is one of many (view `applications`). `forwarded_from`: the connection whose requests a proxy carries on over this one, where they count.
-- `client_held_small`, `broker_held_small`: small packets that waited for an ACK that the other side had delayed.
-- At most 1,000 rows of `total_rows`.
SELECT *, count(*) OVER () AS total_rows
FROM connection_lines
ORDER BY life_ns DESC, first_time_ns, connection
LIMIT 1000
