-- Which advertised addresses do clients not reach? One row per client and address: `times` attempts failed; the client
-- goes on to ask `asked_again`, or went silent after `told_by` had told it so; `own_host` says that the address is the
-- client itself. `perhaps`: that it cannot resolve a name is a guess. The worst first.
SELECT *, NULL AS perhaps FROM unreached_addresses
UNION ALL BY NAME
SELECT *, 'perhaps not resolved' AS perhaps FROM unresolved_names
ORDER BY perhaps NULLS FIRST, weight DESC, first_time_ns, client_address, advertised
