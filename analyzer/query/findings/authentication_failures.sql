-- severity: high
-- rank: 28
-- when: logins having count(*) FILTER (WHERE outcome = 'failed') >= 3
-- says: {times|login|logins} from {client_address} failed[ (user {user_name})][ ({users} users, {one_user} among them)][, {sasl_mechanism}][, {not_offered}][: the client sends a {bare} without SaslHandshake before it, and the broker closes][: the broker says {refusal}][; the token was valid until {token_expiry_date_ns} UTC]
-- do: {advice}
-- look: kanalyze connections --client {client_address}
-- explains: failing(SaslHandshake|SaslAuthenticate|SASL_AUTHENTICATION_FAILED|ILLEGAL_SASL_STATE|UNSUPPORTED_SASL_MECHANISM), unanswered, connection_storm
-- costs: refused(SaslHandshake|SaslAuthenticate), unanswered, connections
SELECT
    c.client_address,
    count(*) AS times,
    CASE WHEN min(l.sasl_mechanism) = max(l.sasl_mechanism) THEN max(l.sasl_mechanism) END AS sasl_mechanism,
    CASE WHEN min(l.claimed_user) = max(l.claimed_user) THEN max(l.claimed_user) END AS user_name,
    CASE WHEN min(l.claimed_user) <> max(l.claimed_user) THEN count(DISTINCT l.claimed_user) END AS users,
    min(l.claimed_user) AS one_user,
    -- 33: UNSUPPORTED_SASL_MECHANISM; 34: what a port without logins answers.
    CASE WHEN min(l.error_code) = error('UNSUPPORTED_SASL_MECHANISM')
        AND max(l.error_code) = error('UNSUPPORTED_SASL_MECHANISM')
        THEN 'a mechanism that the broker does not have' END AS not_offered,
    CASE WHEN min(l.error_code) = error('ILLEGAL_SASL_STATE') AND max(l.error_code) = error('ILLEGAL_SASL_STATE')
        AND count(l.error_code) = count(*) THEN 'ILLEGAL_SASL_STATE' END AS name,
    CASE WHEN count(*) FILTER (WHERE l.handshake = false) = count(*) THEN 'Kerberos token' END AS bare,
    CASE WHEN min(l.refusal) = max(l.refusal) THEN max(l.refusal) END AS refusal,
    -- The newest of them, where it had expired before the login.
    max(CASE WHEN l.token_expiry_time_ns < l.time_ns THEN l.token_expiry_time_ns END) AS token_expiry_date_ns,
    CASE
        WHEN min(l.error_code) = error('UNSUPPORTED_SASL_MECHANISM') AND max(l.error_code) = error('UNSUPPORTED_SASL_MECHANISM')
            THEN 'Set sasl.mechanism of this client to one of the broker (sasl.enabled.mechanisms), or enable it there.'
        WHEN count(*) FILTER (WHERE l.handshake = false) = count(*)
            THEN 'Let this client send SaslHandshake first (a switch of its library, such as Net.SASL.Handshake of sarama): brokers take a bare token at most as the first bytes of a connection, as before Kafka 0.10.'
        WHEN min(l.refusal) ILIKE 'too many%'
            THEN 'The broker takes no more logins at this rate, whatever their credentials: keep connections open instead of making new ones, and let this client wait for longer before it tries again (reconnect.backoff.ms, reconnect.backoff.max.ms).'
        WHEN min(l.sasl_mechanism) = 'OAUTHBEARER' AND max(l.sasl_mechanism) = 'OAUTHBEARER'
            THEN 'See that this client gets a new token before the old one expires (sasl.oauthbearer.token.endpoint.url, its login callback), that clocks agree, and that issuer and audience are as the broker expects (sasl.oauthbearer.expected.*).'
        WHEN min(l.sasl_mechanism) = 'GSSAPI' AND max(l.sasl_mechanism) = 'GSSAPI'
            THEN 'Kerberos: check ticket and keytab on this host (klist), sasl.kerberos.service.name, the host name by which the client reaches the broker (its principal), the clocks, and the log of the broker.'
        WHEN count(l.refusal) = count(*)
            THEN 'The broker says why: correct that in the configuration of this client (sasl.jaas.config, its login callback) or at the broker, whose log says more.'
        WHEN max(l.sasl_mechanism) = min(l.sasl_mechanism) AND max(l.sasl_mechanism) NOT LIKE 'SCRAM-%' AND max(l.sasl_mechanism) <> 'PLAIN'
            THEN 'Check the credentials of this mechanism in the client configuration on this host (sasl.jaas.config), and the log of the broker.'
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
