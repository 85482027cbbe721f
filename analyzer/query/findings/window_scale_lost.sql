-- severity: medium
-- rank: 11
-- when: connections having bool_or(is_kafka AND mss IS NOT NULL AND (client_wscale IS NULL OR broker_wscale IS NULL))
-- says: TCP window scaling is missing between {client_address}[ ({who})] and {broker}[, unlike on {others|other connection|other connections} to this broker]: at most {window_bytes} are in flight[, and {sender} waited {waited_ns} for that window][, so {transfers|message|messages} of 200 kB and more took one round trip per 64 kB]
-- do: A firewall, proxy or load balancer on this path removes the window scale option from the handshake (RFC 7323): configure it to let TCP options pass.
-- look: kanalyze connections --client {client_address}
-- explains: rate_limited_link, far_broker, client_not_reading, lag_growing, head_of_line, slow_requests
-- costs: time
SELECT * FROM unscaled_ways
