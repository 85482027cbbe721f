-- What stands out of what clients send? One row per `what` and who it is about: metadata (`requests` for metadata on one connection, at most
-- `most_per_s` over `over_ns`), tiny (Produce requests of less than 1 kB in seconds with 100 and more), outside (in a version that the
-- broker, which offers `min_version` to `max_version`, has not), malformed (messages of this API and version that could not be decoded,
-- of whichever client: `who` is null). The most first.
SELECT * FROM (
    SELECT
        'metadata' AS what, who, 'Metadata' AS api_name, CAST(NULL AS INTEGER) AS api_version, CAST(NULL AS INTEGER) AS min_version,
        CAST(NULL AS INTEGER) AS max_version, worst_per_s AS most_per_s, over_ns, requests
    FROM metadata_storms
    UNION ALL
    SELECT
        'tiny' AS what, who, 'Produce' AS api_name, CAST(NULL AS INTEGER) AS api_version, CAST(NULL AS INTEGER) AS min_version,
        CAST(NULL AS INTEGER) AS max_version, worst_per_s AS most_per_s, CAST(NULL AS BIGINT) AS over_ns, requests
    FROM tiny_requests
    UNION ALL
    SELECT
        'outside' AS what, who, api_name, api_version, min_version, max_version, CAST(NULL AS DOUBLE) AS most_per_s,
        CAST(NULL AS BIGINT) AS over_ns, requests
    FROM versions_outside_offers
    UNION ALL
    SELECT
        'malformed' AS what, CAST(NULL AS STRING) AS who, api_name, api_version, CAST(NULL AS INTEGER) AS min_version,
        CAST(NULL AS INTEGER) AS max_version, CAST(NULL AS DOUBLE) AS most_per_s, CAST(NULL AS BIGINT) AS over_ns, messages AS requests
    FROM malformed_messages
) AS noted
ORDER BY requests DESC, who, what, api_name, api_version, most_per_s
