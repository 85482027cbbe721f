-- Which brokers answer in another order than they were asked? One row per client and broker: `times` replies came
-- before that to an earlier request. The worst first.
SELECT * FROM mixed_replies ORDER BY weight DESC, first_time_ns
