-- severity: info
-- rank: 34
-- when: connections having sum(client_retransmitted + broker_retransmitted + client_filled + broker_filled) >= 5
-- says: packets are lost {place}: {lost} of {packets}[ ({lost_share})][, to and from {peers|host|hosts}][; {slow_share} of the slowest requests used this path]
-- do: Check this part of the network path: interface error counters, a full queue, a bad cable, Wi-Fi, a VPN.
-- look: kanalyze connections[ --client {client_address}][ --broker {broker_address}]
-- explains: head_of_line, unanswered, gives_up, slow_requests
-- costs: connecting, time
SELECT * FROM lossy_ways
