-- severity: medium
-- rank: 7
-- when: exchange_sorts having sum(wider_than_500) FILTER (WHERE status IN ('pending', 'closed', 'abandoned')) >= 2
-- says: large packets of {client_address} ({who}) do not get through to {broker}: {requests|request|requests} of {smallest_bytes} or more {was_or_were} sent again and again without an answer, while requests of up to {answered_bytes} are answered
-- do: A tunnel or VPN on the path carries smaller packets than the hosts think, and silently drops larger ones: try ping -M do -s 1472, lower the MTU of the interface, let ICMP "fragmentation needed" through, or clamp the MSS.
-- look: kanalyze connections --client {client_address}
-- explains: unanswered, gives_up, lossy_network, line_dead, request_timed_out, idle_killed, slow_requests, silent_then_reset
-- costs: unanswered, connections, time
SELECT * FROM large_packets_lost
