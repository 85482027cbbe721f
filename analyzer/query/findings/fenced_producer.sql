-- severity: high
-- rank: 24
-- when: errors having bool_or(code IN (47, 90))
-- says: producer {named}[ and {others|other client|other clients}][ (transactional id {transactional_id})] {was} fenced ({name}), {times|time|times}[: {taken_by}][: its transaction was open for {open_ns}, longer than its transaction.timeout.ms ({timeout_ms}), so the broker ended it][: {unsure}]
-- do: {advice}
-- look: kanalyze transactions[ --client {who}]
-- explains: failing(INVALID_TXN_STATE|INVALID_PRODUCER_ID_MAPPING|UNKNOWN_PRODUCER_ID|CONCURRENT_TRANSACTIONS), resent_batches, unanswered
-- Once or twice is what fencing is for: an instance came back after another had taken over. High when it goes on. Who has one
-- transactional id and is thrown out by turns is one finding.
-- Who took its place got a producer id for the same transactional id since the transaction began. Where nobody did, and it was open
-- for longer than the timeout that its producer had asked for, the coordinator ended it and raised the epoch.
WITH fenced AS (
    SELECT
        e.exchange,
        e.name,
        coalesce(x.client_id, x.client_address) AS client,
        coalesce(x.client_id, '') AS client_id,
        x.request_time_ns,
        x.response_time_ns,
        -- A Produce that was cut off does not tell its id; another request of the same client does.
        coalesce(
            x.transactional_id, max(x.transactional_id) OVER (PARTITION BY coalesce(x.client_id, x.client_address))
        ) AS transactional_id
    FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
    WHERE e.code IN (47, 90) AND coalesce(x.role, 'client') = 'client'
),
shared AS (
    SELECT transactional_id FROM fenced GROUP BY transactional_id HAVING min(client) <> max(client)
),
ids AS (
    SELECT transactional_id FROM fenced WHERE transactional_id IS NOT NULL GROUP BY transactional_id
),
-- What began or ended transactions of these ids.
steps AS (
    SELECT t.transactional_id, coalesce(t.client_id, '') AS client, t.begin_ns AS time_ns, t.event, t.transaction_timeout_ms
    FROM transaction_events AS t JOIN ids AS i ON i.transactional_id = t.transactional_id
    WHERE coalesce(t.error_code, 0) = 0 AND t.event IN ('init', 'end', 'add_partitions', 'add_offsets')
    UNION ALL
    SELECT x.transactional_id, coalesce(x.client_id, ''), x.request_time_ns, 'write' AS event, CAST(NULL AS BIGINT) AS transaction_timeout_ms
    FROM exchanges AS x JOIN ids AS i ON i.transactional_id = x.transactional_id
    WHERE x.api_key = 0 AND x.request_time_ns IS NOT NULL
),
-- The last end of a transaction of its own before a producer was fenced, or the producer's own beginning.
began AS (
    SELECT
        f.exchange,
        max(CASE WHEN s.event = 'end' OR s.event = 'init' AND s.time_ns < w.time_ns THEN s.time_ns END) AS ended_ns
    FROM fenced AS f
    JOIN steps AS s ON s.transactional_id = f.transactional_id AND s.client = f.client_id AND s.time_ns < f.request_time_ns
    LEFT JOIN (
        SELECT f.exchange, max(s.time_ns) AS time_ns
        FROM fenced AS f
        JOIN steps AS s ON s.transactional_id = f.transactional_id AND s.client = f.client_id AND s.time_ns < f.request_time_ns
        WHERE s.event NOT IN ('init', 'end')
        GROUP BY f.exchange
    ) AS w ON w.exchange = f.exchange
    GROUP BY f.exchange
),
judged AS (
    SELECT
        f.exchange,
        min(CASE WHEN s.client = f.client_id AND s.event NOT IN ('init', 'end') AND s.time_ns > b.ended_ns THEN s.time_ns END) AS open_from_ns,
        max(CASE WHEN s.event = 'init' AND s.time_ns > b.ended_ns THEN 1 ELSE 0 END) AS taken,
        max_by(s.transaction_timeout_ms, s.time_ns) FILTER (WHERE s.client = f.client_id AND s.event = 'init' AND s.time_ns <= b.ended_ns) AS timeout_ms
    FROM fenced AS f
    JOIN began AS b ON b.exchange = f.exchange
    JOIN steps AS s ON s.transactional_id = f.transactional_id AND s.time_ns < f.request_time_ns
    GROUP BY f.exchange
),
told AS (
    SELECT
        f.*,
        j.taken,
        CASE WHEN j.taken = 0 AND f.request_time_ns - j.open_from_ns >= CAST(j.timeout_ms AS BIGINT) * 1000000
            THEN f.request_time_ns - j.open_from_ns END AS open_ns,
        j.timeout_ms
    FROM fenced AS f LEFT JOIN judged AS j ON j.exchange = f.exchange
)
SELECT
    CASE WHEN min(f.client) = max(f.client) THEN max(f.client) END AS who,
    min_by(f.client, (f.response_time_ns, f.exchange)) AS named,
    nullif(count(DISTINCT f.client) - 1, 0) AS others,
    CASE WHEN min(f.client) = max(f.client) THEN 'was' ELSE 'were' END AS was,
    max(f.transactional_id) AS transactional_id,
    CASE WHEN min(f.name) = max(f.name) THEN max(f.name) ELSE min(f.name) || ' and ' || max(f.name) END AS name,
    count(DISTINCT f.exchange) AS times,
    CASE WHEN max(f.taken) = 1 OR min(f.client) <> max(f.client) THEN 'another producer took its place' END AS taken_by,
    CASE WHEN coalesce(max(f.taken), 0) = 0 AND min(f.client) = max(f.client) THEN max(f.open_ns) END AS open_ns,
    max_by(f.timeout_ms, f.open_ns) FILTER (WHERE f.open_ns IS NOT NULL) AS timeout_ms,
    CASE
        WHEN max(f.taken) = 1 OR min(f.client) <> max(f.client) OR max(f.open_ns) IS NOT NULL THEN NULL
        WHEN max(f.transactional_id) IS NULL THEN 'its producer epoch is older than the one that the broker knows'
        ELSE 'another producer took its place, or its transaction was open for longer than its transaction.timeout.ms'
    END AS unsure,
    CASE
        WHEN coalesce(max(f.taken), 0) = 0 AND min(f.client) = max(f.client) AND max(f.open_ns) IS NOT NULL
            THEN 'Commit sooner, or raise transaction.timeout.ms of this producer (at most transaction.max.timeout.ms of the brokers): what it wrote in such a transaction is aborted.'
        WHEN max(f.transactional_id) IS NULL
            THEN 'Two instances share a producer id, or one went on with an old epoch: begin anew with InitProducerId (a new producer).'
        ELSE 'Two instances use the same transactional.id, or one resumed after a pause: give each instance an id of its own, or stop the old one.'
    END AS advice,
    count(DISTINCT f.exchange) AS weight,
    CASE WHEN count(DISTINCT f.exchange) >= 3 THEN 'high' ELSE 'medium' END AS severity,
    min_by(f.exchange, (f.response_time_ns, f.exchange)) AS evidence_first,
    max_by(f.exchange, (f.response_time_ns, f.exchange)) AS evidence_last,
    min(f.response_time_ns) AS first_time_ns,
    max(f.response_time_ns) AS last_time_ns
FROM told AS f LEFT JOIN shared AS s ON s.transactional_id = f.transactional_id
GROUP BY CASE WHEN s.transactional_id IS NULL THEN f.client END, s.transactional_id
