-- Which producers wait for the end of their own transaction before? One row per client, transactional id and API that was refused with
-- CONCURRENT_TRANSACTIONS: markers of the transaction before were still being written (whom InitProducerId waits for may be another
-- producer). `waited_ns`: from each of these requests to the next one of the same API, a second at most each; `held`: waits that ended,
-- as the next request was not refused so: who never gets on has an error, no waits. Twenty refusals, two seconds, and three tenths of
-- the time from the first request to the last.
WITH steps AS (
    SELECT
        x.*,
        coalesce(x.error_code = error('CONCURRENT_TRANSACTIONS'), false) AS is_refused,
        least(lead(x.request_time_ns) OVER next, x.request_time_ns + s(1)) - x.request_time_ns AS until_next_ns,
        lead(x.request_time_ns) OVER next IS NOT NULL AS has_next,
        lead(coalesce(x.error_code <> error('CONCURRENT_TRANSACTIONS'), false)) OVER next AS goes_on
    FROM exchanges AS x
    WHERE x.transactional_id IS NOT NULL AND x.request_time_ns IS NOT NULL AND is_client(x.role)
        AND x.api_key IN (api('AddPartitionsToTxn', 'AddOffsetsToTxn', 'Produce', 'TxnOffsetCommit'))
    WINDOW next AS (
        PARTITION BY x.client_address, x.client_id, x.transactional_id, x.api_key ORDER BY x.request_time_ns, x.exchange
    )
)
SELECT
    who(s) AS who,
    s.client_address,
    s.transactional_id,
    s.api_name,
    count(*) FILTER (WHERE is_refused) AS refused,
    count(*) FILTER (WHERE is_refused AND goes_on) AS held,
    TRY_CAST(sum(until_next_ns) FILTER (WHERE is_refused AND has_next) AS BIGINT) AS waited_ns,
    max(request_time_ns) - min(request_time_ns) AS lasted_ns,
    CASE WHEN sum(until_next_ns) FILTER (WHERE is_refused AND has_next)
        >= ms(100) * count(*) FILTER (WHERE is_refused AND goes_on) THEN 'medium' ELSE 'info' END AS severity,
    count(*) FILTER (WHERE is_refused) AS weight,
    min_by(exchange, (request_time_ns, exchange)) FILTER (WHERE is_refused) AS evidence_first,
    max_by(exchange, (request_time_ns, exchange)) FILTER (WHERE is_refused) AS evidence_last,
    min(request_time_ns) FILTER (WHERE is_refused) AS first_time_ns,
    max(request_time_ns) FILTER (WHERE is_refused) AS last_time_ns
FROM steps AS s
GROUP BY s.client_address, s.client_id, s.transactional_id, s.api_name
HAVING count(*) FILTER (WHERE is_refused) >= 20
    AND count(*) FILTER (WHERE is_refused AND goes_on) > 0
    AND sum(until_next_ns) FILTER (WHERE is_refused AND has_next) >= greatest(s(2), 0.3 * (max(request_time_ns) - min(request_time_ns)))
