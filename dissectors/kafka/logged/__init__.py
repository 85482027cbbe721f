"""Messages as brokers log them, objects with the names of the fields: their values, entries and errors, as `columns` reads them of
bytes.

`json_places` finds the values of a line without making objects of them, `object_plan` makes the steps of a version from its schema,
`object_values` takes the values. `log_rows` is the way of most lines: a block of them becomes rows without an object for a line.
What is not as most lines are it leaves to its caller, who reads one line after the other with objects, and gives the same rows.
"""
