"""Domain values to payload messages and back, one file per payload kind.

Encoding trusts its values. Decoding trusts nothing: a payload may come from anyone, so every field is judged here, and
`fields.Misshapen` names the first that is not what the contract allows. Both end in this room.
"""
