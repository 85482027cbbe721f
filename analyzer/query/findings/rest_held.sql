-- severity: medium
-- rank: 14
-- when: exchange_sorts having sum(held) FILTER (WHERE is_client) >= 10
-- says: {who} at {client_address} pauses in the middle of requests to {broker}, {times|time|times}: the rest comes {held_ns} (median) after the beginning, which had been acknowledged by then
-- do: Look at what the client does between two writes of one request (a blocked event loop, a pause of its runtime, a socket that is written in turns): it should write a request in one piece. Captured beside the broker, a packet that was lost on its way and sent again looks the same; where a proxy carries bytes on, it may be the proxy that waits.
-- look: kanalyze connections --client {client_address}
-- explains: slow_requests
-- costs: time
SELECT * FROM late_rests
