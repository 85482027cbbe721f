-- severity: medium
-- rank: 7
-- when: connections having bool_or(is_kafka IS NOT TRUE AND protocol IS NOT NULL) AND bool_or(is_kafka OR tls) OR bool_or(is_kafka AND tls AND tls_decrypted IS NOT TRUE) OR count(*) FILTER (WHERE is_kafka AND replies = 1 AND requests > 1 AND sasl_mechanism IS NULL) >= 3 OR bool_or(is_kafka AND sasl_mechanism IS NOT NULL AND principal IS NULL)
-- says: {client_address}[ ({client_id})] speaks {spoken} to {broker}, which {expected}: {times|connection|connections} failed
-- do: {advice}
-- look: kanalyze connections --client {client_address}
-- explains: connection_storm, unanswered, gives_up, tls_failed, authentication_failures(ILLEGAL_SASL_STATE), failing(ILLEGAL_SASL_STATE)
-- costs: connections, unanswered
SELECT * FROM wrong_protocols
