-- severity: medium
-- rank: 9
-- when: connections having count(*) FILTER (WHERE is_kafka AND client_skipped_unfinished_bytes > 0 AND close <> 'none') >= 3
-- says: {broker} closes the connection in the middle of requests of {who} of {request_bytes}, {times|time|times}: they are larger than the broker accepts
-- do: Lower batch.size and max.request.size (message.max.bytes) of this client, or raise socket.request.max.bytes of the broker.
-- look: kanalyze connections --client {client_address}
-- explains: unanswered, gives_up, connection_storm
-- costs: connections, unanswered
SELECT * FROM oversized_requests
