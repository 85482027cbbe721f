-- Which clients are there? One row per client: address without port, client id, user and software of its connections. Bytes are whole
-- messages, `record_bytes` records alone; `produce_bytes` is the mean record bytes of a Produce request; records and
-- batches are null when batches were not read, `waited_ns` is the sum of latencies without waits by design, topics when entries were not, errors and throttled where none was found but
-- `unread_replies` may hold some. `metadata_per_s` is that of the connection that
-- asks most often (null below 5 s of life: a start asks for several), `median_life_ns` of closed connections in which the clock did not jump, `inferred_library` that of a client that names no
-- software, by its habits; `application` of which it is one of many clients (view `applications`), with its `connector` and `task`; `connects_per_s` over the 30 s (`over_ns`; less where the capture is shorter) that have most
-- of `connects`, connections opened within the capture, `group_id` null for more than one; `client_host` to `client_zone`: names of the address (--names), the last of several. At most 1,000 rows of `total_rows`.
WITH traffic AS (
    SELECT
        l.client,
        e.api_key,
        e.group_id,
        count(*) AS requests,
        count(*) FILTER (WHERE e.status = 'answered') AS answered,
        count(*) FILTER (WHERE NOT no_error(e.error_code)) AS errors,
        count(*) FILTER (WHERE e.throttle_time_ms > 0) AS throttled,
        count(*) FILTER (WHERE e.response_decoded IN ('unsupported', 'malformed', 'trailing')) AS unread,
        count(*) FILTER (WHERE e.status IN ('closed', 'abandoned')) AS unanswered,
        sum(e.request_bytes) AS request_bytes,
        sum(e.response_bytes) AS response_bytes,
        sum(CAST(e.latency_ns AS DECIMAL(38, 0))) FILTER (WHERE coalesce(k.reach, 'broker') = 'broker') AS waited_ns,
        sum(e.record_bytes) AS record_bytes,
        sum(e.record_bytes) FILTER (WHERE e.api_key = api('Produce')) AS produced_bytes,
        count(e.record_bytes) FILTER (WHERE e.api_key = api('Produce')) AS produces,
        count(*) FILTER (WHERE e.acks = 0) AS acks_0,
        count(*) FILTER (WHERE e.acks = 1) AS acks_1,
        count(*) FILTER (WHERE e.acks = -1) AS acks_all,
        min(e.request_time_ns) AS first_time_ns,
        max(e.request_time_ns) AS last_time_ns
    FROM exchanges AS e
        JOIN client_connections AS l
            ON l.connection = e.connection AND coalesce(l.client_id, '') = coalesce(e.client_id, '')
            AND (l.client_id IS NULL) = (e.client_id IS NULL)
        LEFT JOIN kinds AS k ON k.kind = e.kind
    WHERE e.status <> 'orphan_reply' AND coalesce(e.kind <> 'sasl_token', true)
    GROUP BY l.client, e.api_key, e.group_id
),
sums AS (
    SELECT
        client,
        CAST(sum(requests) AS BIGINT) AS requests,
        CAST(sum(answered) AS BIGINT) AS answered,
        CAST(sum(errors) AS BIGINT) AS errors,
        CAST(sum(throttled) AS BIGINT) AS throttled,
        CAST(sum(unread) AS BIGINT) AS unread,
        CAST(sum(unanswered) AS BIGINT) AS unanswered,
        TRY_CAST(sum(waited_ns) AS BIGINT) AS waited_ns,
        CAST(sum(request_bytes) AS BIGINT) AS request_bytes,
        CAST(sum(response_bytes) AS BIGINT) AS response_bytes,
        CAST(sum(record_bytes) AS BIGINT) AS record_bytes,
        CASE WHEN sum(produces) > 0 THEN CAST(round(sum(produced_bytes) / sum(produces)) AS BIGINT) END AS produce_bytes,
        count(DISTINCT api_key) AS apis,
        count(DISTINCT group_id) AS groups,
        CASE WHEN min(group_id) = max(group_id) THEN min(group_id) END AS group_id,
        CAST(sum(acks_0) AS BIGINT) AS acks_0,
        CAST(sum(acks_1) AS BIGINT) AS acks_1,
        CAST(sum(acks_all) AS BIGINT) AS acks_all,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM traffic
    GROUP BY client
),
lives AS (
    SELECT
        client,
        max(client_address) AS client_address,
        max(client_id) AS client_id,
        max(principal) AS principal,
        max(software_name) AS software_name,
        max(software_version) AS software_version,
        max(claimed_user) AS claimed_user,
        max(sasl_mechanism) AS sasl_mechanism,
        min(security) AS security,
        max(client_host) AS client_host,
        max(client_pod) AS client_pod,
        max(client_namespace) AS client_namespace,
        max(client_workload) AS client_workload,
        max(client_zone) AS client_zone,
        count(*) AS connections,
        bool_or(broker_packets > 0) AS heard,
        count(*) FILTER (WHERE seen_from = 'syn') AS connects,
        CAST(round(percentile_cont(0.5) WITHIN GROUP (
            ORDER BY CASE WHEN close <> 'none' AND seen_from = 'syn' AND jumped IS NULL THEN last_time_ns - first_time_ns END
        )) AS BIGINT) AS median_life_ns,
        max(CASE WHEN last_time_ns - first_time_ns >= s(5)
            THEN metadata_requests * 1e9 / (last_time_ns - first_time_ns) END) AS metadata_per_s
    FROM client_connections AS l
        LEFT JOIN (
            SELECT DISTINCT c.connection AS jumped
            FROM client_connections AS c
                JOIN clock_jumps AS j
                    ON (
                        c.first_time_ns <= j.end_ns AND c.last_time_ns >= j.begin_ns
                        AND c.last_time_ns - c.first_time_ns >= j.least_ns
                    )
                    OR c.last_time_ns < c.first_time_ns
        ) AS j ON j.jumped = l.connection
    GROUP BY client
),
opened AS (
    SELECT
        client,
        count(*) OVER (
            PARTITION BY client ORDER BY first_time_ns RANGE BETWEEN s(30) PRECEDING AND CURRENT ROW
        ) AS within
    FROM client_connections
    WHERE seen_from = 'syn'
),
bursts AS (
    SELECT o.client, max(o.within) * 1e9 / r.over_ns AS connects_per_s, r.over_ns
    FROM opened AS o
    CROSS JOIN (SELECT least(s(30), greatest(last_time_ns - first_time_ns, s(1))) AS over_ns FROM time_range) AS r
    GROUP BY o.client, r.over_ns
),
topics AS (
    SELECT l.client, count(DISTINCT coalesce(e.topic, e.topic_id)) AS topics
    FROM entries AS e
        JOIN exchanges AS x ON x.exchange = e.exchange
        JOIN client_connections AS l
            ON l.connection = x.connection AND coalesce(l.client_id, '') = coalesce(x.client_id, '')
            AND (l.client_id IS NULL) = (x.client_id IS NULL)
    GROUP BY l.client
),
sent AS (
    SELECT l.client, count(*) AS batches, sum(b.records) AS records, sum(b.bytes) AS bytes
    FROM batches AS b
        JOIN exchanges AS x ON x.exchange = b.exchange
        JOIN client_connections AS l
            ON l.connection = x.connection AND coalesce(l.client_id, '') = coalesce(x.client_id, '')
            AND (l.client_id IS NULL) = (x.client_id IS NULL)
    WHERE b.side = 'request'
    GROUP BY l.client
)
SELECT
    l.client_address,
    l.client_id,
    l.principal,
    l.client_host,
    l.client_pod,
    l.client_namespace,
    l.client_workload,
    l.client_zone,
    l.software_name,
    l.software_version,
    CASE WHEN l.software_name IS NULL THEN i.library END AS inferred_library,
    a.application,
    a.software AS application_software,
    a.connector,
    a.task,
    a.inferred_from AS application_from,
    l.claimed_user,
    l.sasl_mechanism,
    l.security,
    l.connections,
    l.connects,
    l.median_life_ns,
    o.connects_per_s,
    o.over_ns,
    s.requests,
    s.requests * 1e9 / nullif(r.captured_ns, 0) AS rate_per_s,
    -- Of a client without a reply it is not known what failed; where some replies could not be read, none found is not none.
    CASE WHEN s.answered > 0 AND (s.errors > 0 OR s.unread = 0) THEN s.errors END AS errors,
    CASE WHEN s.answered > 0 AND (s.throttled > 0 OR s.unread = 0) THEN s.throttled END AS throttled,
    s.unread AS unread_replies,
    s.unanswered,
    s.waited_ns,
    s.request_bytes,
    -- What a client received is not known where nothing that brokers sent it was captured.
    CASE WHEN s.response_bytes > 0 OR l.heard THEN coalesce(s.response_bytes, 0) END AS response_bytes,
    s.record_bytes,
    s.produce_bytes,
    b.batches,
    CAST(b.records AS BIGINT) AS records,
    CASE WHEN b.batches > 0 THEN CAST(round(b.bytes / b.batches) AS BIGINT) END AS batch_bytes,
    s.apis,
    t.topics,
    s.groups,
    s.group_id,
    s.acks_0,
    s.acks_1,
    s.acks_all,
    l.metadata_per_s,
    s.first_time_ns,
    s.last_time_ns,
    count(*) OVER () AS total_rows
FROM lives AS l
    JOIN sums AS s ON s.client = l.client
    CROSS JOIN time_range AS r
    CROSS JOIN settings AS wish
    LEFT JOIN bursts AS o ON o.client = l.client
    LEFT JOIN topics AS t ON t.client = l.client
    LEFT JOIN sent AS b ON b.client = l.client
    LEFT JOIN inferred_libraries AS i
        ON i.client_address = l.client_address AND i.client_id IS NOT DISTINCT FROM l.client_id
    LEFT JOIN applications AS a ON a.client_address = l.client_address AND a.client_id = l.client_id
ORDER BY
    CASE wish.sort
        WHEN 'requests' THEN s.requests WHEN 'bytes' THEN s.request_bytes + s.response_bytes WHEN 'errors' THEN s.errors
        WHEN 'throttled' THEN s.throttled ELSE s.waited_ns
    END DESC NULLS LAST,
    s.requests DESC, l.client_id IS NULL, l.client_id, l.client_address, l.principal IS NULL, l.principal, l.software_name IS NULL,
    l.software_name, l.software_version IS NULL, l.software_version
LIMIT 1000
