-- What the fetch session tells of a Fetch: `state` is fetch_backlog when some partition of the session was behind its last known
-- end, fetch_tail when all partitions with records had been read to their ends; `redirected`: the reply names another replica to
-- read from. A Fetch of which nothing is told has no row.
SELECT *
FROM (
    SELECT
        exchange,
        coalesce(preferred_read_replica >= 0, false) AS redirected,
        CASE
            WHEN partitions_behind > 0 THEN 'fetch_backlog'
            WHEN with_records > 0 AND with_unknown = 0 THEN 'fetch_tail'
        END AS state
    FROM fetch_sessions
) AS told
WHERE redirected OR state IS NOT NULL
