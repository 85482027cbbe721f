"""What every package may use: options, filters, tables, storage, processes; imports no other package of analyzer."""
