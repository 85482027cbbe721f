-- What is known of an exchange beyond its own row, for the few of which something is: of a Fetch, what its session tells
-- (`fetch_states`) and whether it reads the metadata log, whose topic has a fixed id (KIP-595); whether it was alone
-- on its way; of an Envelope, the request inside.
SELECT
    coalesce(s.exchange, o.exchange) AS exchange,
    coalesce(o.raft, false) AS raft,
    coalesce(s.redirected, false) AS redirected,
    coalesce(o.crowded, false) AS crowded,
    s.state,
    o.inner_api_key,
    o.inner_client_id
FROM fetch_states AS s FULL JOIN (
    SELECT
        exchange,
        max(raft) = 1 AS raft,
        max(crowded) = 1 AS crowded,
        min(inner_api_key) AS inner_api_key,
        min(inner_client_id) AS inner_client_id
    FROM (
        SELECT exchange, 1 AS raft, 0 AS crowded, CAST(NULL AS SMALLINT) AS inner_api_key, CAST(NULL AS STRING) AS inner_client_id
        FROM raw_entries
        WHERE topic = '__cluster_metadata' OR topic_id = 'AAAAAAAAAAAAAAAAAAAAAQ'
        UNION ALL
        SELECT exchange, 0, 0, inner_api_key, inner_client_id FROM raw_envelopes
        UNION ALL
        SELECT exchange, 0, 1, NULL, NULL FROM crowded_exchanges
    ) AS signs
    GROUP BY exchange
) AS o ON o.exchange = s.exchange
