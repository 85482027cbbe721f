-- severity: info
-- rank: 96
-- when: exchange_sorts having coalesce(sum(latencies_ns) FILTER (WHERE is_client AND api_key IN (api('ApiVersions', 'SaslHandshake', 'SaslAuthenticate'))), 0) + coalesce((SELECT max(syn_ack_ns) FROM connections), 0) + coalesce(sum(exchanges) FILTER (WHERE is_client AND api_key IN (api('ApiVersions', 'SaslHandshake', 'SaslAuthenticate')) AND status IN ('pending', 'closed', 'abandoned')), 0) * (SELECT max(last_time_ns) - min(first_time_ns) FROM connections) >= impact('setup_ns')
-- says: {who} at {client_address} waits up to {longest_ns} for {what} at {broker}: {times|connection|connections} took {limit_ns} or longer[, {waited_ns} in all]
-- do: No rule tells the cause. Look into the log of the broker at that time: threads that are busy, a limit of new connections, a directory or token server that the login asks.
-- look: kanalyze connections --client {who}
-- explains: slow_requests
-- costs: connecting, time
SELECT * FROM slow_setups
