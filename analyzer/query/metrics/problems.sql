-- What could not be read, by sort, with the earliest as an example? Never filtered; bytes lost are a sum, null: unknown.
SELECT
    kind,
    count(*) AS count,
    CAST(sum(bytes_lost) AS BIGINT) AS bytes_lost,
    count(DISTINCT connection) AS connections,
    min(time_ns) AS first_time_ns,
    min_by(file, (time_ns, file, packet))
        FILTER (WHERE time_ns IS NOT NULL AND file IS NOT NULL AND packet IS NOT NULL) AS example_file,
    min_by(packet, (time_ns, file, packet))
        FILTER (WHERE time_ns IS NOT NULL AND file IS NOT NULL AND packet IS NOT NULL) AS example_packet,
    min_by(detail, (time_ns, coalesce(file, -1), coalesce(packet, -1), detail)) FILTER (WHERE time_ns IS NOT NULL) AS example_detail
FROM problems
GROUP BY kind
ORDER BY count DESC, kind
