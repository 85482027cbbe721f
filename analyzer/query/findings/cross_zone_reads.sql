-- severity: info
-- rank: 60
-- when: connections having bool_or(client_zone IS NOT NULL OR client_rack <> '')
-- says: {who} reads across zones: it received {received_across_bytes} from other zones than its own ({zone}), which has brokers: {why}
-- do: Set client.rack of the consumer to the broker.rack of its zone, and replica.selector.class=RackAwareReplicaSelector on the brokers.
-- look: kanalyze zones --part clients[ --client {who}]
-- delays: nobody
-- Only a client that fetched with records worth a megabyte across, and more than it did within its zone. Which replicas a partition
-- has is not known here.
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
served AS (
    SELECT broker_zone AS zone FROM zone_ways WHERE broker_zone IS NOT NULL
    UNION
    SELECT rack AS zone FROM brokers WHERE rack <> ''
)
SELECT
    t.client_id AS who,
    t.client_address,
    t.client_zone AS zone,
    t.received_across_bytes,
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
WHERE t.client_zone IN (SELECT zone FROM served) AND r.across_bytes >= mb(1) AND r.across_bytes > r.within_bytes
