-- How much of the capture was read, and what is in it? One row, never filtered. Bytes are bytes, times ns since the epoch.
-- `captured_ns` is the time that files cover, without the time between them; `request_bytes`, `response_bytes`: whole messages;
-- `broken_off_bytes`, which are not among the `kafka_bytes`: of messages whose rest was never sent.
WITH files AS (
    SELECT
        count(*) AS files,
        count(*) FILTER (WHERE cut) AS cut_files,
        CAST(sum(bytes) AS BIGINT) AS bytes,
        CAST(sum(packets) AS BIGINT) AS packets,
        CAST(sum(tcp_packets) AS BIGINT) AS tcp_packets,
        CAST(sum(cut_packets + malformed_packets + fragment_packets) AS BIGINT) AS unread_packets,
        CAST(sum(unknown_link_packets) AS BIGINT) AS unknown_link_packets,
        CAST(sum(duplicate_packets) AS BIGINT) AS duplicate_packets,
        CAST(sum(dropped_packets) AS BIGINT) AS dropped_packets,
        min(snap_bytes) AS snap_bytes,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM all_captures
),
links AS (
    SELECT
        -- What a proxy carries on is no connection of a client.
        count(*) FILTER (WHERE forwarded_from IS NULL) AS connections,
        count(*) FILTER (WHERE is_kafka AND forwarded_from IS NULL) AS kafka_connections,
        count(*) FILTER (WHERE protocol = 'tls' AND is_kafka IS NOT TRUE AND tls_decrypted IS NOT TRUE) AS tls_connections,
        count(*) FILTER (WHERE is_kafka IS NOT TRUE AND tls_handshake = 'failed') AS tls_failed_connections,
        count(*) FILTER (WHERE is_kafka IS NOT TRUE AND tls_handshake IS DISTINCT FROM 'failed' AND tls_reason = 'no_handshake')
            AS tls_midstream_connections,
        count(*) FILTER (WHERE is_kafka IS NOT TRUE AND tls_handshake IS DISTINCT FROM 'failed' AND tls_reason = 'unsupported')
            AS tls_unsupported_connections,
        count(*) FILTER (WHERE is_kafka IS NOT TRUE AND tls_handshake IS DISTINCT FROM 'failed' AND tls_reason = 'wrong_keys')
            AS tls_wrong_keys_connections,
        count(*) FILTER (WHERE is_kafka AND tls_decrypted) AS decrypted_connections,
        count(*) FILTER (WHERE is_kafka IS NOT TRUE AND client_stream_bytes + broker_stream_bytes = 0) AS silent_connections,
        count(*) FILTER (WHERE is_kafka IS NOT TRUE AND opening IN ('proxy_v1', 'proxy_v2') AND protocol IS NULL) AS health_checks,
        count(*) FILTER (WHERE is_kafka AND seen_from = 'midstream') AS midstream_connections,
        count(*) FILTER (WHERE forwarded_from IS NOT NULL OR translated_client IS NOT NULL OR translated_broker IS NOT NULL)
            AS behind_connections,
        CAST(sum(client_stream_bytes + broker_stream_bytes - coalesce(client_tls_overhead_bytes + broker_tls_overhead_bytes, 0)
            - beside_bytes - coalesce(broken_off_bytes, 0)) FILTER (WHERE is_kafka) AS BIGINT) AS kafka_bytes,
        CAST(sum(client_framed_bytes + broker_framed_bytes) FILTER (WHERE is_kafka) AS BIGINT) AS framed_bytes,
        CAST(sum(client_skipped_sync_bytes + broker_skipped_sync_bytes)
            FILTER (WHERE is_kafka) AS BIGINT) AS skipped_sync_bytes,
        CAST(sum(client_skipped_malformed_bytes + broker_skipped_malformed_bytes)
            FILTER (WHERE is_kafka) AS BIGINT) AS skipped_malformed_bytes,
        CAST(sum(client_skipped_unfinished_bytes + broker_skipped_unfinished_bytes - broken_off_bytes)
            FILTER (WHERE is_kafka) AS BIGINT) AS skipped_unfinished_bytes,
        CAST(coalesce(sum(broken_off_bytes) FILTER (WHERE is_kafka), 0) AS BIGINT) AS broken_off_bytes,
        CAST(sum(client_skipped_foreign_bytes + broker_skipped_foreign_bytes - beside_bytes)
            FILTER (WHERE is_kafka) AS BIGINT) AS skipped_foreign_bytes,
        CAST(coalesce(sum(client_skipped_encrypted_bytes + broker_skipped_encrypted_bytes)
            FILTER (WHERE is_kafka), 0) AS BIGINT) AS skipped_encrypted_bytes,
        CAST(sum(client_gaps + broker_gaps) FILTER (WHERE is_kafka) AS BIGINT) AS gaps,
        CAST(sum(client_gap_bytes + broker_gap_bytes) FILTER (WHERE is_kafka) AS BIGINT) AS gap_bytes,
        CAST(sum(client_cut_bytes + broker_cut_bytes) FILTER (WHERE is_kafka) AS BIGINT) AS cut_bytes
    FROM (
        SELECT
            *,
            -- Headers of proxies, and what answers in another protocol, are no bytes of Kafka that were not read.
            coalesce(client_opening_bytes + broker_opening_bytes, 0) + CASE
                WHEN broker_speaks IS NOT NULL THEN broker_skipped_foreign_bytes - coalesce(broker_opening_bytes, 0)
                ELSE 0 END AS beside_bytes,
            -- Messages that the end of their connection cut off: the rest was never sent, and nothing of it can be read.
            CASE WHEN close <> 'none' AND client_gaps + broker_gaps + client_cut_bytes + broker_cut_bytes = 0
                THEN client_skipped_unfinished_bytes + broker_skipped_unfinished_bytes ELSE 0 END AS broken_off_bytes
        FROM all_connections
    ) AS seen
),
-- Whose ids replies named: a name that is an address was given for want of an id.
clusters AS (
    SELECT count(DISTINCT cluster_id()) AS clusters FROM all_brokers
),
-- Where a proxy's connections end that is no proxy itself.
behind AS (
    SELECT i.cluster, count(DISTINCT i.broker_address || ':' || CAST(i.broker_port AS STRING)) AS brokers
    FROM all_connections AS i
    LEFT JOIN all_connections AS n ON n.forwarded_from = i.forwarded_from AND n.client_address = i.broker_address
    WHERE i.forwarded_from IS NOT NULL AND n.connection IS NULL
    GROUP BY i.cluster
),
brokers AS (
    SELECT CAST(coalesce(sum(least(greatest(r.brokers, coalesce(b.brokers, 0)), r.nodes)), 0) AS BIGINT) AS brokers
    FROM (
        SELECT cluster, nodes, count(*) AS brokers
        FROM (SELECT max(cluster) AS cluster, max(nodes) AS nodes FROM broker_endpoints GROUP BY broker) AS each_one
        GROUP BY cluster, nodes
    ) AS r
    LEFT JOIN behind AS b ON b.cluster IS NOT DISTINCT FROM r.cluster
),
clients AS (
    SELECT count(*) AS clients
    FROM (SELECT DISTINCT client_address, client_id, principal, software_name, software_version FROM client_identities) AS i
),
statuses AS (
    SELECT
        CAST(coalesce(sum(exchanges) FILTER (WHERE status <> 'orphan_reply'), 0) AS BIGINT) AS requests,
        CAST(coalesce(sum(exchanges) FILTER (WHERE status = 'answered'), 0) AS BIGINT) AS answered,
        CAST(coalesce(sum(exchanges) FILTER (WHERE status = 'no_reply_expected'), 0) AS BIGINT) AS no_reply_expected,
        CAST(coalesce(sum(exchanges) FILTER (WHERE status = 'no_reply_expected' AND is_token), 0) AS BIGINT) AS last_tokens,
        CAST(coalesce(sum(exchanges) FILTER (WHERE status = 'reply_lost'), 0) AS BIGINT) AS reply_lost,
        CAST(coalesce(sum(exchanges) FILTER (WHERE status = 'pending'), 0) AS BIGINT) AS pending,
        CAST(coalesce(sum(exchanges) FILTER (WHERE status = 'closed'), 0) AS BIGINT) AS closed,
        CAST(coalesce(sum(exchanges) FILTER (WHERE status = 'abandoned'), 0) AS BIGINT) AS abandoned,
        CAST(coalesce(sum(exchanges) FILTER (WHERE status = 'orphan_reply'), 0) AS BIGINT) AS orphan_replies,
        CAST(coalesce(sum(request_bytes), 0) AS BIGINT) AS request_bytes,
        CAST(coalesce(sum(response_bytes), 0) AS BIGINT) AS response_bytes
    FROM all_totals
)
SELECT *
FROM (SELECT captured_ns FROM all_time_range) AS lengths CROSS JOIN files CROSS JOIN links CROSS JOIN brokers CROSS JOIN clusters CROSS JOIN clients CROSS JOIN statuses
