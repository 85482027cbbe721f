-- Partitions that a consumer's Fetch names in its request or reply, with the state that its fetch session (KIP-227) had for
-- each before. Sessions belong to a broker and outlive connections; a Fetch without a session names all partitions that it reads.
-- `behind`, `unknown`: of the partition when the Fetch began; `behind_after`: after its reply. 0 or 1.
WITH named AS (
    SELECT
        CASE WHEN f.session_id <> 0 THEN p.broker_address ELSE '' END AS session_address,
        -- Without a session the state is that of the connection.
        CASE WHEN f.session_id <> 0 THEN p.broker_port ELSE f.part END AS session_port,
        f.*
    FROM fetch_names AS f JOIN connection_context AS p ON p.part = f.part
    WHERE p.is_kafka
),
-- Groups of rows with the same last requested offset and the same last known end.
runs AS (
    SELECT
        n.session_address,
        n.session_port,
        n.session_id,
        n.asked_ns,
        n.exchange,
        n.part,
        n.response_time_ns,
        n.session_epoch,
        n.topic_key,
        n.topic,
        n.topic_id,
        n.partition,
        n.forgotten,
        n.asked_offset,
        CASE WHEN n.told_end >= 0 THEN n.told_end END AS told_end,
        n.told_next,
        n.record_bytes,
        n.preferred_read_replica,
        count(n.asked_offset) OVER by_partition AS offset_run,
        count(CASE WHEN n.told_end >= 0 THEN 1 END) OVER by_partition AS end_run
    FROM named AS n
    WINDOW by_partition AS (
        PARTITION BY n.session_address, n.session_port, n.session_id, n.topic_key, n.partition
        ORDER BY n.asked_ns, n.exchange ROWS UNBOUNDED PRECEDING
    )
),
known AS (
    SELECT
        *,
        max(asked_offset) OVER (
            PARTITION BY session_address, session_port, session_id, topic_key, partition, offset_run
        ) AS fetch_offset,
        max(told_end) OVER (
            PARTITION BY session_address, session_port, session_id, topic_key, partition, end_run
        ) AS newest_end
    FROM runs
),
before AS (
    SELECT
        *,
        lag(newest_end) OVER (
            PARTITION BY session_address, session_port, session_id, topic_key, partition ORDER BY asked_ns, exchange
        ) AS end_offset
    FROM known
)
SELECT
    *,
    CASE WHEN forgotten = 0 AND fetch_offset < end_offset THEN 1 ELSE 0 END AS behind,
    CASE WHEN forgotten = 0 AND (fetch_offset IS NULL OR end_offset IS NULL) THEN 1 ELSE 0 END AS unknown,
    CASE WHEN forgotten = 0 AND coalesce(told_next, fetch_offset) < newest_end THEN 1 ELSE 0 END AS behind_after
FROM before
