-- How long does a record take from its producer to each consumer? From the last byte of the Produce request to the last byte
-- of the first Fetch reply with the same offsets, ns, per topic, consumer and group, counted in batches. `way` is tail (the
-- consumer waited at the end), catch_up (it read what lay there: replay, not delivery) or share; read_committed
-- stands apart, since it includes the transaction. Percentiles by log buckets (`latency_slices`): the nearest rank to 0.55 %.
WITH readable AS (
    SELECT
        b.exchange,
        c.cluster,
        coalesce(b.topic, b.topic_id) AS topic,
        b.partition,
        b.side,
        b.stored_base_offset,
        b.stored_last_offset,
        b.records,
        x.client_address,
        x.client_id,
        coalesce(x.principal, c.principal) AS principal,
        x.api_key,
        x.kind,
        x.group_id,
        x.isolation_level,
        CASE b.side WHEN 'request' THEN x.request_end_ns ELSE x.response_end_ns END AS time_ns
    FROM all_batches AS b
        JOIN all_exchanges AS x ON x.exchange = b.exchange
        JOIN all_connections AS c ON c.connection = b.connection
    WHERE is_client(x.role) AND coalesce(x.replica_id, -1) < 0 AND coalesce(b.control, false) = false
        AND b.stored_last_offset IS NOT NULL AND coalesce(b.topic, b.topic_id) IS NOT NULL
),
-- A batch may be sent again after a lost reply: the first time counts.
produced AS (
    SELECT
        coalesce(cluster, '') AS place,
        topic,
        partition,
        stored_last_offset AS last_offset,
        min(time_ns) AS time_ns,
        min_by(exchange, time_ns) AS exchange,
        max(records) AS records
    FROM readable
    WHERE side = 'request' AND time_ns IS NOT NULL
    GROUP BY coalesce(cluster, ''), topic, partition, stored_last_offset
),
-- A batch may be read again after a rebalance or a rewind: the first time counts.
fetched AS (
    SELECT
        cluster,
        topic,
        partition,
        client_address,
        client_id,
        principal,
        isolation_level,
        stored_last_offset AS last_offset,
        min(stored_base_offset) AS base_offset,
        min(time_ns) AS time_ns,
        min_by(exchange, time_ns) AS exchange,
        min_by(CASE WHEN api_key = api('ShareFetch') THEN 'share' WHEN kind = 'fetch_tail'
            THEN 'tail' ELSE 'catch_up' END, time_ns) AS way,
        min_by(group_id, time_ns) FILTER (WHERE api_key = api('ShareFetch')) AS share_group_id
    FROM readable
    WHERE side = 'response' AND time_ns IS NOT NULL
    GROUP BY cluster, topic, partition, client_address, client_id, principal, isolation_level, stored_last_offset
),
consumers AS (
    SELECT cluster, topic, partition, client_address, client_id, principal, isolation_level
    FROM fetched
    GROUP BY cluster, topic, partition, client_address, client_id, principal, isolation_level
),
-- A broker may store batches in another form than they were sent, so they are matched by ranges of offsets: to each produced
-- batch belongs the fetched batch with the smallest last offset that is not below its own.
points AS (
    SELECT
        c.cluster, c.topic, c.partition, c.client_address, c.client_id, c.principal, c.isolation_level,
        p.last_offset AS place, 1 AS turn, CAST(NULL AS BIGINT) AS fetched_last,
        p.time_ns, p.exchange, p.records
    FROM produced AS p
        JOIN consumers AS c
            ON coalesce(c.cluster, '') = p.place AND c.topic = p.topic AND c.partition = p.partition
    UNION ALL
    SELECT
        cluster, topic, partition, client_address, client_id, principal, isolation_level,
        last_offset, 0, last_offset, NULL, NULL, NULL
    FROM fetched
),
looked_up AS (
    SELECT
        *,
        min(fetched_last) OVER (
            PARTITION BY cluster, topic, partition, client_address, client_id, principal, isolation_level
            ORDER BY place DESC, turn ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS found_last
    FROM points
),
delivered AS (
    SELECT
        f.cluster,
        f.topic,
        f.partition,
        f.client_address,
        f.client_id,
        f.principal,
        f.isolation_level,
        f.way,
        f.share_group_id,
        l.records,
        l.exchange AS produce_exchange,
        f.exchange AS fetch_exchange,
        f.time_ns - l.time_ns AS delivery_ns
    FROM looked_up AS l
        JOIN fetched AS f
            ON coalesce(f.cluster, '') = coalesce(l.cluster, '') AND f.topic = l.topic AND f.partition = l.partition
            AND f.client_address = l.client_address AND coalesce(f.client_id, '') = coalesce(l.client_id, '')
            AND coalesce(f.principal, '') = coalesce(l.principal, '')
            AND coalesce(f.isolation_level, -1) = coalesce(l.isolation_level, -1) AND f.last_offset = l.found_last
    WHERE l.turn = 1 AND f.base_offset <= l.place AND f.time_ns >= l.time_ns
),
wanted AS (
    SELECT
        d.*,
        CASE WHEN d.way = 'share' THEN d.share_group_id WHEN h.groups IS NOT NULL THEN h.group_id ELSE g.group_id END
            AS group_id,
        d.way <> 'share' AND coalesce(h.groups, g.groups, 0) > 1 AS ambiguous,
        CASE WHEN d.delivery_ns > 0 THEN CAST(ceil(64 * ln(d.delivery_ns / 1e9) / ln(2)) AS INT) ELSE -2000 END AS bucket
    FROM delivered AS d
        LEFT JOIN held_partitions AS h
            ON h.cluster = coalesce(d.cluster, '') AND h.client_address = d.client_address
            AND h.client_id = coalesce(d.client_id, '') AND h.topic = d.topic AND h.partition = d.partition
        LEFT JOIN client_groups AS g
            ON g.cluster = coalesce(d.cluster, '') AND g.client_address = d.client_address
            AND g.client_id = coalesce(d.client_id, '')
    WHERE d.topic IN (SELECT coalesce(topic, topic_id) FROM batches) AND (
        d.fetch_exchange IN (SELECT exchange FROM exchanges) OR d.produce_exchange IN (SELECT exchange FROM exchanges)
    )
),
buckets AS (
    SELECT
        cluster, topic, client_address, client_id, principal, group_id, ambiguous, isolation_level, way, bucket,
        count(*) AS n,
        sum(records) AS records,
        sum(delivery_ns) AS total_ns,
        min(delivery_ns) AS low,
        max(delivery_ns) AS high,
        max_by(fetch_exchange, delivery_ns) AS slowest_fetch,
        max_by(produce_exchange, delivery_ns) AS slowest_produce
    FROM wanted
    GROUP BY
        cluster, topic, client_address, client_id, principal, group_id, ambiguous, isolation_level, way, bucket
),
running AS (
    SELECT
        *,
        sum(n) OVER (
            PARTITION BY
                cluster, topic, client_address, client_id, principal, group_id, ambiguous, isolation_level, way
            ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS upto,
        sum(n) OVER (
            PARTITION BY
                cluster, topic, client_address, client_id, principal, group_id, ambiguous, isolation_level, way
        ) AS total
    FROM buckets
),
picked AS (
    SELECT
        cluster, topic, client_address, client_id, principal, group_id, ambiguous, isolation_level, way,
        CAST(sum(n) AS BIGINT) AS batches,
        CAST(sum(records) AS BIGINT) AS records,
        CAST(sum(total_ns) AS DOUBLE) / sum(n) AS mean,
        min(bucket) FILTER (WHERE upto * 100 >= total * 50) AS b50,
        min(bucket) FILTER (WHERE upto * 100 >= total * 95) AS b95,
        min(bucket) FILTER (WHERE upto * 100 >= total * 99) AS b99,
        min(low) AS low,
        max(high) AS high,
        max_by(slowest_fetch, high) AS slowest_fetch,
        max_by(slowest_produce, high) AS slowest_produce
    FROM running
    GROUP BY cluster, topic, client_address, client_id, principal, group_id, ambiguous, isolation_level, way
)
SELECT
    cluster,
    topic,
    client_address,
    client_id,
    principal,
    group_id,
    ambiguous,
    CASE isolation_level WHEN 1 THEN 'read_committed' WHEN 0 THEN 'read_uncommitted' END AS isolation,
    way,
    batches,
    records,
    CAST(round(mean) AS BIGINT) AS mean_ns,
    CASE WHEN b50 = -2000 THEN 0
        ELSE CAST(least(greatest(round(1e9 * exp((b50 - 0.5) * (ln(2) / 64))), low), high) AS BIGINT) END AS p50_ns,
    CASE WHEN b95 = -2000 THEN 0
        ELSE CAST(least(greatest(round(1e9 * exp((b95 - 0.5) * (ln(2) / 64))), low), high) AS BIGINT) END AS p95_ns,
    CASE WHEN b99 = -2000 THEN 0
        ELSE CAST(least(greatest(round(1e9 * exp((b99 - 0.5) * (ln(2) / 64))), low), high) AS BIGINT) END AS p99_ns,
    high AS max_ns,
    slowest_fetch AS example_exchange,
    slowest_produce AS produce_exchange
FROM picked
ORDER BY topic, way DESC, isolation, group_id, client_id, client_address, principal, cluster
