-- severity: medium
-- rank: 12
-- when: connections having (SELECT count(*) FROM queued_packets WHERE waited_ns > ms(3)) >= 100 OR (SELECT count(*) FROM exchanges WHERE receive_ns >= ms(100) AND response_bytes >= 30000 OR send_ns >= ms(100) AND request_bytes >= 30000) >= 3 OR sum(client_filled + broker_filled + client_retransmitted + broker_retransmitted) >= 10
-- and: crowded_hosts having count(*) > 0
-- says: the link {place} is at its limit[ of {limit_bits_per_s}][ of about {about_bits_per_s}] ({direction}): {who}[ and {others|other client|other clients}] used all of it[ for {busy_ns}][; packets queued for up to {most_waited_ns}][; behind the capture every second packet waited for {waited_ns} or more, and {lost_share} of them were lost]
-- do: Find the link with this rate (a VPN, a provider, a bandwidth limit of a virtual machine): raise its bandwidth, or reduce the traffic of these clients.
-- look: kanalyze connections[ --client {client_address}][ --broker {broker}]
-- explains: client_not_reading, lag_growing, lossy_network, slow_broker, head_of_line, slow_requests
-- costs: time
-- Where the queue lies behind the capture, the first packets of each message pass it at once: the rate is a rough one.
SELECT
    * EXCLUDE (limit_bits_per_s),
    CASE WHEN most_waited_ns IS NOT NULL THEN limit_bits_per_s END AS limit_bits_per_s,
    CASE WHEN most_waited_ns IS NULL THEN limit_bits_per_s END AS about_bits_per_s
FROM links_at_limit
