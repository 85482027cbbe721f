-- How far behind is each group, when? One row per time slot in which the group read something: `lag` is the sum, in records, over its
-- partitions, of what each one's newest Fetch reply until then told; `partitions` are those of which one did. Consumers without a
-- group stand by themselves (`group_id` null). A Fetch names no group: see `held_partitions`. At most the 40 greatest lags.
WITH told AS (
    SELECT
        c.cluster,
        CASE WHEN h.groups IS NOT NULL THEN h.group_id ELSE g.group_id END AS group_id,
        x.client_id,
        x.client_address,
        coalesce(p.topic, p.topic_id) AS topic,
        p.partition,
        p.time_ns,
        p.lag
    FROM fetch_positions AS p
        JOIN exchanges AS x ON x.exchange = p.exchange
        JOIN connections AS c ON c.connection = p.connection
        LEFT JOIN held_partitions AS h
            ON h.cluster = coalesce(c.cluster, '') AND h.client_address = x.client_address
            AND h.client_id = coalesce(x.client_id, '') AND h.topic = coalesce(p.topic, p.topic_id)
            AND h.partition = p.partition
        LEFT JOIN client_groups AS g
            ON g.cluster = coalesce(c.cluster, '') AND g.client_address = x.client_address
            AND g.client_id = coalesce(x.client_id, '')
    WHERE p.lag IS NOT NULL AND coalesce(p.topic, p.topic_id) IS NOT NULL
        AND is_client(x.role) AND coalesce(x.replica_id, -1) < 0
),
newest AS (
    SELECT
        t.cluster,
        t.group_id,
        CASE WHEN t.group_id IS NULL THEN t.client_id END AS client_id,
        CASE WHEN t.group_id IS NULL THEN t.client_address END AS client_address,
        t.topic,
        t.partition,
        CASE WHEN s.every_ns > 0 THEN t.time_ns - t.time_ns % s.every_ns END AS slot_ns,
        -- Of several replies of one moment the one that tells most.
        max_by(t.lag, (t.time_ns, t.lag)) AS lag
    FROM told AS t CROSS JOIN settings AS s
    GROUP BY ALL
),
changes AS (
    SELECT
        *,
        lag - coalesce(lag(lag) OVER (
            PARTITION BY cluster, group_id, client_id, client_address, topic, partition ORDER BY slot_ns
        ), 0) AS change,
        row_number() OVER (
            PARTITION BY cluster, group_id, client_id, client_address, topic, partition ORDER BY slot_ns
        ) = 1 AS is_first
    FROM newest
),
summed AS (
    SELECT
        cluster, group_id, client_id, client_address, slot_ns,
        sum(CAST(change AS DECIMAL(38, 0))) AS change,
        count(*) FILTER (WHERE is_first) AS begun
    FROM changes
    GROUP BY cluster, group_id, client_id, client_address, slot_ns
),
running AS (
    SELECT
        *,
        sum(change) OVER (
            PARTITION BY cluster, group_id, client_id, client_address ORDER BY slot_ns ROWS UNBOUNDED PRECEDING
        ) AS lag,
        sum(begun) OVER (
            PARTITION BY cluster, group_id, client_id, client_address ORDER BY slot_ns ROWS UNBOUNDED PRECEDING
        ) AS partitions
    FROM summed
),
judged AS (
    SELECT
        *,
        max(lag) OVER (PARTITION BY cluster, group_id, client_id, client_address) AS greatest,
        dense_rank() OVER (ORDER BY
            cluster IS NULL, cluster, group_id IS NULL, group_id, client_id IS NULL, client_id,
            client_address IS NULL, client_address
        ) AS number
    FROM running
),
placed AS (
    SELECT *, dense_rank() OVER (ORDER BY greatest DESC, number) AS place FROM judged
)
SELECT
    slot_ns, cluster, group_id, client_id, client_address,
    TRY_CAST(lag AS BIGINT) AS lag,
    CAST(partitions AS BIGINT) AS partitions
FROM placed
WHERE place <= 40
ORDER BY slot_ns, group_id, client_id, client_address, cluster
