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
-- What was last requested and told of each partition before this Fetch.
known AS (
    SELECT
        n.*,
        lag(n.forgotten) OVER in_time AS forgotten_before,
        lag(n.told_next) OVER in_time AS told_next_before,
        lag(n.asked_offset IGNORE NULLS) OVER in_time AS fetch_offset_before,
        lag(n.told_end IGNORE NULLS) OVER in_time AS end_offset
    FROM named AS n
    WINDOW in_time AS (PARTITION BY n.session_at, n.session_id, n.topic_key, n.partition ORDER BY n.asked_ns, n.exchange)
),
-- And with it.
newest AS (
    SELECT *, coalesce(asked_offset, fetch_offset_before) AS fetch_offset, coalesce(told_end, end_offset) AS newest_end
    FROM known
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
FROM newest
