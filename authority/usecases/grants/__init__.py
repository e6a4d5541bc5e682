"""Grants: what is done with them, and what is done under one.

`make`, `verify` and `look_after` are the verbs of GrantService. Whatever another verb is presented with goes through
`presented`, over the kept parts of a chain (`chains`): `act_under` says by whose right it is done, `read_under` with
whose eyes it is read.
"""
