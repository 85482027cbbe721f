-- How well do the names (--names) fit the capture? One row: addresses of Kafka's connections, those that have a name, those whose name
-- is valid at another time only (a late or an old list), and the names of addresses that no connection has. Without names no row.
WITH seen AS (
    SELECT address, bool_or(is_named) AS is_named
    FROM (
        SELECT client_address AS address, coalesce(client_host, client_pod, client_zone) IS NOT NULL AS is_named
        FROM connections WHERE is_kafka
        UNION ALL
        SELECT broker_address AS address, coalesce(broker_host, broker_pod, broker_zone) IS NOT NULL AS is_named
        FROM connections WHERE is_kafka
    ) AS ends
    GROUP BY address
),
listed AS (
    SELECT DISTINCT address FROM names
)
SELECT
    count(s.address) AS addresses,
    count(*) FILTER (WHERE s.is_named) AS named,
    count(*) FILTER (WHERE NOT s.is_named AND l.address IS NOT NULL) AS at_another_time,
    count(*) FILTER (WHERE s.address IS NULL) AS never_seen
FROM seen AS s FULL JOIN listed AS l ON l.address = s.address
HAVING count(l.address) > 0
