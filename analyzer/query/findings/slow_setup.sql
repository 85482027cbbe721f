-- severity: info
-- rank: 96
-- when: exchanges having bool_or(api_key IN (api('ApiVersions', 'SaslHandshake', 'SaslAuthenticate'))) OR (SELECT bool_or(syn_ack_ns >= impact('setup_ns')) FROM connections)
-- says: {who} at {client_address} waits up to {longest_ns} for {what} at {broker}: {times|connection|connections} took {limit_ns} or longer[, {waited_ns} in all]
-- do: No rule tells the cause. Look into the log of the broker at that time: threads that are busy, a limit of new connections, a directory or token server that the login asks.
-- look: kanalyze connections --client {who}
-- explains: slow_requests
SELECT * FROM slow_setups
