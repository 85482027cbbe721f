-- Who reads each topic, for which group, and how far behind? One row per topic, client and group. `way` is fetch or share;
-- a null group with `ambiguous` could be several groups, without it none was seen. Bytes are of records on the wire, rates per
-- captured second. `lag` is the sum over the partitions that it read last in its group, in records, `max_lag` the
-- greatest of one partition; null: no end or position known. `partial`: a fetch session began before the capture.
SELECT
    p.cluster,
    p.topic,
    p.way,
    p.client_address,
    p.client_id,
    p.principal,
    p.group_id,
    p.ambiguous,
    p.isolation,
    count(DISTINCT p.partition) AS partitions,
    CAST(sum(p.fetches) AS BIGINT) AS partition_fetches,
    CAST(sum(p.with_records) AS BIGINT) AS with_records,
    CAST(sum(p.record_bytes) AS BIGINT) AS bytes,
    sum(p.record_bytes) * 1e9 / nullif(max(r.captured_ns), 0) AS bytes_per_s,
    TRY_CAST(sum(CAST(p.last_lag AS DECIMAL(38, 0))) FILTER (WHERE p.is_newest) AS BIGINT) AS lag,
    max(p.max_lag) AS max_lag,
    count(p.last_lag) FILTER (WHERE p.is_newest) AS lag_partitions,
    bool_or(p.partial) AS partial,
    min(p.first_time_ns) AS first_time_ns,
    max(p.last_time_ns) AS last_time_ns
FROM partition_readers AS p CROSS JOIN time_range AS r
WHERE p.topic IS NOT NULL
GROUP BY
    p.cluster, p.topic, p.way, p.client_address, p.client_id, p.principal, p.group_id, p.ambiguous, p.isolation
ORDER BY p.topic, bytes DESC, p.group_id, p.client_id, p.client_address, p.principal, p.way, p.isolation, p.cluster
