"""State of idle connections in few bytes, until they speak again.

- A connection in its slot takes some 3 KB over all stages. So 32,768 have slots; before a batch of segments those
  idle for longest leave: the rows of all stages are one behind the other in a chain of cells, a few hundred bytes. When
  a segment of the flow comes they come back, into any slot. No stage knows of it, and a test compares the rows with
  and without.
- Pools of a stage may be referred to by index from a row of state. They may not hold numbers of slots, unless
  `IdleConnections` keeps such connections in their slots (openings that wait, bytes out of order).
- A new column of state needs nothing more to be parked. A new matrix is named in `slot_state` of its stage.
- Tasks and the stitch park no connection: they ask stages for connections by slot.
"""
