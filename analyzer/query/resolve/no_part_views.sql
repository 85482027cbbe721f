-- In nearly every capture all connections were captured at one point, under one pair of addresses.
SELECT
    CAST(NULL AS BIGINT) AS part,
    true AS is_main,
    1 AS views,
    CAST(NULL AS BIGINT) AS view_delay_ns,
    CAST(NULL AS STRING) AS translated_client,
    CAST(NULL AS STRING) AS translated_broker,
    CAST(NULL AS BIGINT) AS rest_of,
    -- Of the type that addresses of parts have: ENUM in a large report.
    a_address AS reached_address,
    CAST(NULL AS INTEGER) AS reached_port,
    CAST(NULL AS BIGINT) AS reached_packets,
    CAST(NULL AS BIGINT) AS reached_bytes,
    CAST(NULL AS BIGINT) AS reached_wire_bytes,
    CAST(NULL AS BIGINT) AS reached_last_ns,
    CAST(NULL AS STRING) AS reached_close,
    CAST(NULL AS STRING) AS reached_closed_by,
    CAST(NULL AS BIGINT) AS reached_end_ns,
    CAST(NULL AS BIGINT) AS reached_syn_ack_ns
FROM raw_parts
WHERE false
