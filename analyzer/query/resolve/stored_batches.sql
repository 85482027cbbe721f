-- Offsets of produced batches, one row each: they begin at the base offset that the reply gives for the partition, in the order of the
-- request, as many for each batch as it has records.
WITH written AS (
    SELECT
        exchange,
        coalesce(topic_id, topic) AS written_to,
        partition,
        position,
        CASE WHEN magic = 2 THEN last_offset - base_offset + 1 ELSE records END AS offsets
    FROM raw_batches
    WHERE side = 'request'
),
counted AS (
    SELECT
        *,
        sum(offsets) OVER through AS offsets_through,
        count(offsets) OVER through AS offsets_known,
        count(*) OVER through AS batches_through
    FROM written
    WINDOW through AS (
        PARTITION BY exchange, written_to, partition ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
),
answers AS (
    SELECT e.exchange, coalesce(e.topic_id, e.topic) AS written_to, e.partition, min(e.offset) AS base_offset
    FROM raw_entries AS e
    JOIN (SELECT exchange FROM raw_batches WHERE side = 'request' GROUP BY exchange) AS w ON w.exchange = e.exchange
    WHERE e.side = 'response' AND e.offset >= 0 AND no_error(e.error_code)
    GROUP BY e.exchange, coalesce(e.topic_id, e.topic), e.partition
)
SELECT
    c.exchange,
    c.written_to,
    c.partition,
    c.position,
    CAST(min(a.base_offset + c.offsets_through - c.offsets) AS BIGINT) AS base_offset,
    CAST(min(a.base_offset + c.offsets_through - 1) AS BIGINT) AS last_offset
FROM counted AS c
JOIN answers AS a ON a.exchange = c.exchange AND a.written_to = c.written_to AND a.partition = c.partition
WHERE c.offsets_known = c.batches_through
GROUP BY c.exchange, c.written_to, c.partition, c.position
