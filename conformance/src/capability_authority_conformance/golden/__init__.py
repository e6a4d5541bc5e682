"""The golden vectors: files that every implementation, in any language, has to agree with.

They are made here and never by hand: `make vectors` writes `conformance/vectors/*.json`. Their forms, and what each
file asks of an implementation, stand in the README beside them. Nothing here reads a clock or draws anything at random,
so that the same code writes the same bytes everywhere.
"""
