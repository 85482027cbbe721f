-- severity: medium
-- rank: 6
-- when: connections having bool_or(is_kafka AND broker_speaks IS NOT NULL)
-- says: {broker} answers in {speaks}, not Kafka: {times|connection|connections} of {who}
-- do: Correct bootstrap.servers of this client: its port is that of a web server, a console, a metrics exporter or a REST proxy, or a load balancer in between answers for itself.
-- look: kanalyze connections --client {client_address}
-- explains: unanswered, gives_up, connection_storm, metadata_storm
-- costs: connections, unanswered
SELECT * FROM foreign_answers
