-- What was lost, refused, repeated or in vain? One row per request (of `connections` and `connecting`: per connection) and account that it
-- belongs to, those of `impacts_to_explain`, with its columns, and:
--   data         Produce requests of clients that were acknowledged, at offsets that other records have now; `topics` are theirs
--   connecting   connections of Kafka: from the SYN to the answer to it
--   repeated     requests as long, with a reply as long and the same error, as the one of this API before by the same client
--   no progress  Fetches of consumers that were given nothing although records were there
WITH
-- APIs that come with every batch, poll or transaction, or report to a group, are alike by design.
alike AS NOT MATERIALIZED (
    SELECT
        exchange,
        request_bytes = lag(request_bytes) OVER before AND response_bytes = lag(response_bytes) OVER before
        AND error_code IS NOT DISTINCT FROM lag(error_code) OVER before AS is_alike
    FROM exchanges
    WHERE is_client(role) AND api_key NOT IN (api('Produce', 'Fetch', 'Heartbeat', 'ConsumerGroupHeartbeat', 'ShareGroupHeartbeat',
        'StreamsGroupHeartbeat', 'OffsetCommit', 'ShareFetch', 'ShareAcknowledge', 'AddPartitionsToTxn', 'AddOffsetsToTxn', 'EndTxn',
        'TxnOffsetCommit', 'Envelope'))
    WINDOW before AS (
        PARTITION BY client_address, client_id, api_key, api_version ORDER BY coalesce(request_time_ns, response_time_ns), exchange
    )
),
of_requests AS NOT MATERIALIZED (
    SELECT 'repeated' AS account, a.exchange, CAST(NULL AS STRING[]) AS topics FROM alike AS a WHERE a.is_alike
    UNION ALL
    SELECT 'no progress', x.exchange, NULL
    FROM exchanges AS x
    WHERE x.kind = 'fetch_backlog' AND x.status = 'answered' AND x.response_decoded = 'full' AND coalesce(x.record_bytes, 0) = 0
        AND no_error(x.error_code) AND coalesce(x.throttle_time_ms, 0) = 0
    UNION ALL
    -- A request about several partitions is lost once.
    SELECT 'data', e.exchange, list(DISTINCT coalesce(e.topic, e.topic_id))
    FROM entries AS e
    JOIN rewritten_offsets AS r
        ON r.topic = coalesce(e.topic, e.topic_id) AND r.partition = e.partition AND e.offset BETWEEN r.lost_from AND r.lost_to
    JOIN exchanges AS x ON x.exchange = e.exchange
    WHERE x.api_key = api('Produce') AND e.side = 'response' AND no_error(e.error_code) AND x.response_time_ns <= r.acknowledged_time_ns
    GROUP BY e.exchange
)
SELECT * FROM impacts_to_explain
UNION ALL
SELECT
    o.account, CAST(NULL AS STRING) AS what, x.exchange, x.connection, NOT is_client(x.role) AS between_brokers, x.api_name, x.client_id,
    x.client_address, x.principal, x.broker_id, x.broker_address, x.broker_port, x.group_id,
    coalesce(x.request_time_ns, x.response_time_ns) AS at_ns, coalesce(x.response_time_ns, x.request_time_ns) AS until_ns,
    CAST(NULL AS BIGINT) AS waited_ns, CAST(NULL AS BIGINT) AS queue_ns, CAST(NULL AS BIGINT) AS throttle_ns, CAST(NULL AS BIGINT) AS proxy_ns,
    CAST(NULL AS BIGINT) AS broker_ns, CAST(NULL AS BIGINT) AS network_ns, CAST(NULL AS BIGINT) AS unknown_ns,
    CAST(NULL AS BIGINT) AS slow_ns, o.topics
FROM of_requests AS o JOIN exchanges AS x ON x.exchange = o.exchange
UNION ALL
SELECT
    'connecting', NULL, r.exchange, c.connection, NOT is_client(c.role), NULL, r.client_id, c.client_address, c.principal, c.broker_id,
    c.broker_address, c.broker_port, NULL, c.first_time_ns, c.first_time_ns + c.syn_ack_ns, c.syn_ack_ns, 0, 0, 0, 0, 0, c.syn_ack_ns,
    CASE WHEN c.syn_ack_ns >= ms(500) THEN c.syn_ack_ns END, NULL
FROM connections AS c LEFT JOIN connection_requests AS r ON r.connection = c.connection
WHERE c.is_kafka AND c.seen_from = 'syn' AND c.syn_ack_ns IS NOT NULL
