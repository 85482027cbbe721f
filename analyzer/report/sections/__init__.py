"""The parts of the report, a file each.

A section is a module with `render(facts, width, limit)`: the lines to print, none wider than `width`, at most `limit`
rows of a table (None: all), an empty list when there is nothing to say. To add one, add the file and name it in
`terminal.SECTIONS`.
"""
