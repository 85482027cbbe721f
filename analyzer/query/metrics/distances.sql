-- Which clients wait for a far broker, a round trip for each request? One row per client and broker: `way_share` of
-- its time is round trips of `round_trip_ns`; `unread` says how this is known of TLS without keys. The worst first.
SELECT * FROM distant_clients ORDER BY weight DESC, first_time_ns
