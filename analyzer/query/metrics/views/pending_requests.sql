-- Which requests had no reply yet when the capture ended, and until when (`until_ns`) could one have been seen? One row per request. Where
-- its connection goes on in a later file, that one could have shown the reply too. `is_lost`: no broker holds it by design. A Fetch says how
-- long it may be held: one that waits for longer, by as much as a client may be stuck, has lost its broker.
SELECT
    *,
    coalesce(CASE
        WHEN api_key = api('Fetch') THEN until_ns - request_end_ns >= impact('stuck_ns')
            AND until_ns - request_end_ns >= CAST(max_wait_ms AS BIGINT) * ms(1) + impact('stuck_ns')
        ELSE coalesce(api_key, -1) NOT IN (api('JoinGroup', 'SyncGroup', 'ShareFetch'))
    END, false) AS is_lost
FROM (
    SELECT
        x.exchange, x.api_key, x.max_wait_ms, x.request_end_ns,
        least(greatest(u.until_ns, c.last_time_ns), r.last_time_ns) AS until_ns
    FROM exchanges AS x
    LEFT JOIN captured_until AS u ON u.file = x.request_file
    LEFT JOIN connections AS c ON c.connection = x.connection
    CROSS JOIN time_range AS r
    WHERE x.status = 'pending'
) AS p
