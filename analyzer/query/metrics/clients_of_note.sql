-- What stands out of what clients send? One row per `what` and who it is about: metadata (`requests` for metadata on one connection, at most
-- `most_per_s` over `over_ns`), tiny (Produce requests of less than 1 kB in seconds with 100 and more), outside (in a version that the
-- broker, which offers `min_version` to `max_version`, has not), malformed (messages of this API and version that could not be decoded,
-- of whichever client: `who` is null), default_id (`requests` clients, those of `who` among them, that have the client id that their library
-- gives to all; tools and what lived for less than 10 s are not asked for more). The most first.
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
    UNION ALL
    SELECT
        'default_id' AS what, array_to_string(list(DISTINCT client_id ORDER BY client_id)[1:5], ', ') AS who,
        CAST(NULL AS STRING) AS api_name, CAST(NULL AS INTEGER) AS api_version, CAST(NULL AS INTEGER) AS min_version,
        CAST(NULL AS INTEGER) AS max_version, CAST(NULL AS DOUBLE) AS most_per_s, CAST(NULL AS BIGINT) AS over_ns, count(*) AS requests
    FROM (
        SELECT c.client_address, t.client_id
        FROM all_totals AS t JOIN all_connections AS c ON c.connection = t.connection
        WHERE t.is_client
            AND t.client_id IN (
                SELECT x.client_id
                FROM (SELECT DISTINCT client_id FROM all_totals) AS x JOIN library_ids AS i ON x.client_id LIKE i.client_id
            )
            AND NOT starts_with(t.client_id, 'console-') AND NOT starts_with(t.client_id, 'adminclient-')
        GROUP BY c.client_address, t.client_id
        HAVING max(c.last_time_ns) - min(c.first_time_ns) >= s(10)
    ) AS d
    HAVING count(*) > 0
) AS noted
ORDER BY requests DESC, who, what, api_name, api_version, most_per_s
