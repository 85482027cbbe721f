-- Static members that were thrown out of their group because another process joined with their group.instance.id (KIP-345): one row a
-- group and id where two throw each other out, else one a group. `times` counts members: each join makes a new one, whose requests
-- are refused once it is replaced. `named` is the first of them (with its address, where the one that took its place has the same
-- name), `who` the name of all of them, if they have one. `taken_by`: who joined with its id last before the first refusal; null where
-- nobody is seen to. A refused LeaveGroup is a tool's, a refused TxnOffsetCommit the producer's of a member.
WITH refused AS (
    SELECT
        coalesce(c.cluster, '') AS cluster,
        x.group_id,
        e.exchange,
        max(who(x)) AS who,
        max(x.client_address) AS client_address,
        max(coalesce(x.client_id, '') || ' ' || x.client_address) AS process,
        max(g.member_id) AS member_id,
        max(g.instance_id) AS told_id,
        min(x.response_time_ns) AS time_ns
    FROM errors AS e
    JOIN failed_exchanges AS x ON x.exchange = e.exchange
    JOIN connections AS c ON c.connection = x.connection
    LEFT JOIN group_news AS g ON g.exchange = e.exchange
    WHERE e.code = error('FENCED_INSTANCE_ID') AND is_client(x.role) AND x.group_id IS NOT NULL
        AND x.api_name NOT IN ('LeaveGroup', 'TxnOffsetCommit')
    GROUP BY coalesce(c.cluster, ''), x.group_id, e.exchange
),
joined AS (
    SELECT
        coalesce(cluster, '') AS cluster,
        group_id,
        instance_id,
        client_address,
        coalesce(client_id, '') || ' ' || client_address AS process,
        who(g) AS who,
        time_ns
    FROM group_news AS g
    WHERE event = 'join' AND instance_id IS NOT NULL AND error_code = error('NONE')
        AND group_id IN (SELECT group_id FROM refused)
),
-- The only id of a group is that of who was refused, too.
single AS (
    SELECT cluster, group_id, min(instance_id) AS instance_id FROM joined GROUP BY cluster, group_id HAVING min(instance_id) = max(instance_id)
),
known AS (
    SELECT r.*, coalesce(r.told_id, s.instance_id) AS instance_id
    FROM refused AS r LEFT JOIN single AS s ON s.cluster = r.cluster AND s.group_id = r.group_id
),
-- Two processes of one name have it with their addresses.
taken AS (
    SELECT
        k.*,
        CASE WHEN j.process <> k.process THEN j.process END AS rival,
        CASE WHEN j.process <> k.process THEN CASE WHEN j.who = k.who THEN j.who || ' at ' || j.client_address ELSE j.who END END AS taken_by,
        CASE WHEN j.process <> k.process AND j.who = k.who THEN k.who || ' at ' || k.client_address ELSE k.who END AS named
    FROM known AS k
    ASOF LEFT JOIN joined AS j
        ON j.cluster = k.cluster AND j.group_id = k.group_id AND j.instance_id = k.instance_id AND j.time_ns <= k.time_ns
),
-- Ids of which two processes took each other's place.
fights AS (
    SELECT DISTINCT a.cluster, a.group_id, a.instance_id
    FROM taken AS a JOIN taken AS b
        ON b.cluster = a.cluster AND b.group_id = a.group_id AND b.instance_id = a.instance_id
        AND b.process = a.rival AND b.rival = a.process
),
counted AS (
    SELECT
        t.group_id,
        f.instance_id IS NOT NULL AS is_fight,
        CASE WHEN min(coalesce(t.instance_id, '')) = max(coalesce(t.instance_id, '')) THEN max(t.instance_id) END AS instance_id,
        CASE WHEN min(t.who) = max(t.who) THEN max(t.who) END AS who,
        CASE WHEN min(t.client_address) = max(t.client_address) THEN max(t.client_address) END AS client_address,
        CASE WHEN f.instance_id IS NULL THEN min_by(t.named, (t.time_ns, t.exchange)) ELSE min(t.named) END AS named,
        CASE WHEN f.instance_id IS NULL THEN nullif(count(DISTINCT t.process) - 1, 0) END AS others,
        CASE WHEN f.instance_id IS NOT NULL THEN max(t.named) END AS another,
        CASE
            WHEN f.instance_id IS NULL AND count(DISTINCT t.process) = 1
                THEN nullif(min_by(coalesce(t.taken_by, ''), (t.time_ns, t.exchange)), '')
        END AS taken_by,
        count(DISTINCT coalesce(t.member_id, CAST(t.exchange AS STRING))) AS times,
        count(*) AS weight,
        min_by(t.exchange, (t.time_ns, t.exchange)) AS evidence_first,
        max_by(t.exchange, (t.time_ns, t.exchange)) AS evidence_last,
        min(t.time_ns) AS first_time_ns,
        max(t.time_ns) AS last_time_ns
    FROM taken AS t
    LEFT JOIN fights AS f ON f.cluster = t.cluster AND f.group_id = t.group_id AND f.instance_id = t.instance_id
    GROUP BY t.cluster, t.group_id, f.instance_id
)
SELECT
    * EXCLUDE (is_fight),
    CASE WHEN is_fight THEN 'throw each other out' WHEN others IS NULL THEN 'was thrown out' ELSE 'were thrown out' END AS fate,
    CASE
        WHEN is_fight THEN 'both have one'
        WHEN others IS NOT NULL THEN 'other processes joined with their'
        WHEN taken_by IS NULL THEN 'another process joined with its'
    END AS they,
    CASE WHEN is_fight AND times >= 3 THEN 'high' ELSE 'medium' END AS severity
FROM counted
