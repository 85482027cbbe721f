"""What every package may use: options, filters, tables, storage, processes; imports no other package of analyzer.

- What a verb writes under a name that a user gave goes through `base/outputs.py`: whole or not at all, never over
  what is read, into devices and pipes instead of in their place. `tests/test_house_writes.py` lists who else opens
  files for writing, and why.
"""
