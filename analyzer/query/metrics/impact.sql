-- What was lost, refused, repeated or in vain, for whom and where? One row per account of `impacts`, what it was, and client, API and broker
-- (or what `settings` asks for). `times` are requests (connections), of `of_all` of the same client, API and broker; each is in one row of an
-- account, so that rows add up whatever they are grouped by. The parts from `queue_ns` to `unknown_ns` add up to `waited_ns`, from the
-- request's last byte to the reply's first; `slow` of the requests waited 500 ms or more without a throttle, `slow_ns` together, `longest_ns`
-- at most. `is_over`: above the limits from which on impact is reported where no rule explains it. A request about several topics has none.
WITH named AS (
    SELECT e.exchange, min(coalesce(e.topic, e.topic_id)) AS topic
    FROM entries AS e CROSS JOIN settings AS s
    WHERE s.by_topic
    GROUP BY e.exchange
    HAVING min(coalesce(e.topic, e.topic_id)) = max(coalesce(e.topic, e.topic_id))
),
-- What of all there is belongs to an account, and all there is, without an account.
every AS (
    SELECT
        account, what, account IN ('connections', 'connecting') AS is_connection, exchange, connection, between_brokers, api_name, client_id, client_address,
        principal, broker_id, broker_address, broker_port, group_id, at_ns, until_ns, waited_ns, queue_ns, throttle_ns, proxy_ns, broker_ns,
        network_ns, unknown_ns, slow_ns
    FROM impacts
    UNION ALL
    SELECT
        NULL, NULL, false, exchange, connection, NOT is_client(role), api_name, client_id, client_address, principal, broker_id,
        broker_address, broker_port, group_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM exchanges
    UNION ALL
    SELECT
        NULL, NULL, true, NULL, c.connection, NOT is_client(c.role), NULL, r.client_id, c.client_address, c.principal, c.broker_id,
        c.broker_address, c.broker_port, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM connections AS c LEFT JOIN connection_requests AS r ON r.connection = c.connection
),
keyed AS (
    SELECT
        e.account,
        e.what,
        e.is_connection,
        e.between_brokers,
        CASE WHEN coalesce(s.by_api, true) THEN e.api_name END AS api_name,
        CASE WHEN coalesce(s.by_client, true) THEN e.client_id END AS client_id,
        CASE WHEN coalesce(s.by_client, true) OR s.by_connection THEN e.client_address END AS client_address,
        -- A client that is of no application is one by itself.
        CASE WHEN s.by_app THEN coalesce(a.application, e.client_id) END AS application,
        CASE WHEN s.by_principal THEN e.principal END AS principal,
        CASE WHEN coalesce(s.by_broker, true) THEN e.broker_id END AS broker_id,
        CASE WHEN coalesce(s.by_broker, true) OR s.by_connection THEN e.broker_address END AS broker_address,
        CASE WHEN coalesce(s.by_broker, true) OR s.by_connection THEN e.broker_port END AS broker_port,
        CASE WHEN s.by_group THEN e.group_id END AS group_id,
        CASE WHEN s.by_connection THEN e.connection END AS of_connection,
        n.topic,
        who(e) AS who,
        e.exchange, e.connection, e.at_ns, e.until_ns, e.waited_ns, e.queue_ns, e.throttle_ns, e.proxy_ns, e.broker_ns, e.network_ns, e.unknown_ns,
        e.slow_ns
    FROM every AS e
        CROSS JOIN settings AS s
        LEFT JOIN applications AS a ON a.client_address = e.client_address AND a.client_id = e.client_id AND s.by_app
        LEFT JOIN named AS n ON n.exchange = e.exchange AND NOT e.is_connection
),
summed AS (
    SELECT
        account, what, is_connection, between_brokers, api_name, client_id, client_address, application, principal, broker_id,
        broker_address, broker_port, group_id, of_connection, topic,
        count(*) AS times,
        count(DISTINCT who) AS clients,
        count(slow_ns) AS slow,
        TRY_CAST(sum(waited_ns) AS BIGINT) AS waited_ns,
        TRY_CAST(sum(queue_ns) AS BIGINT) AS queue_ns,
        TRY_CAST(sum(throttle_ns) AS BIGINT) AS throttle_ns,
        TRY_CAST(sum(proxy_ns) AS BIGINT) AS proxy_ns,
        TRY_CAST(sum(broker_ns) AS BIGINT) AS broker_ns,
        TRY_CAST(sum(network_ns) AS BIGINT) AS network_ns,
        TRY_CAST(sum(unknown_ns) AS BIGINT) AS unknown_ns,
        TRY_CAST(sum(slow_ns) AS BIGINT) AS slow_ns,
        max(waited_ns) AS longest_ns,
        coalesce(max_by(exchange, (waited_ns, exchange)), min(exchange)) AS exchange,
        min(connection) AS connection,
        min(at_ns) AS first_time_ns,
        max(until_ns) AS last_time_ns,
        CAST(sum(CASE WHEN account IS NULL THEN count(*) ELSE 0 END) OVER (
            PARTITION BY is_connection, between_brokers, api_name, client_id, client_address, application, principal, broker_id,
            broker_address, broker_port, group_id, of_connection, topic
        ) AS BIGINT) AS of_all
    FROM keyed
    GROUP BY account, what, is_connection, between_brokers, api_name, client_id, client_address, application, principal, broker_id,
        broker_address, broker_port, group_id, of_connection, topic
)
SELECT
    account, what, between_brokers, client_id, client_address, application, principal, api_name, broker_id, broker_address, broker_port,
    group_id, topic, clients, times, of_all, CASE WHEN waited_ns IS NOT NULL THEN slow END AS slow, waited_ns, queue_ns, throttle_ns, proxy_ns,
    broker_ns, network_ns, unknown_ns, slow_ns, longest_ns,
    coalesce(CASE account
        WHEN 'data' THEN times >= impact('lost_records')
        WHEN 'connecting' THEN longest_ns >= impact('setup_ns')
        WHEN 'rebalance' THEN slow_ns >= impact('slow_ns') AND slow_ns >= impact('slow_share') * (last_time_ns - first_time_ns)
        WHEN 'time' THEN slow_ns >= impact('slow_ns') AND slow_ns >= impact('slow_share') * (last_time_ns - first_time_ns)
        WHEN 'repeated' THEN last_time_ns - first_time_ns >= impact('stuck_ns') AND times * s(1) >= 1.0 * impact('repeated_per_s') * (last_time_ns - first_time_ns)
        WHEN 'no progress' THEN last_time_ns - first_time_ns >= impact('stuck_ns')
        WHEN 'connections' THEN times >= impact('refusals') AND what NOT IN ('closed by the broker', 'reset by the client')
        ELSE times >= impact('refusals')
    END, false) AS is_over,
    exchange, connection, first_time_ns, last_time_ns
FROM summed
WHERE account IS NOT NULL
ORDER BY
    CASE account
        WHEN 'data' THEN 1 WHEN 'refused' THEN 2 WHEN 'unanswered' THEN 3 WHEN 'connections' THEN 4 WHEN 'no progress' THEN 5
        WHEN 'connecting' THEN 6 WHEN 'rebalance' THEN 7 WHEN 'time' THEN 8 ELSE 9
    END,
    between_brokers, is_over DESC, coalesce(slow_ns, 0) DESC, coalesce(waited_ns, 0) DESC, times DESC, first_time_ns, what, api_name,
    client_id, client_address, application, principal, broker_address, broker_port, group_id, topic
