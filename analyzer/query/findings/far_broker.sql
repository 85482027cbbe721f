-- severity: info
-- rank: 30
-- when: connections having bool_or(rtt_ns >= ms(20) OR (rtt_ns IS NULL AND to_broker_least_ns + to_client_least_ns >= ms(45)))
-- says: {who} has a round trip time of {round_trip_ns} to {broker} and waits for each reply before it sends the next request: {way_share} of its time is round trips[, {unread}]
-- do: Move more per round trip (larger batch.size, linger.ms, more requests in flight; of a reader larger max.partition.fetch.bytes), or run the client closer to the broker.
-- look: kanalyze {verb}[ --client {who}] --broker {broker}
-- explains: slow_broker, slow_requests, unexplained
-- costs: time
SELECT * FROM distant_clients
