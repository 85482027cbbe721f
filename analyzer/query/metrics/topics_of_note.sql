-- Which topics stand out, and for what? One row per topic and `what`: lag (that of `who` grew from `first_lag` to `last_lag` records
-- in `lasted_ns`, on so many `partitions`; `state`: fetched, or committed, which has no first one), offset (`who` asked `times` for an
-- offset that `state`: `asked_offset`, the end was `end_offset`, it went on at `reset_offset`), plain (`who` wrote `bytes` without compression, `bytes_per_s`), skew (`partition` got `records`,
-- `times_median` of its `partitions`, `share` of them from `who`). Null means nothing there, or is unknown.
SELECT * FROM (
SELECT
    'lag' AS what, topic, who, CAST(NULL AS INTEGER) AS partition, partitions, CAST(NULL AS BIGINT) AS times, first_lag, last_lag, lasted_ns,
    sort AS state, CAST(NULL AS BIGINT) AS asked_offset, CAST(NULL AS BIGINT) AS end_offset,
    CAST(NULL AS BIGINT) AS reset_offset, CAST(NULL AS BIGINT) AS bytes, CAST(NULL AS DOUBLE) AS bytes_per_s, CAST(NULL AS BIGINT) AS records,
    CAST(NULL AS DOUBLE) AS times_median, CAST(NULL AS DOUBLE) AS share, weight
FROM growing_lags
UNION ALL
SELECT
    'offset' AS what, topic, who, CAST(NULL AS INTEGER) AS partition, partitions, times, CAST(NULL AS BIGINT) AS first_lag,
    CAST(NULL AS BIGINT) AS last_lag, CAST(NULL AS BIGINT) AS lasted_ns, state, asked_offset, end_offset, reset_offset,
    CAST(NULL AS BIGINT) AS bytes, CAST(NULL AS DOUBLE) AS bytes_per_s, CAST(NULL AS BIGINT) AS records, CAST(NULL AS DOUBLE) AS times_median,
    CAST(NULL AS DOUBLE) AS share, weight
FROM refused_offsets
UNION ALL
SELECT
    'plain' AS what, topic, who, CAST(NULL AS INTEGER) AS partition, CAST(NULL AS BIGINT) AS partitions, CAST(NULL AS BIGINT) AS times,
    CAST(NULL AS BIGINT) AS first_lag, CAST(NULL AS BIGINT) AS last_lag, CAST(NULL AS BIGINT) AS lasted_ns, CAST(NULL AS STRING) AS state,
    CAST(NULL AS BIGINT) AS asked_offset, CAST(NULL AS BIGINT) AS end_offset, CAST(NULL AS BIGINT) AS reset_offset,
    written_bytes AS bytes, written_bytes_per_s AS bytes_per_s, CAST(NULL AS BIGINT) AS records, CAST(NULL AS DOUBLE) AS times_median,
    CAST(NULL AS DOUBLE) AS share, weight
FROM plain_writes
UNION ALL
SELECT
    'skew' AS what, topic, writer AS who, partition, partitions, CAST(NULL AS BIGINT) AS times, CAST(NULL AS BIGINT) AS first_lag,
    CAST(NULL AS BIGINT) AS last_lag, CAST(NULL AS BIGINT) AS lasted_ns, CAST(NULL AS STRING) AS state, CAST(NULL AS BIGINT) AS asked_offset,
    CAST(NULL AS BIGINT) AS end_offset, CAST(NULL AS BIGINT) AS reset_offset, CAST(NULL AS BIGINT) AS bytes,
    CAST(NULL AS DOUBLE) AS bytes_per_s, records, times_median, writer_share AS share, weight
FROM skewed_writes
) AS topics
ORDER BY topic, what, weight DESC, who, partition
