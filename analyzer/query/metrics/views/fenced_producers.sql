-- Which producers were fenced? One row per transactional id or client, and error: `times`; `taken_by` and `unsure` say
-- why, or the transaction was open for `open_ns`, longer than `timeout_ms`.
-- Once or twice is what fencing is for: an instance came back after another had taken over. High when it goes on. Who has one
-- transactional id and is thrown out by turns is one finding.
-- Who took its place got a producer id for the same transactional id since the transaction began. Where nobody did, and it was open
-- for longer than the timeout that its producer had asked for, the coordinator ended it and raised the epoch. Whose transactions had
-- all ended was open for no timeout: its place was taken, though the capture does not show by whom. `rival`: the client id of
-- who took it, where that is another one.
WITH fenced AS (
    SELECT
        e.exchange,
        e.name,
        who(x) AS client,
        coalesce(x.client_id, '') AS client_id,
        x.connection,
        x.request_time_ns,
        x.response_time_ns,
        -- A Produce that was cut off does not tell its id; another request of the same client does.
        coalesce(
            x.transactional_id, max(x.transactional_id) OVER (PARTITION BY who(x))
        ) AS transactional_id
    FROM errors AS e JOIN failed_exchanges AS x ON x.exchange = e.exchange
    WHERE e.code IN (error('INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED')) AND is_client(x.role)
),
shared AS (
    SELECT transactional_id FROM fenced GROUP BY transactional_id HAVING min(client) <> max(client)
),
ids AS (
    SELECT transactional_id FROM fenced WHERE transactional_id IS NOT NULL GROUP BY transactional_id
),
-- What began or ended transactions of these ids, by client; those that were fenced are rows among them.
steps AS (
    SELECT
        t.transactional_id,
        coalesce(t.client_id, '') AS client_id,
        t.begin_ns AS time_ns,
        CASE WHEN t.event IN ('init', 'end') THEN t.event ELSE 'write' END AS event,
        CASE WHEN t.event = 'init' THEN CAST(t.transaction_timeout_ms AS BIGINT) END AS timeout_ms,
        CASE WHEN t.event = 'end' AND t.error_code = error('NONE') THEN t.begin_ns END AS ended_ns,
        t.connection,
        CAST(NULL AS BIGINT) AS exchange
    FROM transaction_events AS t JOIN ids AS i ON i.transactional_id = t.transactional_id
    WHERE no_error(t.error_code) AND t.event IN ('init', 'end', 'add_partitions', 'add_offsets')
    UNION ALL
    SELECT x.transactional_id, coalesce(x.client_id, ''), x.request_time_ns, 'write', NULL, NULL, NULL, NULL
    FROM exchanges AS x JOIN ids AS i ON i.transactional_id = x.transactional_id
    WHERE x.api_key = api('Produce') AND x.request_time_ns IS NOT NULL
    UNION ALL
    SELECT transactional_id, client_id, request_time_ns, 'fence', NULL, NULL, NULL, exchange
    FROM fenced
    WHERE transactional_id IS NOT NULL
),
-- Connections to coordinators, and those that began while another of the same client was open: another process.
coordinating AS (
    SELECT s.transactional_id, s.client_id, s.connection, min(s.time_ns) AS used_ns, max(c.last_time_ns) AS last_time_ns
    FROM steps AS s JOIN connections AS c ON c.connection = s.connection
    GROUP BY s.transactional_id, s.client_id, s.connection
),
seconds AS (
    SELECT b.transactional_id, b.client_id, b.time_ns
    FROM steps AS b
    JOIN coordinating AS a
        ON a.transactional_id = b.transactional_id AND a.client_id = b.client_id AND a.connection <> b.connection
        AND a.used_ns < b.time_ns AND a.last_time_ns > b.time_ns
    WHERE b.event = 'init'
    GROUP BY b.transactional_id, b.client_id, b.time_ns
),
-- The end before each write of a transaction, or the producer's beginning.
bounded AS (
    SELECT
        s.*,
        max(CASE WHEN s.event IN ('init', 'end') THEN s.time_ns END) OVER before AS bound_ns,
        max(CASE WHEN s.event = 'end' THEN s.time_ns END) OVER before AS end_ns,
        max(s.ended_ns) OVER before AS sure_end_ns,
        max(s.timeout_ms) OVER before AS asked_timeout_ms,
        max(CASE WHEN s.event = 'init' THEN s.time_ns END) OVER (
            PARTITION BY s.transactional_id ORDER BY s.time_ns, s.event ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS init_ns,
        max(n.time_ns) OVER before AS second_ns
    FROM steps AS s
    LEFT JOIN seconds AS n
        ON n.transactional_id = s.transactional_id AND n.client_id = s.client_id AND n.time_ns = s.time_ns AND s.event = 'init'
    WINDOW before AS (
        PARTITION BY s.transactional_id, s.client_id ORDER BY s.time_ns, s.event
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
opened AS (
    SELECT
        *,
        CASE WHEN event = 'write' THEN min(time_ns) OVER (PARTITION BY transactional_id, client_id, bound_ns, event) END AS open_ns
    FROM bounded
),
judged AS (
    SELECT
        *,
        max(CASE WHEN event = 'write' THEN bound_ns END) OVER before AS write_bound_ns,
        max(open_ns) OVER before AS open_from_ns
    FROM opened
    WINDOW before AS (
        PARTITION BY transactional_id, client_id ORDER BY time_ns, event ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
told AS (
    SELECT
        f.*,
        CASE
            WHEN j.init_ns > greatest(coalesce(j.end_ns, 0), coalesce(j.write_bound_ns, 0)) AND coalesce(j.end_ns, j.write_bound_ns) IS NOT NULL
                -- Who asked for the id last is another one.
                OR r.client_id IS NOT NULL OR j.second_ns > o.first_time_ns OR j.sure_end_ns > coalesce(j.write_bound_ns, 0) THEN 1
            ELSE 0
        END AS taken,
        nullif(r.client_id, '') AS rival,
        CASE
            WHEN j.end_ns > j.write_bound_ns OR j.write_bound_ns IS NULL THEN NULL
            WHEN f.request_time_ns - j.open_from_ns >= j.asked_timeout_ms * ms(1) THEN f.request_time_ns - j.open_from_ns
        END AS open_ns,
        j.asked_timeout_ms AS timeout_ms
    FROM fenced AS f
    LEFT JOIN judged AS j ON j.exchange = f.exchange AND j.event = 'fence'
    LEFT JOIN steps AS r
        ON r.transactional_id = f.transactional_id AND r.event = 'init' AND r.time_ns = j.init_ns AND r.time_ns > j.bound_ns
        AND r.client_id <> f.client_id
    LEFT JOIN connections AS o ON o.connection = f.connection
),
-- What is known of the first refusal that is explained: later ones may come when another producer has begun.
incidents AS (
    SELECT
        min(f.client) < max(f.client) AS is_shared,
        min_by(f.client, (f.response_time_ns, f.exchange)) AS named,
        nullif(count(DISTINCT f.client) - 1, 0) AS others,
        max(f.transactional_id) AS transactional_id,
        CASE WHEN min(f.name) = max(f.name) THEN max(f.name) ELSE min(f.name) || ' and ' || max(f.name) END AS name,
        count(DISTINCT f.exchange) AS times,
        min_by(
            struct_pack(taken := f.taken, rival := f.rival, open_ns := f.open_ns, timeout_ms := f.timeout_ms),
            (f.taken = 0 AND f.open_ns IS NULL, f.response_time_ns, f.exchange)
        ) AS reason,
        min_by(f.exchange, (f.response_time_ns, f.exchange)) AS evidence_first,
        max_by(f.exchange, (f.response_time_ns, f.exchange)) AS evidence_last,
        min(f.response_time_ns) AS first_time_ns,
        max(f.response_time_ns) AS last_time_ns
    FROM told AS f LEFT JOIN shared AS s ON s.transactional_id = f.transactional_id
    GROUP BY CASE WHEN s.transactional_id IS NULL THEN f.client END, s.transactional_id
),
explained AS (
    SELECT
        *,
        is_shared OR reason.taken = 1 AS is_taken,
        CASE WHEN NOT is_shared AND reason.taken = 0 THEN reason.open_ns END AS open_ns
    FROM incidents
)
SELECT
    CASE WHEN NOT is_shared THEN named END AS who,
    named,
    others,
    CASE WHEN is_shared THEN 'were' ELSE 'was' END AS was,
    transactional_id,
    name,
    times,
    CASE WHEN is_taken THEN 'another producer took its place' END AS taken_by,
    CASE WHEN is_taken AND NOT is_shared THEN reason.rival END AS rival,
    open_ns,
    CASE WHEN open_ns IS NOT NULL THEN reason.timeout_ms END AS timeout_ms,
    CASE
        WHEN is_taken OR open_ns IS NOT NULL THEN NULL
        WHEN transactional_id IS NULL THEN 'its producer epoch is older than the one that the broker knows'
        ELSE 'another producer took its place, or its transaction was open for longer than its transaction.timeout.ms'
    END AS unsure,
    CASE
        WHEN open_ns IS NOT NULL
            THEN 'Commit sooner, or raise transaction.timeout.ms of this producer (at most transaction.max.timeout.ms of the brokers): what it wrote in such a transaction is aborted.'
        WHEN transactional_id IS NULL
            THEN 'Two instances share a producer id, or one went on with an old epoch: begin anew with InitProducerId (a new producer).'
        ELSE 'Two instances use the same transactional.id, or one resumed after a pause: give each instance an id of its own, or stop the old one.'
    END AS advice,
    times AS weight,
    CASE WHEN times >= 3 THEN 'high' ELSE 'medium' END AS severity,
    evidence_first,
    evidence_last,
    first_time_ns,
    last_time_ns
FROM explained
