-- When the exchanges of `asked_parts` began and were answered.
SELECT
    part,
    exchange,
    correlation_id,
    api_key,
    api_version,
    api_name,
    request_time_ns,
    request_end_ns,
    response_time_ns,
    response_end_ns,
    request_bytes,
    request_split,
    request_number
FROM raw_exchanges
WHERE request_time_ns IS NOT NULL AND part IN (SELECT part FROM asked_parts)
