-- Which entry of an account of impact is nearest to its limit? One row, or none where these accounts are empty: the account, the API, how many
-- `times`, the time that they lost (of `rebalance` and `connecting`: the longest), and `of_limit`, a share. Clients alone count, and sums by
-- API are enough, for a report that found nothing: how connections ended, what is repeated or brings nothing is left to `impact`.
WITH entries AS (
    SELECT
        CASE
            WHEN status = 'answered' AND kind IN ('join_wait', 'sync_wait') THEN 'rebalance'
            WHEN status = 'answered' THEN 'time'
            ELSE 'unanswered'
        END AS account,
        api_key,
        CAST(sum(CASE WHEN status = 'answered' THEN long ELSE exchanges END) AS BIGINT) AS times,
        TRY_CAST(sum(long_ns) AS BIGINT) AS long_ns,
        max(latency_ns) AS longest_ns
    FROM exchange_sorts
    WHERE is_client AND api_key IS NOT NULL AND CASE
        WHEN status = 'answered' THEN long > 0 AND (
            is_of_broker OR kind IN ('join_wait', 'sync_wait', 'wait')
        )
        ELSE status IN ('closed', 'abandoned', 'pending') AND api_key NOT IN (api('Fetch', 'JoinGroup', 'SyncGroup', 'ShareFetch'))
    END
    GROUP BY 1, api_key
    UNION ALL
    SELECT 'refused', x.api_key, count(DISTINCT e.exchange), NULL, NULL
    FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
    WHERE e.expected IS NOT TRUE AND is_client(x.role)
    GROUP BY x.api_key
    UNION ALL
    SELECT 'connecting', NULL, count(*), NULL, max(syn_ack_ns)
    FROM connections
    WHERE is_kafka AND seen_from = 'syn' AND syn_ack_ns >= ms(500)
    HAVING count(*) > 0
),
judged AS (
    SELECT
        account,
        api_key,
        times,
        CASE account WHEN 'time' THEN long_ns WHEN 'unanswered' THEN NULL ELSE longest_ns END AS lost_ns,
        1.0 * CASE account
            WHEN 'time' THEN long_ns / greatest(impact('slow_ns'), impact('slow_share') * (SELECT max(last_time_ns) - min(first_time_ns) FROM time_range))
            WHEN 'rebalance' THEN longest_ns / impact('stuck_ns')
            WHEN 'connecting' THEN longest_ns / impact('setup_ns')
            ELSE times / impact('refusals')
        END AS of_limit
    FROM entries
)
SELECT account, api_key, times, lost_ns, of_limit
FROM judged
ORDER BY of_limit DESC, account, api_key
LIMIT 1
