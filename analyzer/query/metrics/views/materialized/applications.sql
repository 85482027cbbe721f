-- Of which application is a client? One row per client (address and client id) that is one of the many of a Connect cluster, a
-- MirrorMaker, a Kafka Streams application, or a source of a stream processor, by the client ids that these make (`application_ids`):
-- `application` is the group of Connect's workers, the flows of a MirrorMaker, the application id, the prefix of the ids; `connector`
-- and `task` (a thread of Streams) where the id names them. `needs`: what else must be there: `another` id of the same, a worker of
-- the same `host`, another id with the same `base`, or a `reader` of the same host and nobody else there. A pattern costs 10 us a client, so only ids that
-- have the text `has` meet it. `inferred_from` client id, host, or group.
WITH clients AS (
    SELECT c.client_address, t.client_id
    FROM all_totals AS t JOIN all_connections AS c ON c.connection = t.connection
    WHERE t.is_client AND t.client_id IS NOT NULL
    GROUP BY c.client_address, t.client_id
),
named AS (
    SELECT
        c.client_address,
        c.client_id,
        i.software,
        i.part,
        i.needs,
        CASE WHEN i.application <> '' THEN regexp_replace(c.client_id, i.client_id, i.application) END AS application,
        CASE WHEN i.connector <> '' THEN regexp_replace(c.client_id, i.client_id, i.connector) END AS connector,
        CASE WHEN i.task <> '' THEN regexp_replace(c.client_id, i.client_id, i.task) END AS task
    FROM clients AS c JOIN application_ids AS i ON contains(c.client_id, i.has) AND regexp_matches(c.client_id, i.client_id)
    UNION ALL
    -- Readers of a source of Flink have the prefix of its enumerator, and a number: an end that is far too frequent for that table.
    SELECT
        client_address, client_id, 'Flink', 'reader', 'base', regexp_extract(client_id, '^(.+)-[0-9]+$', 1), NULL,
        regexp_extract(client_id, '-([0-9]+)$', 1)
    FROM clients
    WHERE regexp_matches(client_id, '.-[0-9]+$')
),
-- Protocols of a group that only workers of Connect name.
workers AS (
    SELECT client_address, client_id, max(group_id) AS group_id
    FROM all_group_news
    WHERE group_type = 'classic' AND event = 'join' AND protocol IN ('sessioned', 'compatible', 'default')
    GROUP BY client_address, client_id
    HAVING min(group_id) = max(group_id)
),
-- Workers begin their client ids with the group, and add the client id that they are configured with.
bases AS (
    SELECT
        n.client_address,
        n.application AS base,
        max(w.group_id) AS group_id,
        contains(n.application, '->') AS is_mirror
    FROM (
        SELECT client_address, application
        FROM named
        WHERE part = 'worker'
        GROUP BY client_address, application
        HAVING count(*) > 1
    ) AS n
    LEFT JOIN workers AS w
        ON w.client_address = n.client_address AND starts_with(concat(n.application, '-'), concat(w.group_id, '-'))
    GROUP BY n.client_address, n.application
),
connects AS (
    SELECT client_address, application
    FROM (
        SELECT client_address, coalesce(group_id, base) AS application FROM bases WHERE NOT is_mirror
        UNION
        SELECT client_address, group_id FROM workers WHERE NOT contains(client_id, '->')
    ) AS c
),
-- Anybody may write an arrow: what else MirrorMaker makes must be there.
mirrors AS (
    SELECT client_address FROM bases WHERE is_mirror
    UNION
    SELECT client_address FROM named WHERE part = 'flow' AND connector IS NOT NULL
),
flows AS (
    SELECT client_address, string_agg(application, ', ' ORDER BY application) AS application
    FROM (
        SELECT DISTINCT n.client_address, n.application
        FROM named AS n JOIN mirrors AS m ON m.client_address = n.client_address
        WHERE n.part = 'flow' AND n.client_id NOT IN (SELECT client_id FROM named WHERE part = 'worker')
    ) AS f
    GROUP BY client_address
),
hosts AS (
    SELECT
        coalesce(c.client_address, f.client_address) AS client_address,
        c.application AS connect,
        coalesce(c.times, 0) AS connects,
        f.application AS flows,
        f.client_address IN (SELECT client_address FROM bases WHERE is_mirror) AS has_mirror
    FROM (
        SELECT client_address, max(application) AS application, count(*) AS times FROM connects GROUP BY client_address
    ) AS c
    FULL JOIN flows AS f ON f.client_address = c.client_address
),
streams AS (
    SELECT n.software, n.application AS base, max(CASE WHEN n.software = 'Kafka Streams' THEN g.group_id END) AS group_id
    FROM named AS n
    LEFT JOIN client_groups AS g ON g.client_address = n.client_address AND g.client_id = n.client_id
    WHERE n.needs = 'nothing'
    GROUP BY n.software, n.application
),
-- Hosts on which something else runs: a client by another name, or another version of the library.
shared AS (
    SELECT c.client_address
    FROM all_totals AS t JOIN all_connections AS c ON c.connection = t.connection
    LEFT JOIN named AS n
        ON n.client_address = c.client_address AND n.client_id = t.client_id
        AND (n.needs = 'reader' OR n.application IN (SELECT base FROM streams))
    WHERE t.is_client AND NOT t.is_token AND n.client_id IS NULL
    UNION
    SELECT client_address
    FROM all_connections
    WHERE is_client(role) AND software_name IS NOT NULL
    GROUP BY client_address
    HAVING min(concat(software_name, ' ', software_version)) < max(concat(software_name, ' ', software_version))
),
-- Sinks and administrators of stream processors have the library's own client ids. They are of the application of their host where
-- nothing else runs there.
processors AS (
    SELECT n.client_address, min(s.software) AS software, min(s.base) AS application
    FROM named AS n JOIN streams AS s ON s.base = n.application
    WHERE n.client_address NOT IN (SELECT client_address FROM hosts UNION SELECT client_address FROM shared)
    GROUP BY n.client_address
    HAVING min(s.base) = max(s.base) AND min(s.software) IN ('Flink', 'Spark')
),
found AS (
    SELECT
        n.client_address,
        n.client_id,
        CASE WHEN b.is_mirror THEN h.flows ELSE coalesce(b.group_id, b.base) END AS application,
        CASE WHEN b.is_mirror THEN 'MirrorMaker' ELSE 'Kafka Connect' END AS software,
        n.connector,
        n.task,
        CASE WHEN b.group_id IS NULL THEN 'client id' ELSE 'group' END AS inferred_from,
        1 AS place
    FROM named AS n
    JOIN bases AS b ON b.client_address = n.client_address AND b.base = n.application
    LEFT JOIN hosts AS h ON h.client_address = n.client_address
    WHERE n.part = 'worker' AND (NOT b.is_mirror OR h.flows IS NOT NULL)
    UNION ALL
    SELECT client_address, client_id, group_id, 'Kafka Connect', NULL, NULL, 'group', 2
    FROM workers
    WHERE NOT contains(client_id, '->')
    UNION ALL
    SELECT
        n.client_address,
        n.client_id,
        CASE WHEN h.connects = 1 AND NOT coalesce(h.has_mirror, false) THEN h.connect
            WHEN n.part = 'flow' OR (h.connects IS NOT DISTINCT FROM 0 AND h.has_mirror) THEN h.flows
            WHEN n.part = 'connector' THEN n.connector END,
        CASE WHEN h.connects = 1 AND NOT coalesce(h.has_mirror, false) THEN 'Kafka Connect'
            WHEN n.part = 'flow' OR (h.connects IS NOT DISTINCT FROM 0 AND h.has_mirror) THEN 'MirrorMaker'
            ELSE 'Kafka Connect' END,
        n.connector,
        n.task,
        CASE WHEN n.part = 'flow' THEN 'client id' WHEN h.client_address IS NULL THEN 'client id' ELSE 'host' END,
        3
    FROM named AS n LEFT JOIN hosts AS h ON h.client_address = n.client_address
    WHERE n.needs = 'host' AND (n.part <> 'flow' OR n.client_address IN (SELECT client_address FROM mirrors))
    UNION ALL
    SELECT
        n.client_address,
        n.client_id,
        coalesce(s.group_id, n.application),
        n.software,
        n.connector,
        n.task,
        CASE WHEN s.group_id IS NULL THEN 'client id' ELSE 'group' END,
        CASE WHEN n.needs = 'nothing' THEN 4 ELSE 5 END
    FROM named AS n JOIN streams AS s ON s.software = n.software AND s.base = n.application
    WHERE n.needs IN ('nothing', 'base')
    UNION ALL
    SELECT n.client_address, n.client_id, p.application, p.software, NULL, NULL, 'host', 6
    FROM named AS n JOIN processors AS p ON p.client_address = n.client_address
    WHERE n.needs = 'reader'
)
SELECT client_address, client_id, application, software, connector, task, inferred_from
FROM (
    SELECT
        *,
        row_number() OVER (PARTITION BY client_address, client_id ORDER BY place, length(application), application, connector, task) AS nth
    FROM found
    WHERE application IS NOT NULL
) AS f
WHERE nth = 1
