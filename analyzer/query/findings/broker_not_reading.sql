-- severity: medium
-- rank: 20
-- when: exchange_sorts having max(send_ns) FILTER (WHERE is_client) >= s(1)
-- and: connections having sum(broker_zero_windows) > 0
-- says: {broker} does not read what it is sent: {times|request|requests} of {clients|client|clients}[, all of {who},] took up to {longest_ns} each to be sent, on connections whose receive window it closed
-- do: Nothing else was under way on these connections, so the broker itself did not get to read: its network threads stood still (a pause of its garbage collector, a host without CPU), or its queue of requests was full (NetworkProcessorAvgIdlePercent, RequestQueueSize; queued.max.requests, queued.max.request.bytes).
-- look: kanalyze connections --broker {broker}
-- explains: slow_transfers, slow_requests
-- costs: time
SELECT * FROM unread_requests
