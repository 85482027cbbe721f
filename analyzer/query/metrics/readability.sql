-- What of the captures could not be read, for what the filters ask? One row, without what `lost_messages` counts. `one_way`
-- connections are those of which one side was captured.
WITH files AS (
    SELECT
        count(*) AS files,
        count(*) FILTER (WHERE cut) AS cut_files,
        count(*) FILTER (WHERE format = 'request log') AS logs,
        CAST(coalesce(sum(packets), 0) AS BIGINT) AS packets,
        CAST(coalesce(sum(dropped_packets), 0) AS BIGINT) AS dropped_packets,
        min(snap_bytes) AS snap_bytes
    FROM all_captures
),
seen AS (
    SELECT count(*) AS connections, count(*) FILTER (WHERE is_kafka) AS kafka_connections
    FROM all_connections
),
tls AS (
    SELECT
        count(*) AS tls_connections,
        count(*) FILTER (WHERE tls_reason = 'no_handshake') AS tls_midstream_connections,
        count(*) FILTER (WHERE tls_reason = 'unsupported') AS tls_unsupported_connections,
        count(*) FILTER (WHERE tls_reason = 'wrong_keys') AS tls_wrong_keys_connections,
        CAST(0 AS BIGINT) AS tls_failed_connections,
        CASE WHEN min(broker_port) = max(broker_port) THEN min(broker_port) END AS tls_port
    FROM tls_unread
),
links AS (
    SELECT
        count(*) AS asked_connections,
        count(*) FILTER (WHERE one_way = 'client') AS requests_only_connections,
        count(*) FILTER (WHERE one_way = 'broker') AS replies_only_connections,
        CAST(coalesce(sum(requests + replies), 0) AS BIGINT) AS messages,
        CAST(coalesce(sum(requests + replies) FILTER (WHERE one_way IS NOT NULL), 0) AS BIGINT) AS one_way_messages,
        CAST(coalesce(sum(client_gaps + broker_gaps), 0) AS BIGINT) AS gaps,
        CAST(coalesce(sum(client_stream_bytes + broker_stream_bytes + client_gap_bytes + broker_gap_bytes), 0) AS BIGINT) AS bytes,
        CAST(coalesce(sum(client_gap_bytes + broker_gap_bytes - client_cut_bytes - broker_cut_bytes), 0) AS BIGINT) AS lost_bytes,
        CAST(coalesce(sum(client_skipped_encrypted_bytes + broker_skipped_encrypted_bytes), 0) AS BIGINT) AS encrypted_bytes,
        CAST(coalesce(sum(client_cut_bytes + broker_cut_bytes), 0) AS BIGINT) AS cut_bytes
    FROM connections
    WHERE is_kafka
)
SELECT *
FROM files CROSS JOIN seen CROSS JOIN tls CROSS JOIN links
