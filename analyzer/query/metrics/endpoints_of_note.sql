-- Which endpoints treat those who come to them in a way that stands out? One row per endpoint and `what`: given_up (`who` gave up `times`
-- requests, `name`, after `waited_ns`; they let the broker take `more_ns`, or `later` replies came, `more_ns` later), unnamed (Metadata
-- was answered `times` without a broker, for `waited_ns`), shared (`later` brokers are advertised there, and `times` requests reached
-- another one), refused (a broker or controller was refused `times` with `name`), votes (`times` Vote requests in `waited_ns`, by
-- `later` candidates), second_syn (`times` of `later` connections had to wait for up to `waited_ns`), reset (`times` connections of
-- `later` hosts had no answer for up to `waited_ns`, and were reset), unread (`times` requests of `later` clients waited up to `waited_ns`
-- each for the broker to read). `broker` or `who` is null where there are several.
SELECT
    'given_up' AS what, broker, client_address, who, api_name AS name, times, waited_ns, coalesce(may_last_ns, late_ns) AS more_ns,
    came_late AS later, weight
FROM impatient_clients
UNION ALL
SELECT
    'unnamed' AS what, broker, client_address, who, 'Metadata' AS name, times, lasted_ns AS waited_ns, CAST(NULL AS BIGINT) AS more_ns,
    CAST(NULL AS BIGINT) AS later, weight
FROM unnamed_brokers
UNION ALL
SELECT
    'shared' AS what, address AS broker, CAST(NULL AS STRING) AS client_address, who, CAST(NULL AS STRING) AS name, refused AS times,
    CAST(NULL AS BIGINT) AS waited_ns, CAST(NULL AS BIGINT) AS more_ns, brokers AS later, weight
FROM shared_addresses
UNION ALL
SELECT
    'refused' AS what, broker, client_address, who, api_name || ': ' || name AS name, times, CAST(NULL AS BIGINT) AS waited_ns,
    CAST(NULL AS BIGINT) AS more_ns, CAST(NULL AS BIGINT) AS later, weight
FROM refused_brokers
UNION ALL
SELECT
    'votes' AS what, CAST(NULL AS STRING) AS broker, client_address, CAST(NULL AS STRING) AS who, 'Vote' AS name, times,
    lasted_ns AS waited_ns, CAST(NULL AS BIGINT) AS more_ns, candidates AS later, weight
FROM votes_in_vain
UNION ALL
SELECT
    'second_syn' AS what, broker, CAST(NULL AS STRING) AS client_address, who, CAST(NULL AS STRING) AS name, times, longest_ns AS waited_ns,
    CAST(NULL AS BIGINT) AS more_ns, connections AS later, weight
FROM repeated_connects
UNION ALL
SELECT
    'reset' AS what, broker, CAST(NULL AS STRING) AS client_address, who, CAST(NULL AS STRING) AS name, times, silent_ns AS waited_ns,
    CAST(NULL AS BIGINT) AS more_ns, hosts AS later, weight
FROM silent_then_reset
UNION ALL
SELECT
    'unread' AS what, broker, CAST(NULL AS STRING) AS client_address, who, CAST(NULL AS STRING) AS name, times, longest_ns AS waited_ns,
    CAST(NULL AS BIGINT) AS more_ns, clients AS later, weight
FROM unread_requests
ORDER BY what, weight DESC, broker, client_address, who
