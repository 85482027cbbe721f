-- Who reads each partition? One row per partition, client, isolation level and group. `way` is fetch or share. A Fetch names
-- no group: it is the one that assigned the partition to this client, else the client's only group, else null, and
-- `ambiguous` when several could be meant. Positions, ends and lags are in records, `first_` and `last_` in order of time;
-- `below` counts replies whose end lies before the position; `is_newest`: nobody else of the group read it later. Bytes are of records, as on the wire. Null: not known.
WITH fetched AS (
    SELECT
        c.cluster,
        coalesce(s.topic, s.topic_id) AS topic,
        s.partition,
        s.client_address,
        s.client_id,
        coalesce(s.principal, c.principal) AS principal,
        s.isolation_level,
        CAST(sum(s.fetches) AS BIGINT) AS fetches,
        CAST(sum(s.with_records) AS BIGINT) AS with_records,
        sum(s.record_bytes) AS record_bytes,
        CAST(sum(s.below) AS BIGINT) AS below,
        min_by(s.first_lag, s.first_lag_ns) FILTER (WHERE s.first_lag_ns IS NOT NULL) AS first_lag,
        max_by(s.last_lag, s.last_lag_ns) FILTER (WHERE s.last_lag_ns IS NOT NULL) AS last_lag,
        max(s.max_lag) AS max_lag,
        max_by(s.last_position, s.last_position_ns) FILTER (WHERE s.last_position_ns IS NOT NULL) AS last_position,
        max_by(s.last_end, s.last_end_ns) FILTER (WHERE s.last_end_ns IS NOT NULL) AS last_end,
        bool_or(s.partial) AS partial,
        min(s.first_time_ns) AS first_time_ns,
        max(s.last_time_ns) AS last_time_ns
    FROM fetch_sums AS s JOIN connections AS c ON c.connection = s.connection
    WHERE s.of_consumer
    GROUP BY
        c.cluster, coalesce(s.topic, s.topic_id), s.partition, s.client_address, s.client_id,
        coalesce(s.principal, c.principal), s.isolation_level
),
shared AS (
    SELECT
        c.cluster,
        coalesce(e.topic, e.topic_id) AS topic,
        e.partition,
        x.client_address,
        x.client_id,
        coalesce(x.principal, c.principal) AS principal,
        x.group_id,
        count(*) AS fetches,
        count(*) FILTER (WHERE e.record_bytes > 0) AS with_records,
        sum(e.record_bytes) AS record_bytes,
        min(x.request_time_ns) AS first_time_ns,
        max(x.request_time_ns) AS last_time_ns
    FROM entries AS e
        JOIN exchanges AS x ON x.exchange = e.exchange
        JOIN connections AS c ON c.connection = e.connection
    WHERE x.api_key = api('ShareFetch') AND e.side = 'response'
    GROUP BY
        c.cluster, coalesce(e.topic, e.topic_id), e.partition, x.client_address, x.client_id,
        coalesce(x.principal, c.principal), x.group_id
),
all_readers AS (
    SELECT
        'fetch' AS way,
        f.cluster,
        f.topic,
        f.partition,
        f.client_address,
        f.client_id,
        f.principal,
        CASE WHEN h.groups IS NOT NULL THEN h.group_id ELSE g.group_id END AS group_id,
        coalesce(h.groups, g.groups, 0) > 1 AS ambiguous,
        CASE f.isolation_level WHEN 1 THEN 'read_committed' WHEN 0 THEN 'read_uncommitted' END AS isolation,
        f.fetches,
        f.with_records,
        CAST(f.record_bytes AS BIGINT) AS record_bytes,
        f.below,
        f.first_lag,
        f.last_lag,
        f.max_lag,
        f.last_position,
        f.last_end,
        f.partial,
        f.first_time_ns,
        f.last_time_ns
    FROM fetched AS f
        LEFT JOIN held_partitions AS h
            ON h.cluster = coalesce(f.cluster, '') AND h.client_address = f.client_address
            AND h.client_id = coalesce(f.client_id, '') AND h.topic = f.topic AND h.partition = f.partition
        LEFT JOIN client_groups AS g
            ON g.cluster = coalesce(f.cluster, '') AND g.client_address = f.client_address
            AND g.client_id = coalesce(f.client_id, '')
    UNION ALL
    SELECT
        'share', cluster, topic, partition, client_address, client_id, principal, group_id, false, NULL, fetches, with_records,
        CAST(record_bytes AS BIGINT), 0, NULL, NULL, NULL, NULL, NULL, false, first_time_ns, last_time_ns
    FROM shared
)
SELECT
    *,
    max(last_end) OVER (PARTITION BY cluster, topic, partition) AS newest_end,
    row_number() OVER (
        PARTITION BY
            cluster, topic, partition, way,
            coalesce(group_id, concat('client ', client_address, '|', coalesce(client_id, ''), '|', coalesce(principal, '')))
        ORDER BY last_time_ns DESC, client_address, client_id, principal, isolation
    ) = 1 AS is_newest
FROM all_readers
