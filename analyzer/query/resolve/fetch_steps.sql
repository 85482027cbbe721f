-- Partitions that a consumer's Fetch names in its request or reply, with the state that its fetch session (KIP-227) had for
-- each before. Sessions belong to a broker and outlive connections; a Fetch without a session names all partitions that it reads.
-- `session_at` is a number of the broker, without a session the part: a session is (session_at, session_id). `behind`, `unknown`:
-- of the partition when the Fetch began; `behind_after`: after its reply; `behind_before`: after the reply that named it last. 0
-- or 1.
WITH brokers_of_parts AS (
    SELECT part, dense_rank() OVER (ORDER BY broker_address, broker_port) AS broker
    FROM connection_context
    WHERE is_kafka
),
named AS (
    SELECT CASE WHEN f.session_id <> 0 THEN b.broker ELSE f.part END AS session_at, f.*
    FROM fetch_names AS f JOIN brokers_of_parts AS b ON b.part = f.part
),
-- Partitions of sessions: numbers are sorted in a fraction of the time that texts take.
tracks AS (
    SELECT *, row_number() OVER (ORDER BY session_at, session_id, topic_key, partition) AS track
    FROM (
        SELECT session_at, session_id, topic_key, partition FROM named GROUP BY session_at, session_id, topic_key, partition
    ) AS k
),
-- Rows with the same last requested offset have one `offset_run`, with the same last known end one `end_run`; 0: none was
-- requested or known yet.
runs AS (
    SELECT
        n.*,
        t.track,
        count(n.asked_offset) OVER in_time AS offset_run,
        count(n.told_end) OVER in_time AS end_run,
        lag(n.forgotten) OVER in_time AS forgotten_before,
        lag(n.told_next) OVER in_time AS told_next_before
    FROM named AS n JOIN tracks AS t
        ON t.session_at = n.session_at AND t.session_id = n.session_id AND t.topic_key IS NOT DISTINCT FROM n.topic_key
        AND t.partition IS NOT DISTINCT FROM n.partition
    WINDOW in_time AS (PARTITION BY t.track ORDER BY n.asked_ns, n.exchange)
),
requested AS (
    SELECT track, offset_run, max(asked_offset) AS fetch_offset
    FROM runs
    WHERE asked_offset IS NOT NULL
    GROUP BY track, offset_run
),
ends AS (
    SELECT track, end_run, max(told_end) AS newest_end
    FROM runs
    WHERE told_end IS NOT NULL
    GROUP BY track, end_run
),
known AS (
    SELECT
        r.*,
        o.fetch_offset,
        q.fetch_offset AS fetch_offset_before,
        n.newest_end,
        e.newest_end AS end_offset
    FROM runs AS r
    LEFT JOIN requested AS o ON o.track = r.track AND o.offset_run = r.offset_run
    LEFT JOIN requested AS q
        ON q.track = r.track AND q.offset_run = r.offset_run - CASE WHEN r.asked_offset IS NULL THEN 0 ELSE 1 END
    LEFT JOIN ends AS n ON n.track = r.track AND n.end_run = r.end_run
    LEFT JOIN ends AS e ON e.track = r.track AND e.end_run = r.end_run - CASE WHEN r.told_end IS NULL THEN 0 ELSE 1 END
)
SELECT
    session_at,
    session_id,
    session_epoch,
    asked_ns,
    exchange,
    part,
    response_time_ns,
    topic,
    topic_id,
    partition,
    forgotten,
    told_end,
    told_next,
    record_bytes,
    preferred_read_replica,
    fetch_offset,
    newest_end,
    end_offset,
    CASE WHEN forgotten = 0 AND fetch_offset < end_offset THEN 1 ELSE 0 END AS behind,
    CASE WHEN forgotten = 0 AND (fetch_offset IS NULL OR end_offset IS NULL) THEN 1 ELSE 0 END AS unknown,
    CASE WHEN forgotten = 0 AND coalesce(told_next, fetch_offset) < newest_end THEN 1 ELSE 0 END AS behind_after,
    CASE WHEN forgotten_before = 0 AND coalesce(told_next_before, fetch_offset_before) < end_offset THEN 1 ELSE 0 END
        AS behind_before
FROM known
