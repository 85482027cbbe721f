-- severity: medium
-- rank: 96
-- when: connections having count(*) FILTER (WHERE seen_from = 'syn' AND syn_ack_ns IS NULL AND client_stream_bytes + broker_stream_bytes = 0) >= impact('refusals')
-- says: {broker} is never reached[ by {one_client}][ by {several|address|addresses}]: {times|attempt|attempts} to connect in {lasted_ns}, {answer}
-- do: No rule tells the cause. See whether anything listens at this address, whether a firewall lets this client through, and whether the address is still right (bootstrap.servers, advertised.listeners, a name that this client resolved before it changed).
-- look: kanalyze connections --broker {broker}
-- costs: connections
SELECT * FROM unreachable_endpoints
