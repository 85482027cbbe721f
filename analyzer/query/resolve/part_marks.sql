-- Of the requests of each part, as one run saw them, the least of each of four hashes: of two parts with the same requests all are
-- equal, of parts that have half of them in common most likely one is.
SELECT
    part,
    min(mark) AS first_mark,
    min(xor(mark, 6364136223846793005)) AS second_mark,
    min(xor(mark, 15755552163447593571)) AS third_mark,
    min(xor(mark, 11400714819323198485)) AS fourth_mark
FROM (
    SELECT part, hash(correlation_id, api_key, request_bytes) AS mark FROM raw_exchanges WHERE request_time_ns IS NOT NULL
) AS x
GROUP BY part
