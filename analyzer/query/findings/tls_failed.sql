-- severity: medium
-- rank: 9
-- when: connections having bool_or(tls_handshake = 'failed')
-- says: TLS handshake of {from_address}[ and {others|other host|other hosts}] with {broker} fails, {times|time|times}[: the {sender} sent the alert {alert}][: the {ended_by} ended it with an encrypted alert][; the certificate of {certificate} is valid until {until_date_ns} UTC][: {no_answer}]
-- do: {advice}
-- look: kanalyze connections --broker {broker}[ --client {client_address}]
-- explains: connection_storm, unanswered
-- costs: connections, unanswered
SELECT * FROM failed_handshakes
