"""Pure rules and values: the clock, ids, keys and digests come in as arguments; nothing here does I/O."""
