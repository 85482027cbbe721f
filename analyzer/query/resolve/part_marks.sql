-- Of the requests of each part, as one run saw them, the least of each of four hashes: of two parts with the same requests all are
-- equal, of parts that have half of them in common most likely one is.
SELECT
    part,
    min(mark) AS first_mark,
    min(xor(mark, salt(1))) AS second_mark,
    min(xor(mark, salt(2))) AS third_mark,
    min(xor(mark, salt(3))) AS fourth_mark
FROM (
    SELECT part, hash(correlation_id, api_key, request_bytes) AS mark FROM raw_exchanges WHERE request_time_ns IS NOT NULL
) AS x
GROUP BY part
