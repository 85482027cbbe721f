-- SASL logins, one row each: a handshake begins a login, the steps after it belong to it. `outcome` is what the broker's answer
-- says. Where it says nothing (GSSAPI) the login succeeded if another request was answered later, since a broker answers only
-- who is logged in. A broker that closes the connection instead of answering has refused the login, unless its packets are not in
-- the capture.
WITH steps AS (
    SELECT
        s.*,
        p.connection,
        p.one_way,
        p.seen_from = 'syn' AND p.client_gaps + p.broker_gaps = 0 AS is_whole,
        sum(CASE WHEN s.step = 'handshake' THEN 1 ELSE 0 END)
            OVER (PARTITION BY s.part ORDER BY s.begin_ns, s.exchange ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
            AS login
    FROM raw_login_steps AS s
    JOIN parts AS p ON p.part = s.part
    WHERE p.is_kafka
),
attempts AS (
    SELECT
        part,
        connection,
        login,
        min(begin_ns) AS begin_ns,
        max(end_ns) AS end_ns,
        coalesce(max_by(exchange, (begin_ns, exchange)) FILTER (WHERE step <> 'handshake'), min_by(exchange, (begin_ns, exchange))) AS exchange,
        max_by(mechanism, begin_ns) FILTER (WHERE mechanism IS NOT NULL) AS mechanism,
        max_by(login_name, begin_ns) FILTER (WHERE login_name IS NOT NULL) AS login_name,
        max_by(token_id, begin_ns) FILTER (WHERE token_id IS NOT NULL) AS token_id,
        max(CASE WHEN accepted THEN 1 ELSE 0 END) AS accepted,
        max(CASE WHEN NOT accepted THEN 1 ELSE 0 END) AS refused,
        max_by(ended, begin_ns) AS ended,
        max(one_way) AS one_way,
        bool_and(is_whole) AS is_whole,
        max_by(refusal, begin_ns) FILTER (WHERE refusal IS NOT NULL) AS refusal,
        max_by(expiry_ns, begin_ns) FILTER (WHERE expiry_ns IS NOT NULL) AS expiry_ns,
        max_by(error_code, begin_ns) FILTER (WHERE error_code IS NOT NULL) AS error_code,
        row_number() OVER (PARTITION BY part ORDER BY min(begin_ns)) AS number
    FROM steps
    GROUP BY part, connection, login
),
owners AS (
    SELECT token_id, min(owner) AS owner FROM raw_token_owners GROUP BY token_id HAVING min(owner) = max(owner)
),
ended AS (
    SELECT
        a.*,
        CASE
            WHEN a.refused = 1 THEN 'failed'
            WHEN a.accepted = 1 OR o.last_ns >= a.end_ns THEN 'ok'
            WHEN (a.ended = 'closed' OR a.ended = 'abandoned') AND a.one_way IS NULL THEN 'failed'
            ELSE 'open'
        END AS outcome,
        a.number > 1 OR coalesce(o.first_ns < a.begin_ns, false) AS again
    FROM attempts AS a
    LEFT JOIN part_evidence AS o ON o.part = a.part
)
SELECT
    e.exchange,
    e.connection,
    e.end_ns AS time_ns,
    e.mechanism AS sasl_mechanism,
    e.login_name AS claimed_user,
    e.token_id,
    CASE
        WHEN e.outcome <> 'ok' THEN NULL
        WHEN e.token_id IS NOT NULL THEN coalesce(o.owner, 'token:' || e.token_id)
        WHEN e.login_name IS NOT NULL THEN 'User:' || e.login_name
    END AS principal,
    e.outcome,
    e.error_code,
    e.again,
    CASE WHEN e.login > 0 THEN true WHEN e.is_whole THEN false END AS handshake,
    e.refusal,
    e.expiry_ns AS token_expiry_time_ns
FROM ended AS e
LEFT JOIN owners AS o ON o.token_id = e.token_id
