-- severity: high
-- rank: 28
-- when: logins having count(*) FILTER (WHERE outcome = 'failed') >= 3
-- says: {times|login|logins} from {client_address} failed[ (user {user_name})][ ({users} users, {one_user} among them)][, {sasl_mechanism}][, {not_offered}]
-- do: {advice}
-- look: kanalyze connections --client {client_address}
-- explains: failing(SaslHandshake|SaslAuthenticate|SASL_AUTHENTICATION_FAILED|ILLEGAL_SASL_STATE|UNSUPPORTED_SASL_MECHANISM), unanswered, connection_storm
SELECT
    c.client_address,
    count(*) AS times,
    CASE WHEN min(l.sasl_mechanism) = max(l.sasl_mechanism) THEN max(l.sasl_mechanism) END AS sasl_mechanism,
    CASE WHEN min(l.claimed_user) = max(l.claimed_user) THEN max(l.claimed_user) END AS user_name,
    CASE WHEN min(l.claimed_user) <> max(l.claimed_user) THEN count(DISTINCT l.claimed_user) END AS users,
    min(l.claimed_user) AS one_user,
    -- 33: UNSUPPORTED_SASL_MECHANISM; 34: what a port without logins answers.
    CASE WHEN min(l.error_code) = 33 AND max(l.error_code) = 33 THEN 'a mechanism that the broker does not have' END AS not_offered,
    CASE WHEN min(l.error_code) = 34 AND max(l.error_code) = 34 AND count(l.error_code) = count(*) THEN 'ILLEGAL_SASL_STATE' END AS name,
    CASE
        WHEN min(l.error_code) = 33 AND max(l.error_code) = 33
            THEN 'Set sasl.mechanism of this client to one of the broker (sasl.enabled.mechanisms), or enable it there.'
        ELSE 'A wrong or outdated password, or somebody is guessing: check the credentials in the client configuration on this host (sasl.jaas.config, sasl.username, sasl.password).'
    END AS advice,
    max_by(l.connection, (l.time_ns, l.exchange)) AS connection,
    count(*) AS weight,
    min_by(l.exchange, (l.time_ns, l.exchange)) AS evidence_first,
    max_by(l.exchange, (l.time_ns, l.exchange)) AS evidence_last,
    min(l.time_ns) AS first_time_ns,
    max(l.time_ns) AS last_time_ns
FROM logins AS l JOIN connections AS c ON c.connection = l.connection
WHERE l.outcome = 'failed' AND NOT coalesce(l.again, false)
GROUP BY c.client_address
HAVING count(*) >= 3
