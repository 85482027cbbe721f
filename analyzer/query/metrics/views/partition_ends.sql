-- Where did each partition end, as Fetch replies tell it? One row per partition and file with replies: the greatest high watermark that
-- a consumer was told (`end_before`), and the last (`end_now`); `is_held`: a last stable offset lay below its high watermark. Rules look at
-- replies one by one only where these tell that they may find something.
WITH ends AS (
    SELECT
        e.connection,
        e.topic,
        e.topic_id,
        e.partition,
        x.response_file,
        e.last_stable_offset >= 0 AND e.last_stable_offset < e.high_watermark AS is_held,
        CASE WHEN e.high_watermark >= 0 AND no_error(e.error_code) AND is_client(x.role) AND coalesce(x.replica_id, -1) < 0
            THEN e.high_watermark END AS told_end,
        -- The order of moments, and of exchanges at one moment.
        CAST(x.response_time_ns AS HUGEINT) * two_to(64) + x.exchange AS turn
    FROM entries AS e JOIN exchanges AS x ON x.exchange = e.exchange
    WHERE x.api_key = api('Fetch') AND e.side = 'response'
),
-- Numbers first: there are few rows left when texts are looked at.
of_connections AS (
    SELECT
        connection,
        topic,
        topic_id,
        partition,
        response_file,
        bool_or(is_held) AS is_held,
        max(told_end) AS end_before,
        max_by(told_end, turn) FILTER (WHERE told_end IS NOT NULL) AS end_now,
        max(turn) FILTER (WHERE told_end IS NOT NULL) AS last_turn
    FROM ends
    GROUP BY connection, topic, topic_id, partition, response_file
)
SELECT
    coalesce(e.topic, e.topic_id) AS topic,
    e.partition,
    bool_or(e.is_held) AS is_held,
    max(e.end_before) AS end_before,
    max_by(e.end_now, e.last_turn) FILTER (WHERE e.end_now IS NOT NULL) AS end_now
FROM of_connections AS e JOIN connections AS c ON c.connection = e.connection
GROUP BY
    coalesce(c.cluster, c.broker_address || ':' || CAST(c.broker_port AS STRING)), coalesce(e.topic, e.topic_id), e.partition,
    e.response_file
