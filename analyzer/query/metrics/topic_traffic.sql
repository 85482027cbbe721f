-- Which client writes to and reads from which topic, when? One row per time slot, topic and client: bytes of records on the wire, as in
-- metric topics, and partitions asked (`writes`, `reads`). The 100 pairs with most bytes have rows of their own, all others together
-- those with `is_rest`. Sums can be added.
WITH moved AS (
    SELECT
        x.request_time_ns AS time_ns,
        c.cluster,
        coalesce(e.topic, e.topic_id) AS topic,
        x.client_id,
        x.client_address,
        e.record_bytes AS written_bytes,
        CAST(NULL AS BIGINT) AS read_bytes,
        1 AS writes,
        0 AS reads
    FROM entries AS e
        JOIN exchanges AS x ON x.exchange = e.exchange
        JOIN connections AS c ON c.connection = e.connection
    WHERE x.api_key = api('Produce') AND e.side = 'request' AND is_client(x.role)
    UNION ALL
    SELECT
        p.time_ns, c.cluster, coalesce(p.topic, p.topic_id), x.client_id, x.client_address, NULL, p.record_bytes, 0, 1
    FROM fetch_positions AS p
        JOIN exchanges AS x ON x.exchange = p.exchange
        JOIN connections AS c ON c.connection = p.connection
    WHERE is_client(x.role) AND coalesce(x.replica_id, -1) < 0
    UNION ALL
    SELECT
        x.request_time_ns, c.cluster, coalesce(e.topic, e.topic_id), x.client_id, x.client_address, NULL, e.record_bytes, 0, 1
    FROM entries AS e
        JOIN exchanges AS x ON x.exchange = e.exchange
        JOIN connections AS c ON c.connection = e.connection
    WHERE x.api_key = api('ShareFetch') AND e.side = 'response'
),
slotted AS (
    SELECT
        CASE WHEN s.every_ns > 0 THEN m.time_ns - m.time_ns % s.every_ns END AS slot_ns,
        m.cluster,
        m.topic,
        m.client_id,
        m.client_address,
        sum(m.written_bytes) AS written_bytes,
        sum(m.read_bytes) AS read_bytes,
        sum(m.writes) AS writes,
        sum(m.reads) AS reads
    FROM moved AS m CROSS JOIN settings AS s
    WHERE m.topic IS NOT NULL
    GROUP BY ALL
),
numbered AS (
    SELECT *, dense_rank() OVER (ORDER BY
            cluster IS NULL, cluster, topic IS NULL, topic, client_id IS NULL, client_id, client_address IS NULL,
            client_address
        ) AS number FROM slotted
),
totalled AS (
    SELECT
        *,
        sum(coalesce(written_bytes, 0) + coalesce(read_bytes, 0)) OVER (PARTITION BY number) AS total
    FROM numbered
),
placed AS (
    SELECT *, dense_rank() OVER (ORDER BY total DESC, number) > 100 AS is_rest FROM totalled
)
SELECT
    slot_ns,
    is_rest,
    CASE WHEN NOT is_rest THEN cluster END AS cluster,
    CASE WHEN NOT is_rest THEN topic END AS topic,
    CASE WHEN NOT is_rest THEN client_id END AS client_id,
    CASE WHEN NOT is_rest THEN client_address END AS client_address,
    CAST(sum(written_bytes) AS BIGINT) AS written_bytes,
    CAST(sum(read_bytes) AS BIGINT) AS read_bytes,
    CAST(sum(writes) AS BIGINT) AS writes,
    CAST(sum(reads) AS BIGINT) AS reads
FROM placed
GROUP BY
    slot_ns, is_rest, CASE WHEN NOT is_rest THEN cluster END, CASE WHEN NOT is_rest THEN topic END,
    CASE WHEN NOT is_rest THEN client_id END, CASE WHEN NOT is_rest THEN client_address END
ORDER BY slot_ns, is_rest, topic, client_id, client_address, cluster
