-- What did Fetches read, and where were they? Sums that several metrics and rules read in place of positions: one row per connection,
-- client, isolation level and partition. Positions, ends and lags are in records, each with its moment, so that rows of several
-- connections can be added; `ahead`: how far the end lay beyond a position at most, `told_lag`: the greatest lag, where records were cut
-- off that before them. `below` counts replies whose end lies before the position. Of Fetches whose position before and behind them is
-- known: where the first was (`began_offset`), and up to where they read. Bytes are of records, as on the wire. Null: not known.
WITH positions AS (
    SELECT
        p.*,
        x.client_address,
        x.client_id,
        x.principal,
        x.isolation_level,
        is_client(x.role) AND coalesce(x.replica_id, -1) < 0 AS of_consumer,
        coalesce(p.new_end_offset, p.end_offset) AS known_end,
        p.fetch_offset IS NOT NULL AND p.next_offset IS NOT NULL AS is_read,
        -- The order of moments, and of exchanges at one moment.
        CAST(p.time_ns AS HUGEINT) * two_to(64) + p.exchange AS turn
    FROM fetch_positions AS p JOIN exchanges AS x ON x.exchange = p.exchange
    -- True for all exchanges with positions: others need not meet them.
    WHERE x.api_key = api('Fetch')
)
SELECT
    connection,
    client_address,
    client_id,
    principal,
    isolation_level,
    of_consumer,
    topic,
    topic_id,
    partition,
    count(*) AS fetches,
    count(*) FILTER (WHERE record_bytes > 0) AS with_records,
    sum(record_bytes) AS record_bytes,
    count(*) FILTER (WHERE known_end < next_offset) AS below,
    max(known_end - fetch_offset) AS ahead,
    max(coalesce(lag, new_end_offset - fetch_offset)) AS told_lag,
    min_by(lag, time_ns) FILTER (WHERE lag IS NOT NULL) AS first_lag,
    min(time_ns) FILTER (WHERE lag IS NOT NULL) AS first_lag_ns,
    max_by(lag, time_ns) FILTER (WHERE lag IS NOT NULL) AS last_lag,
    max(time_ns) FILTER (WHERE lag IS NOT NULL) AS last_lag_ns,
    max(lag) AS max_lag,
    max_by(next_offset, time_ns) FILTER (WHERE next_offset IS NOT NULL) AS last_position,
    max(time_ns) FILTER (WHERE next_offset IS NOT NULL) AS last_position_ns,
    max_by(known_end, time_ns) FILTER (WHERE known_end IS NOT NULL) AS last_end,
    max(time_ns) FILTER (WHERE known_end IS NOT NULL) AS last_end_ns,
    coalesce(bool_or(partial), false) AS partial,
    min_by(fetch_offset, turn) FILTER (WHERE is_read) AS began_offset,
    min_by(exchange, turn) FILTER (WHERE is_read) AS began_exchange,
    min(time_ns) FILTER (WHERE is_read) AS began_ns,
    max(next_offset) FILTER (WHERE is_read) AS read_to,
    max(time_ns) FILTER (WHERE is_read) AS read_to_ns,
    min(time_ns) AS first_time_ns,
    max(time_ns) AS last_time_ns
FROM positions
GROUP BY connection, client_address, client_id, principal, isolation_level, of_consumer, topic, topic_id, partition
