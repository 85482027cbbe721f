-- severity: medium
-- rank: 18
-- when: offered_versions having count(*) > 0 AND NOT bool_or(api_key = api('ConsumerGroupHeartbeat') AND max_version >= 1)
-- and: exchange_sorts having sum(exchanges) FILTER (WHERE api_key = api('FindCoordinator') AND is_client) >= 3
-- says: {who} asked for the coordinator of its group, found it, and never joined: {requests|FindCoordinator|FindCoordinators}, no JoinGroup and no Fetch. No broker here offers ConsumerGroupHeartbeat v1
-- do: Look whether this consumer sets group.protocol=consumer. Brokers have that protocol from Kafka 4.0 on (3.7 to 3.9: a preview), and librdkafka reports no error where it is missing. Set group.protocol=classic, or upgrade the brokers.
-- look: kanalyze clients --client {who} --api FindCoordinator
-- delays: nobody
SELECT * FROM idle_seekers
