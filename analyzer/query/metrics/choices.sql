-- Which clients, brokers, APIs, topics, namespaces and zones can a filter name? One row per name, the most frequent first; never filtered.
-- `requests` is null for all but the first three. At most 1,000 names of a sort, of `total_rows`.
WITH named AS (
    SELECT 'client' AS sort, who() AS name, count(*) AS requests
    FROM all_exchanges
    GROUP BY who()
    UNION ALL
    SELECT 'broker' AS sort, broker_address || ':' || CAST(broker_port AS VARCHAR(11)) AS name, count(*) AS requests
    FROM all_exchanges
    GROUP BY broker_address || ':' || CAST(broker_port AS VARCHAR(11))
    UNION ALL
    SELECT 'api' AS sort, api_name AS name, count(*) AS requests
    FROM all_exchanges
    WHERE api_name IS NOT NULL
    GROUP BY api_name
    UNION ALL
    SELECT 'topic' AS sort, coalesce(topic, topic_id) AS name, CAST(NULL AS BIGINT) AS requests
    FROM all_entries
    WHERE coalesce(topic, topic_id) IS NOT NULL
    GROUP BY coalesce(topic, topic_id)
    UNION ALL
    SELECT 'namespace' AS sort, client_namespace AS name, CAST(NULL AS BIGINT) AS requests
    FROM all_connections
    WHERE client_namespace IS NOT NULL
    GROUP BY client_namespace
    UNION ALL
    SELECT 'zone' AS sort, coalesce(client_zone, client_rack) AS name, CAST(NULL AS BIGINT) AS requests
    FROM all_connections
    WHERE coalesce(client_zone, client_rack) <> ''
    GROUP BY coalesce(client_zone, client_rack)
),
ranked AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY sort ORDER BY requests DESC, name) AS place,
        count(*) OVER (PARTITION BY sort) AS total_rows
    FROM named
)
SELECT sort, name, requests, total_rows
FROM ranked
WHERE place <= 1000
ORDER BY sort, place
