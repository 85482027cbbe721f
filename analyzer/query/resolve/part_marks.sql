-- Of the requests of each part, as one run saw them, the least of each of four hashes: of two parts with the same requests all are
-- equal, of parts that have half of them in common most likely one is. `kind_mark`: the least hash of who asks for what, which a proxy
-- leaves as it is that numbers requests anew; it may answer itself what precedes a login.
SELECT
    part,
    min(mark) AS first_mark,
    min(xor(mark, salt(1))) AS second_mark,
    min(xor(mark, salt(2))) AS third_mark,
    min(xor(mark, salt(3))) AS fourth_mark,
    min(kind_mark) AS kind_mark
FROM (
    SELECT
        part,
        hash(correlation_id, api_key, request_bytes) AS mark,
        CASE WHEN api_key NOT IN (api('ApiVersions'), api('SaslHandshake'), api('SaslAuthenticate'))
            THEN hash(CAST(client_id AS STRING), api_key, api_version) END AS kind_mark
    FROM raw_exchanges
    WHERE request_time_ns IS NOT NULL
) AS x
GROUP BY part
