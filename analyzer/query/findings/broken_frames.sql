-- severity: high
-- rank: 3
-- when: problems having count(*) FILTER (WHERE kind = 'impossible_length' AND side = 'client') >= 1
-- says: {who} sends bytes to {broker} that are no request, from packet {packet} on[: its {api_name} of {cut_bytes} (packet {frame_packet}) contains the beginning of another request]; {lost_bytes} lost on {connections|connection|connections}[; the broker closed {closed_of}]
-- do: The fault is the client's: it gives up in the middle of a request and writes the next one on the same connection, or two threads write at once. Every byte that it sent is in the capture. Upgrade it, or let it close the connection when a write does not succeed.
-- look: kanalyze connections --client {client_address}
-- explains: failing(CORRUPT_MESSAGE), unanswered, gives_up, malformed, connection_storm
-- costs: unanswered, connections, refused(CORRUPT_MESSAGE)
SELECT
    *,
    CASE
        WHEN connections = 1 AND closed = 1 THEN 'it'
        WHEN closed = connections THEN 'all of them'
        ELSE CAST(closed AS STRING) || ' of them'
    END AS closed_of
FROM broken_requests
