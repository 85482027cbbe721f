-- Whose brokers are these? Inferred, one row for each software or service whose form of names (`broker_names`: what its source or
-- documentation says of cluster ids and host names) a cluster id, an advertised host or a name that TLS clients asked for has. `what`:
-- which of them, `example`: the least of these names, `names`: how many. Without a row it is not known whose they are: Apache's own
-- brokers have no such names. Many hosts of a cloud are no brokers, so a name that TLS asked for counts where the connection is Kafka,
-- or was not decrypted and has a port to which others speak Kafka.
WITH told AS (
    SELECT 'cluster id' AS what, cluster AS name FROM all_brokers WHERE cluster_id() IS NOT NULL
    UNION
    SELECT 'host name', lower(host) FROM all_brokers
    UNION
    SELECT 'host name', lower(tls_server_name)
    FROM all_connections
    WHERE tls_server_name IS NOT NULL
        AND (
            is_kafka
            OR (tls_decrypted IS NOT TRUE AND broker_port IN (SELECT broker_port FROM all_connections WHERE is_kafka))
        )
)
SELECT b.software, b.what, min(t.name) AS example, count(*) AS names
FROM told AS t JOIN broker_names AS b ON b.what = t.what AND t.name LIKE b.pattern
GROUP BY b.software, b.what
ORDER BY b.software, b.what
