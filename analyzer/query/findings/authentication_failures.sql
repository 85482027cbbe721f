-- severity: high
-- rank: 28
-- when: logins having count(*) FILTER (WHERE outcome = 'failed') >= 3
-- says: {times|login|logins} from {client_address} failed[ (user {user_name})][ ({users} users, {one_user} among them)][, {sasl_mechanism}]
-- do: A wrong or outdated password, or somebody is guessing: check the credentials in the client configuration on this host (sasl.jaas.config, sasl.username, sasl.password).
-- look: kanalyze connections --client {client_address}
-- explains: failing, unanswered, connection_storm
SELECT
    c.client_address,
    count(*) AS times,
    CASE WHEN min(l.sasl_mechanism) = max(l.sasl_mechanism) THEN max(l.sasl_mechanism) END AS sasl_mechanism,
    CASE WHEN min(l.claimed_user) = max(l.claimed_user) THEN max(l.claimed_user) END AS user_name,
    CASE WHEN min(l.claimed_user) <> max(l.claimed_user) THEN count(DISTINCT l.claimed_user) END AS users,
    min(l.claimed_user) AS one_user,
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
