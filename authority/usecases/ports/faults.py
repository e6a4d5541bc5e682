"""What may keep the world from answering: faults, not refusals."""


class DependencyUnavailable(Exception):
    """A fault, not a refusal: PostgreSQL is away, or what it answered is lost. The same call may be made again."""


class Overloaded(DependencyUnavailable):
    """A fault, not a refusal: too much waits for PostgreSQL already. The same call may be made again, later."""


class Contention(Exception):
    """A fault, not a refusal: concurrent changes kept colliding. The same call may be made again."""


class NoSigningKey(DependencyUnavailable):
    """No active key of the purpose covers what is to be signed, or its private key cannot be used here; says which."""
