"""Service messages to domain values and back, and nothing else.

Decoding raises `Refused`: MALFORMED or LIMIT_EXCEEDED naming the field by its path in the request.
"""
