-- When is a partition written and read, and what is odd about it? One row per partition and time slot in which anything happens:
-- `written` batches of producers (copies count), `delivered` batches in replies of Fetch, `refused` requests (an error that is not of
-- normal operation), `marks` of its events, those of one with commas between them (as in `partition_story`); `exchange` is the first that
-- is odd or refused.
WITH told AS (
    SELECT
        e.*,
        m.marks,
        NOT no_error(e.error_code) AND NOT coalesce(r.is_expected, false) AS is_refused
    FROM partition_events AS e
        LEFT JOIN partition_marks AS m
            ON m.exchange = e.exchange AND m.name = e.name AND m.partition = e.partition AND m.place = e.place AND m.event = e.event
        LEFT JOIN (
            SELECT exchange, code, bool_and(coalesce(expected, false)) AS is_expected FROM errors WHERE side = 'response' GROUP BY exchange, code
        ) AS r ON r.exchange = e.exchange AND r.code = e.error_code
)
SELECT
    e.cluster,
    e.name AS topic,
    e.partition,
    CASE WHEN s.every_ns > 0 THEN e.time_ns - e.time_ns % s.every_ns END AS slot_ns,
    CAST(sum(e.batches) FILTER (WHERE e.event = 'produced') AS BIGINT) AS written,
    count(*) FILTER (WHERE e.event = 'delivered') AS delivered,
    count(DISTINCT e.exchange) FILTER (WHERE e.is_refused) AS refused,
    string_agg(DISTINCT e.marks, ',' ORDER BY e.marks) AS marks,
    min_by(e.exchange, (e.time_ns, e.exchange)) FILTER (WHERE e.marks IS NOT NULL OR e.is_refused) AS exchange
FROM told AS e CROSS JOIN settings AS s
GROUP BY e.cluster, e.name, e.partition, CASE WHEN s.every_ns > 0 THEN e.time_ns - e.time_ns % s.every_ns END
ORDER BY e.cluster, e.name, e.partition, slot_ns
