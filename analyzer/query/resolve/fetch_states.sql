-- What the fetch session tells of a Fetch: `state` is fetch_backlog when some partition of the session was behind its last known
-- end, fetch_tail when all partitions with records had been read to their ends; `redirected`: the reply names another replica to
-- read from; `raft`: the Fetch reads the metadata log, whose topic has a fixed id (KIP-595).
SELECT exchange, max(raft) = 1 AS raft, max(redirected) = 1 AS redirected, max(state) AS state
FROM (
    SELECT
        exchange,
        0 AS raft,
        CASE WHEN preferred_read_replica >= 0 THEN 1 ELSE 0 END AS redirected,
        CASE
            WHEN partitions_behind > 0 THEN 'fetch_backlog'
            WHEN with_records > 0 AND with_unknown = 0 THEN 'fetch_tail'
        END AS state
    FROM fetch_sessions
    UNION ALL
    SELECT exchange, 1 AS raft, 0 AS redirected, CAST(NULL AS STRING) AS state
    FROM raw_entries
    WHERE topic = '__cluster_metadata' OR topic_id = 'AAAAAAAAAAAAAAAAAAAAAQ'
    GROUP BY exchange
) AS signs
GROUP BY exchange
