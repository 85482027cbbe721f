"""Messages as brokers log them, objects with the names of the fields: their values, entries and errors, as `columns` reads them of
bytes. `json_places` finds the values of a line without making objects of them, `object_plan` makes the steps of a version from its
schema, `object_values` takes them.
"""
