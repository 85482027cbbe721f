-- What could not be read, by sort, with the earliest as an example? Never filtered; bytes lost are a sum, null: unknown.
SELECT
    kind,
    count(*) AS count,
    CAST(sum(bytes_lost) AS BIGINT) AS bytes_lost,
    count(DISTINCT connection) AS connections,
    min(time_ns) AS first_time_ns,
    min_by(file, time_ns) AS example_file,
    min_by(packet, time_ns) AS example_packet,
    min_by(detail, time_ns) AS example_detail
FROM problems
GROUP BY kind
ORDER BY count DESC, kind
