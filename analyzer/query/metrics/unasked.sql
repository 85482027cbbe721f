-- Which records did members of groups not ask for? One row per client and partition: `records` were written there since its last Fetch, `idle_ns`
-- before the end of the capture, while its heartbeats went on.
SELECT who, client_address, group_id, topic, partition, idle_ns, records, first_time_ns, last_time_ns
FROM unasked_records
ORDER BY records DESC, who, topic, partition
