-- Exchanges of connections on which a reply had a throttle time, for `mutes`.
SELECT exchange, part, request_time_ns, request_end_ns, response_time_ns, throttle_time_ms
FROM raw_exchanges
WHERE part IN (SELECT part FROM part_evidence WHERE throttled = 1)
