"""Client side of the Capability Authority.

`capability_authority.v1` holds the generated messages of the contract, `capability_authority.offline` everything that
can be done without a server: signing, strict reading, verification, fingerprints and canonical JSON.
"""
