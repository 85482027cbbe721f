-- Who writes each partition? One row per partition and client. Bytes are of record batches as on the wire, headers
-- included; `opened_bytes` of records became `uncompressed_bytes` (compressed batches that were opened); `errors` are refused
-- partitions of requests. `least_acks` and `most_acks`: -1 all, 1, 0. Null: not known.
WITH asked AS (
    SELECT
        c.cluster,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        x.client_address,
        x.client_id,
        coalesce(x.principal, c.principal) AS principal,
        e.side = 'request' AS is_request,
        x.acks,
        x.request_time_ns,
        x.transactional_id,
        e.record_bytes,
        coalesce(e.error_code, error('NONE')) NOT IN (error('NONE', 'DUPLICATE_SEQUENCE_NUMBER')) AS failed
    FROM entries AS e
        JOIN exchanges AS x ON x.exchange = e.exchange
        JOIN connections AS c ON c.connection = e.connection
    WHERE x.api_key = api('Produce') AND is_client(x.role)
),
carried AS (
    SELECT
        c.cluster,
        coalesce(b.topic, b.topic_id) AS topic,
        b.partition,
        x.client_address,
        x.client_id,
        coalesce(x.principal, c.principal) AS principal,
        b.magic,
        b.codec,
        b.records,
        b.bytes,
        b.uncompressed_bytes
    FROM batches AS b
        JOIN exchanges AS x ON x.exchange = b.exchange
        JOIN connections AS c ON c.connection = b.connection
    WHERE b.side = 'request' AND is_client(x.role)
),
parts AS (
    SELECT
        cluster, topic, partition, client_address, client_id, principal,
        count(*) FILTER (WHERE is_request) AS requests,
        count(*) FILTER (WHERE failed) AS errors,
        sum(record_bytes) FILTER (WHERE is_request) AS record_bytes,
        min(acks) AS least_acks,
        max(acks) AS most_acks,
        min(request_time_ns) AS first_time_ns,
        max(request_time_ns) AS last_time_ns,
        count(DISTINCT transactional_id) AS transactional_ids,
        0 AS batches, NULL AS records, NULL AS biggest_batch, NULL AS opened_bytes, NULL AS uncompressed_bytes,
        0 AS plain, 0 AS gzip, 0 AS snappy, 0 AS lz4, 0 AS zstd
    FROM asked
    GROUP BY cluster, topic, partition, client_address, client_id, principal
    UNION ALL
    SELECT
        cluster, topic, partition, client_address, client_id, principal,
        0, 0, NULL, NULL, NULL, NULL, NULL, 0,
        count(*),
        sum(records),
        max(bytes),
        -- Without the header, which nobody compresses: 61 bytes of a record batch, 34 or 26 of an older wrapper message.
        sum(bytes - CASE magic WHEN 2 THEN 61 WHEN 1 THEN 34 ELSE 26 END)
            FILTER (WHERE uncompressed_bytes IS NOT NULL AND codec <> 'none'),
        sum(uncompressed_bytes) FILTER (WHERE codec <> 'none'),
        count(*) FILTER (WHERE codec = 'none'),
        count(*) FILTER (WHERE codec = 'gzip'),
        count(*) FILTER (WHERE codec = 'snappy'),
        count(*) FILTER (WHERE codec = 'lz4'),
        count(*) FILTER (WHERE codec = 'zstd')
    FROM carried
    GROUP BY cluster, topic, partition, client_address, client_id, principal
)
SELECT
    cluster,
    topic,
    partition,
    client_address,
    client_id,
    principal,
    CAST(sum(requests) AS BIGINT) AS requests,
    CAST(sum(errors) AS BIGINT) AS errors,
    CAST(sum(record_bytes) AS BIGINT) AS record_bytes,
    min(least_acks) AS least_acks,
    max(most_acks) AS most_acks,
    CAST(sum(transactional_ids) AS BIGINT) AS transactional_ids,
    CAST(sum(batches) AS BIGINT) AS batches,
    CAST(sum(records) AS BIGINT) AS records,
    CAST(max(biggest_batch) AS BIGINT) AS biggest_batch,
    CAST(sum(opened_bytes) AS BIGINT) AS opened_bytes,
    CAST(sum(uncompressed_bytes) AS BIGINT) AS uncompressed_bytes,
    CAST(sum(plain) AS BIGINT) AS plain_batches,
    CAST(sum(gzip) AS BIGINT) AS gzip_batches,
    CAST(sum(snappy) AS BIGINT) AS snappy_batches,
    CAST(sum(lz4) AS BIGINT) AS lz4_batches,
    CAST(sum(zstd) AS BIGINT) AS zstd_batches,
    min(first_time_ns) AS first_time_ns,
    max(last_time_ns) AS last_time_ns
FROM parts
GROUP BY cluster, topic, partition, client_address, client_id, principal
