-- Static members that were thrown out of their group because another process joined with their group.instance.id (KIP-345): one row a
-- group and id. The id is that with which who was refused had joined; where that was not seen, that of the others who joined, if they
-- have one. `taken_by` joined with it last before; null where nobody else is seen to, as two processes of a host may have one name.
-- Where several were thrown out, `who` is null, and `one` and `another` are two of these `processes`.
WITH refused AS (
    SELECT
        coalesce(c.cluster, '') AS cluster,
        x.group_id,
        who(x) AS who,
        x.client_address,
        coalesce(x.client_id, '') AS client_id,
        e.exchange,
        min(x.response_time_ns) AS time_ns
    FROM errors AS e
    JOIN failed_exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    WHERE e.code = error('FENCED_INSTANCE_ID') AND is_client(x.role) AND x.group_id IS NOT NULL
    GROUP BY coalesce(c.cluster, ''), x.group_id, who(x), x.client_address, coalesce(x.client_id, ''), e.exchange
),
joined AS (
    SELECT
        coalesce(cluster, '') AS cluster, group_id, instance_id, client_address, coalesce(client_id, '') AS client_id, who(g) AS who, time_ns
    FROM group_news AS g
    WHERE event = 'join' AND instance_id IS NOT NULL AND error_code = error('NONE')
),
own AS (
    SELECT r.exchange, max_by(j.instance_id, j.time_ns) AS instance_id
    FROM refused AS r JOIN joined AS j
        ON j.cluster = r.cluster AND j.group_id = r.group_id AND j.client_address = r.client_address
        AND j.client_id = r.client_id AND j.time_ns <= r.time_ns
    GROUP BY r.exchange
),
taken AS (
    SELECT
        r.exchange,
        CASE WHEN min(j.instance_id) = max(j.instance_id) THEN min(j.instance_id) END AS instance_id,
        CASE WHEN min(j.instance_id) = max(j.instance_id) THEN max_by(j.who, j.time_ns) END AS taken_by
    FROM refused AS r
    JOIN joined AS j
        ON j.cluster = r.cluster AND j.group_id = r.group_id AND j.time_ns <= r.time_ns
        AND (j.client_address <> r.client_address OR j.client_id <> r.client_id)
    LEFT JOIN own AS o ON o.exchange = r.exchange
    WHERE o.instance_id IS NULL OR j.instance_id = o.instance_id
    GROUP BY r.exchange
)
SELECT
    r.group_id,
    coalesce(o.instance_id, t.instance_id) AS instance_id,
    CASE WHEN count(DISTINCT r.who) = 1 THEN min(r.who) END AS who,
    CASE WHEN count(DISTINCT r.who) = 1 THEN min_by(t.taken_by, (r.time_ns, r.exchange)) END AS taken_by,
    CASE WHEN count(DISTINCT r.who) = 1 AND min_by(t.taken_by, (r.time_ns, r.exchange)) IS NULL THEN 'another process' END AS somebody,
    CASE WHEN count(DISTINCT r.who) > 1 THEN min(r.who) END AS one,
    CASE WHEN count(DISTINCT r.who) > 1 THEN max(r.who) END AS another,
    CASE WHEN count(DISTINCT r.who) > 1 THEN count(DISTINCT r.who) END AS processes,
    CASE WHEN count(*) >= 3 THEN 'high' ELSE 'medium' END AS severity,
    count(*) AS times,
    count(*) AS weight,
    min_by(r.exchange, (r.time_ns, r.exchange)) AS evidence_first,
    max_by(r.exchange, (r.time_ns, r.exchange)) AS evidence_last,
    min(r.time_ns) AS first_time_ns,
    max(r.time_ns) AS last_time_ns
FROM refused AS r
LEFT JOIN own AS o ON o.exchange = r.exchange
LEFT JOIN taken AS t ON t.exchange = r.exchange
GROUP BY r.cluster, r.group_id, coalesce(o.instance_id, t.instance_id)
