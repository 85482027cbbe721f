"""Reports as text and JSON, from metrics and findings only; knows neither captures nor the command line.

- A report shows what is read of a capture of any size: `top_clients` and `top_topics` are `clients` and `topics`
  without the columns that are `seldom`.
"""
