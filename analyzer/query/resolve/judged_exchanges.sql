-- Exchanges with their kind: what each tells of itself, and of a Fetch what its session says.
SELECT
    x.*,
    CASE
        WHEN x.api_key = 1 AND f.raft THEN 'fetch_raft'
        WHEN f.redirected THEN 'fetch_redirect'
        WHEN x.own_kind = 'fetch_unknown' THEN coalesce(f.state, x.own_kind)
        ELSE x.own_kind
    END AS kind
FROM placed_exchanges AS x
LEFT JOIN fetch_states AS f ON f.exchange = x.exchange
