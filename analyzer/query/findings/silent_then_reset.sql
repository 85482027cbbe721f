-- severity: medium
-- rank: 9
-- when: connections having count(*) FILTER (WHERE close = 'rst' AND closed_by = 'broker' AND client_retransmitted >= 3) >= 2
-- says: {broker} fell silent on {times|connection|connections} of {hosts|host|hosts}[, all of {who}], for up to {silent_ns}, and then reset them
-- do: Its host lost these connections without closing them: it was switched off, crashed or was replaced, or a load balancer or a table of translations in between was. See since when that host and the devices in between are up (`uptime`). A shorter request timeout or TCP_USER_TIMEOUT lets clients notice it earlier.
-- look: kanalyze connections --broker {broker}
-- explains: unanswered, gives_up, slow_requests, unexplained
-- costs: unanswered, connections, time
SELECT * FROM silent_then_reset
