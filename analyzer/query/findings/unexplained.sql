-- severity: info
-- rank: 100
-- when: exchange_sorts having sum(long_ns) FILTER (WHERE kind IS NULL OR kind IN ('produce_acks_1', 'produce_acks_all', 'produce_acks_unknown', 'fetch_backlog') OR (kind = 'wait' AND is_client)) >= impact('slow_ns') OR sum(exchanges) FILTER (WHERE status = 'orphan_reply' OR (NOT is_client AND status IN ('closed', 'abandoned'))) >= impact('refusals') OR EXISTS (SELECT 1 FROM failed_exchanges AS x WHERE NOT is_client(x.role) GROUP BY x.api_key, x.client_address, x.broker_address, x.broker_port HAVING count(*) >= impact('refusals') AND max(x.response_time_ns) - min(x.response_time_ns) >= impact('stuck_ns')) OR EXISTS (SELECT 1 FROM connections AS c JOIN connection_requests AS r ON r.connection = c.connection WHERE c.is_kafka AND ((c.close = 'rst' AND c.closed_by = 'broker') OR (c.seen_from = 'syn' AND c.close <> 'none' AND c.replies > 0 AND r.requests = r.hello_requests)) GROUP BY c.broker_address, c.broker_port HAVING count(*) >= impact('refusals') AND max(c.last_time_ns) - min(c.first_time_ns) >= impact('stuck_ns'))
-- says: {fact}[, up to {longest_ns} each][, for {lasted_ns}], at {broker}[ ({who})][ ({clients|client|clients})]: no rule here knows why
-- do: Open the evidence, and look into the log of the broker at that time. What was done to it, or to its clients, before that?
-- look: kanalyze impact --by api --by broker[ --client {who}][ --api {api_name}]
-- costs: time, refused, unanswered, connections
-- What others explain stands below them.
SELECT * FROM unexplained_impacts
