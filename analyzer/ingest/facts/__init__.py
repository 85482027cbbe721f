"""What message bodies tell beyond columns of an exchange: clusters, brokers, groups, transactions, logins, batches.

A kind of fact is one `Kind` (an API, the fields it needs, a function that makes rows of them); `collect` reads frames for
all kinds, `tables` says what the raw tables hold, `analyzer/query/resolve` makes final tables of them.
"""
