-- Exchanges with what else is known of them, and their wait kind: the one that the exchange itself tells, and for a Fetch what its
-- fetch session tells. The facts are grouped by exchange though they have one row for each: an engine that knows a key to be
-- unique leaves the join out of questions that do not read its columns, if it is the only such join.
SELECT
    x.*,
    CASE
        WHEN x.api_key = 1 AND f.raft THEN 'fetch_raft'
        WHEN f.redirected THEN 'fetch_redirect'
        WHEN x.own_kind = 'fetch_unknown' THEN coalesce(f.state, x.own_kind)
        ELSE x.own_kind
    END AS kind,
    coalesce(f.crowded, false) AS crowded,
    f.inner_api_key,
    f.inner_client_id
FROM exchanges_with_packets AS x
LEFT JOIN (
    SELECT
        exchange,
        bool_or(raft) AS raft,
        bool_or(redirected) AS redirected,
        bool_or(crowded) AS crowded,
        min(state) AS state,
        min(inner_api_key) AS inner_api_key,
        min(inner_client_id) AS inner_client_id
    FROM exchange_facts
    GROUP BY exchange
) AS f ON f.exchange = x.exchange
