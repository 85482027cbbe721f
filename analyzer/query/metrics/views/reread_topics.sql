-- Which topics are read again? One row per group (or client, where it is in no group that is known) and topic: `times` that a connection
-- began before where an earlier one had read to, `again` records that were read once more of `records` read in all, from `from_offset` on.
-- `commits`: commits of the group that the capture has and that were not refused, null: no group. Three times at the same offset, and no
-- commit since the first of these (`stuck_ns`): whatever it committed before, high from 10 s on, as in `stuck_readers`; but not where it
-- was never seen before this offset: who reads all at each start, as a cache does, begins at one offset too. Three times at least (twice: for
-- information), half of what was read, and a hundred records: one that goes on at its last commit reads little again. Connections at the
-- same time are two readers, and tell nothing. `skips`, `skipped`: where instead each start lies behind all that was read, as the group
-- has no offsets and its members were told so each time, records between two starts are never read (as many as are told there).
WITH reads AS (
    SELECT
        c.cluster,
        coalesce(s.topic, s.topic_id) AS topic,
        s.partition,
        s.client_address,
        s.client_id,
        s.connection,
        min_by(s.began_offset, (s.began_ns, s.began_exchange)) AS from_offset,
        min_by(s.began_exchange, (s.began_ns, s.began_exchange)) AS exchange,
        min(s.began_ns) AS first_time_ns,
        max(s.read_to) AS read_to,
        max(s.read_to_ns) AS last_time_ns
    FROM fetch_sums AS s JOIN connections AS c ON c.connection = s.connection
    WHERE coalesce(s.topic, s.topic_id) IN (SELECT topic FROM partition_clients WHERE connections >= 3)
        AND s.of_consumer AND s.began_ns IS NOT NULL
    GROUP BY c.cluster, coalesce(s.topic, s.topic_id), s.partition, s.client_address, s.client_id, s.connection
),
owned AS (
    SELECT
        r.*,
        g.group_id,
        CASE WHEN g.group_id IS NULL THEN r.client_address END AS address,
        CASE WHEN g.group_id IS NULL THEN coalesce(r.client_id, '') END AS id
    FROM reads AS r
    LEFT JOIN client_groups AS g
        ON g.cluster = coalesce(r.cluster, '') AND g.client_address = r.client_address AND g.client_id = coalesce(r.client_id, '')
),
followed AS (
    SELECT *, max(read_to) OVER earlier AS read_before, max(last_time_ns) OVER earlier AS before_ns
    FROM owned
    WINDOW earlier AS (
        PARTITION BY cluster, group_id, address, id, topic, partition ORDER BY first_time_ns, connection
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
judged AS (
    SELECT
        *,
        CASE WHEN before_ns < first_time_ns AND from_offset < least(read_to, read_before)
            THEN least(read_to, read_before) - from_offset END AS again,
        CASE WHEN before_ns < first_time_ns AND group_id IS NOT NULL AND from_offset > read_before
            THEN from_offset - read_before END AS skipped
    FROM followed
),
-- One start may be a connection to each of several brokers: it counts once, as one partition sees it.
counted AS (
    SELECT
        *,
        count(again) OVER (PARTITION BY cluster, group_id, address, id, topic, partition) AS times,
        min(from_offset) OVER (PARTITION BY cluster, group_id, address, id, topic, partition) AS least_offset,
        count(skipped) OVER (PARTITION BY cluster, group_id, address, id, topic, partition) AS skips,
        count(again) OVER of_offset AS times_there,
        min(CASE WHEN again IS NOT NULL THEN first_time_ns END) OVER of_offset AS there_since_ns
    FROM judged
    WINDOW of_offset AS (PARTITION BY cluster, group_id, address, id, topic, partition, from_offset)
),
commits AS (
    SELECT
        c.cluster,
        x.group_id,
        count(*) FILTER (WHERE coalesce(x.error_code, error('NONE')) = error('NONE')) AS commits,
        max(x.request_time_ns) FILTER (WHERE coalesce(x.error_code, error('NONE')) = error('NONE')) AS last_ns,
        nullif(count(*) FILTER (WHERE x.error_code <> error('NONE')), 0) AS refused
    FROM exchanges AS x JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key = api('OffsetCommit') AND x.group_id IN (SELECT group_id FROM counted WHERE times >= 2 OR skips >= 2)
    GROUP BY c.cluster, x.group_id
),
-- Who was told that there is no offset.
uncommitted AS (
    SELECT c.cluster, x.group_id, coalesce(e.topic, e.topic_id) AS topic, count(DISTINCT x.exchange) AS times
    FROM entries AS e
    JOIN exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE x.api_key = api('OffsetFetch') AND e.side = 'response' AND e.offset = -1
        AND x.group_id IN (SELECT group_id FROM counted WHERE skips >= 2)
    GROUP BY c.cluster, x.group_id, coalesce(e.topic, e.topic_id)
),
told AS (
    SELECT
        min_by(who(j), (j.first_time_ns, j.connection, j.partition)) AS who,
        min_by(j.client_address, (j.first_time_ns, j.connection, j.partition)) AS client_address,
        j.group_id,
        j.topic,
        count(DISTINCT j.partition) AS partitions,
        CAST(max(j.times) AS BIGINT) AS times,
        CASE WHEN max(j.times) = 0 THEN CAST(max(j.skips) AS BIGINT) END AS skips,
        CASE WHEN max(j.times) = 0 THEN CAST(sum(j.skipped) AS BIGINT) END AS skipped,
        max(n.times) AS told_none,
        CAST(sum(j.again) AS BIGINT) AS again,
        CAST(sum(greatest(j.read_to - j.from_offset, 0)) AS BIGINT) AS records,
        min_by(j.from_offset, (j.first_time_ns, j.connection, j.partition)) FILTER (WHERE j.again IS NOT NULL) AS from_offset,
        CASE WHEN j.group_id IS NOT NULL THEN coalesce(max(c.commits), 0) END AS commits,
        max(c.refused) AS refused,
        bool_or(j.times_there >= 3 AND j.from_offset > j.least_offset) AS is_behind,
        CASE WHEN max(c.last_ns) < min(j.there_since_ns) FILTER (WHERE j.times_there >= 3)
            THEN max(j.last_time_ns) - min(j.there_since_ns) FILTER (WHERE j.times_there >= 3) END AS stuck_ns,
        CAST(coalesce(sum(j.again), sum(j.skipped)) AS BIGINT) AS weight,
        min_by(j.connection, (j.first_time_ns, j.connection, j.partition)) FILTER (WHERE coalesce(j.again, j.skipped) IS NOT NULL) AS connection,
        min_by(j.exchange, (j.first_time_ns, j.connection, j.partition)) FILTER (WHERE coalesce(j.again, j.skipped) IS NOT NULL) AS evidence_first,
        max_by(j.exchange, (j.first_time_ns, j.connection, j.partition)) FILTER (WHERE coalesce(j.again, j.skipped) IS NOT NULL) AS evidence_last,
        min(j.first_time_ns) AS first_time_ns,
        max(j.last_time_ns) AS last_time_ns
    FROM counted AS j
    LEFT JOIN commits AS c ON c.cluster IS NOT DISTINCT FROM j.cluster AND c.group_id = j.group_id
    LEFT JOIN uncommitted AS n ON n.cluster IS NOT DISTINCT FROM j.cluster AND n.group_id = j.group_id AND n.topic = j.topic
    GROUP BY j.cluster, j.group_id, j.address, j.id, j.topic
    HAVING (max(j.times) >= 2
        AND sum(j.again) >= 100 AND sum(j.again) * 2 >= sum(greatest(j.read_to - j.from_offset, 0)))
        OR (max(j.times) = 0 AND max(j.skips) >= 2 AND sum(j.skipped) >= 100 AND coalesce(max(c.commits), 0) = 0
            AND max(n.times) > max(j.skips))
)
SELECT
    * EXCLUDE (stuck_ns, is_behind, refused, told_none) REPLACE (CASE WHEN skips IS NULL THEN records END AS records, nullif(times, 0) AS times),
    CASE
        WHEN commits = 0 AND refused > 0 THEN 'all ' || CAST(refused AS STRING) || ' were refused'
        WHEN commits = 0 THEN 'none'
        WHEN stuck_ns IS NOT NULL THEN 'none since then'
    END AS committed,
    CASE
        WHEN skips > 0 AND refused IS NULL
            THEN 'The group has no committed offset, so each start begins at the end (auto.offset.reset=latest), and what was written meanwhile is left out: let the consumer commit what it has processed (enable.auto.commit, or a commit behind each batch). Where it is meant to see new records alone, this is by design.'
        WHEN commits = 0 AND refused > 0 THEN 'Find out why the commits are refused (kanalyze groups): the group goes on at its last commit that was not.'
        WHEN stuck_ns IS NOT NULL AND is_behind THEN 'The consumer seems to fail each time at a record behind this offset: look at its log. To go on without that record, skip it (kafka-consumer-groups.sh --reset-offsets).'
        ELSE 'Let the consumer commit what it has processed (enable.auto.commit, or a commit behind each batch), and close it in order, so that it goes on where it stopped. Where it is meant to read all at each start, as a cache does, this is by design.'
    END AS advice,
    CASE
        WHEN stuck_ns >= impact('stuck_ns') AND is_behind THEN 'high'
        WHEN coalesce(skips, times) < 3 OR (stuck_ns IS NULL AND coalesce(commits, 1) > 0) THEN 'info'
    END AS severity
FROM told
