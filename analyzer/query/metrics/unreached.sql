-- Which advertised addresses do clients not reach? One row per client and address: `times` attempts failed; the client
-- goes on to ask `asked_again`, or went silent after `told_by` had told it so; `own_host` says that the address is the
-- client itself. The worst first.
SELECT * FROM unreached_addresses ORDER BY weight DESC, first_time_ns
