-- What is known of an exchange beyond its own row, for the few of which something is: of a Fetch, what its session tells
-- (`fetch_states`) and whether it reads the metadata log, whose topic has a fixed id (KIP-595); whether it was alone
-- on its way; of an Envelope, the request inside.
SELECT
    exchange,
    max(raft) = 1 AS raft,
    max(redirected) = 1 AS redirected,
    max(crowded) = 1 AS crowded,
    max(state) AS state,
    min(inner_api_key) AS inner_api_key,
    min(inner_client_id) AS inner_client_id
FROM (
    SELECT
        exchange,
        0 AS raft,
        0 AS crowded,
        CASE WHEN redirected THEN 1 ELSE 0 END AS redirected,
        state,
        CAST(NULL AS SMALLINT) AS inner_api_key,
        CAST(NULL AS STRING) AS inner_client_id
    FROM fetch_states
    UNION ALL
    SELECT
        exchange, 1 AS raft, 0 AS crowded, 0 AS redirected, CAST(NULL AS STRING) AS state, CAST(NULL AS SMALLINT) AS inner_api_key,
        CAST(NULL AS STRING) AS inner_client_id
    FROM raw_entries
    WHERE topic = '__cluster_metadata' OR topic_id = 'AAAAAAAAAAAAAAAAAAAAAQ'
    GROUP BY exchange
    UNION ALL
    SELECT exchange, 0 AS raft, 0 AS crowded, 0 AS redirected, CAST(NULL AS STRING) AS state, inner_api_key, inner_client_id
    FROM raw_envelopes
    UNION ALL
    SELECT
        exchange, 0 AS raft, 1 AS crowded, 0 AS redirected, CAST(NULL AS STRING) AS state, CAST(NULL AS SMALLINT) AS inner_api_key,
        CAST(NULL AS STRING) AS inner_client_id
    FROM crowded_exchanges
) AS signs
GROUP BY exchange
