-- Which connections had no content, or none behind a header of a proxy (`opening`)? By client address, broker, header and end (who
-- closed first, and how), the most frequent first. Attempts that failed are not among them (metric refused). Of every port.
SELECT
    client_address,
    broker_address,
    broker_port,
    opening,
    close,
    closed_by,
    count(*) AS connections,
    min(first_time_ns) AS first_time_ns,
    max(first_time_ns) AS last_time_ns,
    count(*) OVER () AS total_rows
FROM connections
WHERE is_kafka IS NOT TRUE
    AND client_stream_bytes + broker_stream_bytes = coalesce(client_opening_bytes + broker_opening_bytes, 0)
    AND NOT (seen_from = 'syn' AND syn_ack_ns IS NULL AND opening IS NULL AND (broker_packets = 0 OR close = 'rst'))
GROUP BY client_address, broker_address, broker_port, opening, close, closed_by
ORDER BY connections DESC, client_address, broker_address, broker_port, opening, close, closed_by
LIMIT 1000
