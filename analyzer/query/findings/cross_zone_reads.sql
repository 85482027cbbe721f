-- severity: info
-- rank: 60
-- when: connections having bool_or(client_zone IS NOT NULL OR client_rack <> '')
-- and: exchanges having sum(response_bytes) FILTER (WHERE api_key = api('Fetch')) >= mb(1)
-- says: {who} reads across zones: it received {received_across_bytes} from other zones than its own ({zone}), {replicas}: {why}
-- do: Set client.rack of the consumer to the broker.rack of its zone, and replica.selector.class=RackAwareReplicaSelector on the brokers.
-- look: kanalyze zones --part clients[ --client {who}]
-- delays: nobody
-- Only a client that fetched with records worth a megabyte across, and more than it did within its zone. Records of topics that have no
-- replica in its zone, as Metadata says, do not count: they must cross.
WITH reads AS (
    SELECT
        z.client_address,
        e.client_id,
        min(e.exchange) FILTER (WHERE z.zone_way = 'across') AS evidence,
        min(e.request_time_ns) FILTER (WHERE z.zone_way = 'across') AS first_time_ns,
        max(e.request_time_ns) FILTER (WHERE z.zone_way = 'across') AS last_time_ns,
        coalesce(sum(e.response_bytes) FILTER (WHERE z.zone_way = 'across'), 0) AS across_bytes,
        coalesce(sum(e.response_bytes) FILTER (WHERE z.zone_way = 'within'), 0) AS within_bytes,
        min(c.client_rack) AS least_rack,
        max(c.client_rack) AS rack
    FROM exchanges AS e
        JOIN zone_ways AS z ON z.connection = e.connection
        JOIN connections AS c ON c.connection = e.connection
    WHERE e.api_key = api('Fetch') AND z.of_client
    GROUP BY z.client_address, e.client_id
),
racks AS (
    SELECT DISTINCT cluster, rack FROM brokers WHERE rack <> ''
),
replicated AS (
    SELECT
        cluster,
        topic,
        concat(',', min(racks), ',') AS racks,
        concat(',', min(whole_racks), ',') AS whole_racks
    FROM topic_ids
    GROUP BY cluster, topic
    HAVING count(*) = count(racks) AND min(racks) = max(racks) AND min(whole_racks) = max(whole_racks)
),
-- A zone that no broker has as its rack may be another name of one.
records AS (
    SELECT
        z.client_address,
        x.client_id,
        e.record_bytes,
        CASE
            WHEN r.topic IS NULL OR k.rack IS NULL THEN 'unknown'
            WHEN contains(r.whole_racks, concat(',', k.rack, ',')) THEN 'each'
            WHEN contains(r.racks, concat(',', k.rack, ',')) THEN 'some'
            ELSE 'none'
        END AS has
    FROM entries AS e
        JOIN exchanges AS x ON x.exchange = e.exchange
        JOIN zone_ways AS z ON z.connection = e.connection
        LEFT JOIN racks AS k ON k.cluster = z.cluster AND k.rack = z.client_zone
        LEFT JOIN replicated AS r ON r.cluster = z.cluster AND r.topic = e.topic
    WHERE x.api_key = api('Fetch') AND z.of_client AND z.zone_way = 'across' AND e.record_bytes > 0
),
replicas AS (
    SELECT
        client_address,
        client_id,
        coalesce(sum(record_bytes) FILTER (WHERE has = 'none'), 0) AS must_cross_bytes,
        count(*) FILTER (WHERE has = 'unknown') = 0 AS are_known,
        count(*) FILTER (WHERE has = 'some') = 0 AS are_told_apart,
        count(*) FILTER (WHERE has <> 'each') = 0 AS are_all_there
    FROM records
    GROUP BY client_address, client_id
),
served AS (
    SELECT broker_zone AS zone FROM zone_ways WHERE broker_zone IS NOT NULL
    UNION
    SELECT rack AS zone FROM racks
)
SELECT
    t.client_id AS who,
    t.client_address,
    t.client_zone AS zone,
    t.received_across_bytes,
    CASE
        WHEN p.are_all_there THEN 'where each partition of these topics has a replica'
        WHEN p.are_known AND p.are_told_apart THEN 'where some of these topics have replicas'
        WHEN p.are_known THEN 'where some partitions of these topics have a replica (whether those that it reads do is not known)'
        ELSE 'which has brokers (whether they have a replica is not known)'
    END AS replicas,
    CASE
        WHEN r.rack IS NULL THEN 'its Fetch requests name no rack'
        WHEN r.rack = '' THEN 'client.rack is not set'
        WHEN r.least_rack <> r.rack THEN 'its consumers do not all have the same client.rack'
        WHEN NOT EXISTS (SELECT 1 FROM brokers AS b WHERE b.rack = r.rack)
            THEN concat('client.rack is ', r.rack, ', which no broker.rack is')
        ELSE concat('client.rack is ', r.rack, ', and the brokers do not send it to a replica there')
    END AS why,
    r.evidence,
    r.first_time_ns,
    r.last_time_ns,
    t.received_across_bytes AS weight
FROM zoned_clients AS t
    JOIN reads AS r ON r.client_address = t.client_address AND r.client_id IS NOT DISTINCT FROM t.client_id
    LEFT JOIN replicas AS p ON p.client_address = t.client_address AND p.client_id IS NOT DISTINCT FROM t.client_id
WHERE t.client_zone IN (SELECT zone FROM served)
    AND r.across_bytes - coalesce(p.must_cross_bytes, 0) >= mb(1)
    AND r.across_bytes - coalesce(p.must_cross_bytes, 0) > r.within_bytes
