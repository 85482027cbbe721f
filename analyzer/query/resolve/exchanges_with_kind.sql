-- Exchanges with their wait kind: the one that the exchange itself tells, and for a Fetch what its fetch session tells.
SELECT
    x.*,
    CASE
        WHEN x.api_key = 1 AND r.exchange IS NOT NULL THEN 'fetch_raft'
        WHEN f.redirected THEN 'fetch_redirect'
        WHEN x.own_kind = 'fetch_unknown' THEN coalesce(f.state, x.own_kind)
        ELSE x.own_kind
    END AS kind
FROM exchanges_with_packets AS x
LEFT JOIN fetch_states AS f ON f.exchange = x.exchange
LEFT JOIN raft_fetches AS r ON r.exchange = x.exchange
