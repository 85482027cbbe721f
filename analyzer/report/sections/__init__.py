"""The parts of the report, a file each.

A section is a module with `render(facts, width, limit)`: the lines to print, none wider than `width`, at most `limit`
rows of a table (None: all), an empty list when there is nothing to say. To add one, add the file and name it in
`terminal.SECTIONS`. A module may have a `page` too, with the same arguments: what its verb prints instead, where there is
room for more; and `NOTHING`, the sentence that the verb prints when there is nothing to say.
"""
