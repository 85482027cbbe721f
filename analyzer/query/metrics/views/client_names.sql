-- What the client of each connection is called, where `settings` group by one of its names: its pod (with its namespace), namespace,
-- workload or zone, that of client.rack where no names are given.
SELECT
    c.connection,
    CASE
        WHEN s.by_pod THEN coalesce(c.client_namespace || '/' || c.client_pod, c.client_pod)
        WHEN s.by_namespace THEN c.client_namespace
        WHEN s.by_workload THEN c.client_workload
        WHEN s.by_zone THEN coalesce(c.client_zone, nullif(c.client_rack, ''))
    END AS client_name
FROM connections AS c CROSS JOIN settings AS s
WHERE s.by_pod OR s.by_namespace OR s.by_workload OR s.by_zone
