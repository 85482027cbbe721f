-- How far behind is each consumer, by partition? One row per partition, client and group: lag of the fetch position in
-- records, first, last and greatest in the capture, and beside it the last position that the group committed, with its lag
-- behind the newest end that anybody was told. `is_newest` false: another client of the group has read it since.
-- A read_committed consumer's end is the last stable offset. `below`: replies whose end lay before the position (0 lag).
-- Rows without a known position or end have null lags; `partial`: the fetch session began before the capture.
SELECT
    p.cluster,
    p.topic,
    p.partition,
    p.group_id,
    p.ambiguous,
    p.client_address,
    p.client_id,
    p.isolation,
    p.last_position AS position,
    p.last_end AS end_offset,
    p.first_lag,
    p.last_lag AS lag,
    p.is_newest,
    p.max_lag,
    k.committed_offset,
    k.committed_lag,
    k.committed_time_ns,
    k.commits,
    p.below,
    p.partial,
    p.first_time_ns,
    p.last_time_ns
FROM partition_readers AS p
    LEFT JOIN committed_offsets AS k
        ON k.cluster = coalesce(p.cluster, '') AND k.group_id = p.group_id AND k.topic = p.topic
        AND k.partition = p.partition
WHERE p.way = 'fetch' AND p.topic IS NOT NULL
ORDER BY p.last_lag IS NULL, p.last_lag DESC, p.topic, p.partition, p.group_id, p.client_id, p.client_address, p.cluster
