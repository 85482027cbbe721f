-- severity: medium
-- rank: 15
-- when: exchange_sorts having coalesce(sum(exchanges) FILTER (WHERE is_client AND status IN ('closed', 'abandoned')), 0) >= 3 OR sum(long_ns) FILTER (WHERE is_client AND api_key NOT IN (api('Fetch', 'JoinGroup', 'SyncGroup', 'ShareFetch'))) >= s(1)
-- says: {who} {ends} {api_name} at {broker} after {waited_ns} each time, {times|time|times}, and connects again[; the request lets the broker take up to {may_last_ns}][; {came_late|reply|replies} arrived after that, up to {late_ns} later][; {none} arrived][; {upstream} did not answer that host meanwhile, {in_vain|time|times}]
-- do: {advice}
-- look: kanalyze connections --client {client_address}
-- explains: unanswered, connection_storm, metadata_storm, slow_requests, resent_batches, repetition
-- costs: unanswered, time
SELECT * FROM impatient_clients
