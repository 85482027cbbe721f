-- Which clients read the same partition for a group without being its members? One row per group and topic. They assign partitions
-- themselves, and commit under the same group (of a Fetch the group is known by its client's commits alone), each over the other's offsets:
-- at the same time for 10 s at least. Nobody joins this group or reports to it: members of one share partitions out.
WITH managed AS (
    SELECT group_id FROM group_news WHERE group_id IS NOT NULL
    UNION
    SELECT group_id FROM group_requests
    WHERE api_key NOT IN (api('OffsetCommit', 'OffsetFetch', 'OffsetDelete', 'FindCoordinator', 'DescribeGroups', 'ListGroups',
        'ConsumerGroupDescribe', 'DeleteGroups'))
),
reading AS (
    SELECT
        cluster,
        topic,
        partition,
        group_id,
        client_address,
        client_id,
        who() AS who,
        min(first_time_ns) AS first_time_ns,
        max(last_time_ns) AS last_time_ns
    FROM partition_readers
    WHERE way = 'fetch' AND group_id IS NOT NULL AND group_id NOT IN (SELECT group_id FROM managed)
    GROUP BY cluster, topic, partition, group_id, client_address, client_id
),
together AS (
    SELECT
        cluster, topic, partition, group_id, max(first_time_ns) AS first_time_ns, min(last_time_ns) AS last_time_ns
    FROM reading
    GROUP BY cluster, topic, partition, group_id
    HAVING count(*) >= 2 AND min(last_time_ns) - max(first_time_ns) >= impact('stuck_ns')
),
commits AS (
    SELECT
        group_id,
        min_by(last_exchange, (last_time_ns, last_exchange)) AS evidence_first,
        max_by(last_exchange, (last_time_ns, last_exchange)) AS evidence_last
    FROM group_requests
    WHERE api_key = api('OffsetCommit')
    GROUP BY group_id
)
SELECT
    t.topic,
    t.group_id,
    min(r.who) AS who,
    count(DISTINCT concat(r.client_address, '|', coalesce(r.client_id, ''))) AS clients,
    count(DISTINCT t.partition) AS partitions,
    count(DISTINCT t.partition) AS weight,
    any_value(k.evidence_first) AS evidence_first,
    any_value(k.evidence_last) AS evidence_last,
    min(t.first_time_ns) AS first_time_ns,
    max(t.last_time_ns) AS last_time_ns
FROM together AS t JOIN reading AS r
    ON r.cluster IS NOT DISTINCT FROM t.cluster AND r.topic = t.topic AND r.partition = t.partition AND r.group_id = t.group_id
    LEFT JOIN commits AS k ON k.group_id = t.group_id
GROUP BY t.cluster, t.topic, t.group_id
