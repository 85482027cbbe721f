"""Names of addresses: host, pod, namespace, workload, zone, as files say that somebody had at hand (`--names`).

`name_files` reads the files, each in a format of its own; `name_table` makes one table of what they say, and `given_names` is where
runs ask for it. A name is valid for a time where the file says so, and a connection has the name that was valid when it began.
Nothing is guessed: where two names of one file contradict each other at a time, the address has neither, and `Names.conflicts`
says so.
"""
