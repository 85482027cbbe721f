-- severity: medium
-- rank: 7
-- when: exchange_sorts having sum(wider_than_500) FILTER (WHERE status IN ('pending', 'closed', 'abandoned')) >= 2 OR (SELECT count(*) FROM problems WHERE kind = 'unfinished_frame' AND side = 'broker' AND bytes_lost > 500) > 0 OR (SELECT count(*) FROM connections WHERE requests = 1 AND broker_retransmitted >= 4 AND client_packets <= 2 + client_data_packets) > 0
-- says: large packets of {large_from} do not get through to {large_to}: [{requests|request|requests}][{replies|reply|replies}] of {smallest_bytes} or more {was_or_were} sent again and again in vain, while smaller ones[ (up to {answered_bytes})] get through
-- do: A tunnel or VPN on the path carries smaller packets than the hosts think, and silently drops larger ones: try ping -M do -s 1472, lower the MTU of the interface, let ICMP "fragmentation needed" through, or clamp the MSS.
-- look: kanalyze connections --client {client_address}
-- explains: unanswered, gives_up, lossy_network, line_dead, request_timed_out, idle_killed, slow_requests, silent_then_reset
-- costs: unanswered, connections, time
SELECT
    CASE sender WHEN 'client' THEN client_address || ' (' || who || ')' ELSE broker END AS large_from,
    CASE sender WHEN 'client' THEN broker ELSE client_address || ' (' || who || ')' END AS large_to,
    *
FROM large_packets_lost
