"""PostgreSQL: whether it can be used, by whom, how far it was migrated, and whether it keeps what it acknowledges."""

from collections.abc import Iterator, Sequence
from typing import Final

from authority.bootstrap.doctor.finding import Finding, ok, problem, warning
from authority.postgres.examination import DatabaseFacts, DeliveryFacts, LoginFacts

_LEAST_VERSION: Final = 160_000
_LATE_MS: Final = 60_000
"""A relay delivers within a second; it is given time to be started anew."""
_MIGRATE: Final = "run `authority migrate`"


def look_at_server(facts: DatabaseFacts, took_ms: int) -> Iterator[Finding]:
    """Its version, and whether it is the one that takes writes."""
    found = f"PostgreSQL {facts.server['version']}, answered in {took_ms} ms"
    if int(str(facts.server["version_number"])) < _LEAST_VERSION:
        yield problem("postgresql", found, "use PostgreSQL 16 or newer")
    elif facts.server["is_standby"]:
        yield problem("postgresql", f"{found}, is a standby and takes no writes", "name the primary in the URL")
    elif facts.server["default_transaction_read_only"] == "on":
        remedy = "set default_transaction_read_only = off for the server, the database and the role"
        yield problem("postgresql", f"{found}, takes no writes", remedy)
    else:
        yield ok("postgresql", found)


def look_at_clock(facts: DatabaseFacts, bound_ms: int) -> Finding:
    """Whether its clock and ours agree well enough for this process to commit and to issue."""
    off = facts.clock_difference_ms
    found = f"PostgreSQL's is {abs(off)} ms {'ahead of' if off >= 0 else 'behind'} ours"
    remedy = "synchronise the clocks of both machines (NTP)"
    if abs(off) > bound_ms:
        beyond = f"{found}, more than AUTHORITY_CLOCK_BOUND_MS ({bound_ms}): nothing is committed or issued"
        return problem("clock", beyond, remedy)
    if abs(off) > bound_ms // 2:
        return warning("clock", f"{found}, of {bound_ms} ms allowed", remedy)
    return ok("clock", found)


def look_at_rights(login: LoginFacts | None) -> Finding:
    """Whether the service's login may take on exactly what serving needs, and inherits none of it."""
    if login is None or not login.may_log_in:
        return problem("service login", "may not log in", f"{_MIGRATE} with AUTHORITY_DATABASE_URL set")
    if login.is_superuser:
        return problem("service login", "is a superuser, whom no wall stops", "use a login of its own")
    if login.missing:
        found = f"may not take on {_names(login.missing)}"
        return problem("service login", found, f"{_MIGRATE} with AUTHORITY_DATABASE_URL set")
    if login.beyond:
        found = f"may also take on {_names(login.beyond)}"
        return problem("service login", found, f"REVOKE {_names(login.beyond)} FROM it")
    if login.inherited:
        found = f"has the rights of {_names(login.inherited)} at all times"
        return problem("service login", found, "grant its roles WITH INHERIT FALSE, SET TRUE")
    return ok("service login", "may take on the service's roles and no others, and inherits none")


def look_at_operator(login: LoginFacts | None) -> Finding:
    """Whether the operator's login may migrate."""
    if login and login.may_create_roles and login.may_create_schemas:
        return ok("operator login", "may migrate")
    missing = [] if login and login.may_create_roles else ["CREATEROLE"]
    missing += [] if login and login.may_create_schemas else ["CREATE on the database"]
    remedy = "name the database's owner, with CREATEROLE, in AUTHORITY_ADMIN_DATABASE_URL"
    return problem("operator login", f"lacks {_names(missing)}", remedy)


def look_at_schema(facts: DatabaseFacts) -> Finding:
    """Whether the database was brought to this version."""
    schema = facts.schema
    if schema is None:
        # Rights are replaced whole by each migration: they let the service read how far it went.
        return problem("schema", "is older than this version", _MIGRATE)
    if schema.missing:
        return problem("schema", f"lacks {_names(schema.missing)}", _MIGRATE)
    if schema.newer:
        found = f"is newer than this version: it has {_names(schema.newer)}"
        return warning("schema", found, "bring this machine to the version that migrated the database")
    if schema.outdated:
        return problem("schema", f"has other functions than this version: {_names(schema.outdated)}", _MIGRATE)
    return ok("schema", "is at this version")


def look_at_durability(facts: DatabaseFacts) -> Iterator[Finding]:
    """Whether what it acknowledges survives a crash, of it and of its machine."""
    server, found = facts.server, list[Finding]()
    if server["fsync"] != "on":
        off = "fsync is off: a crash of the machine may lose or double commits, or all there is"
        found.append(problem("durability", off, "set fsync = on"))
    if server["full_page_writes"] != "on":
        off = "full_page_writes is off: a crash of the machine may tear pages"
        found.append(problem("durability", off, "set full_page_writes = on"))
    synchronous, standbys = server["synchronous_commit"], server["synchronous_standby_names"]
    if synchronous == "off":
        off = "synchronous_commit is off: a crash loses receipts that were given out"
        found.append(problem("durability", off, "set synchronous_commit = on"))
    elif synchronous == "local" and standbys:
        local = "synchronous_commit is local: a failover loses receipts, though there are synchronous standbys"
        found.append(problem("durability", local, "set synchronous_commit = on"))
    replicated = "a synchronous standby confirms each commit" if standbys else "there is no synchronous standby"
    yield from found or [ok("durability", f"what is acknowledged survives a crash; {replicated}")]


def look_at_isolation(facts: DatabaseFacts) -> Finding:
    """The service sets its own; whoever looks into the database by hand is told of another."""
    level = facts.server["default_transaction_isolation"]
    if level == "read committed":
        return ok("isolation", "READ COMMITTED, as the functions expect")
    found = f"the default is {str(level).upper()}; the service sets READ COMMITTED for itself"
    return warning("isolation", found, "set default_transaction_isolation = 'read committed'")


def look_at_connections(facts: DatabaseFacts, most: int, workers: int) -> Finding:
    """Whether the workers get the connections that they may open."""
    by = f"{workers} worker{'s' if workers > 1 else ''} may open {most}, one being replaced included"
    found = f"PostgreSQL lets in {facts.connections_allowed}; {by}"
    if facts.connections_allowed < most:
        remedy = "raise max_connections, or lower AUTHORITY_WORKERS, AUTHORITY_CONNECTIONS or"
        return problem("connections", found, f"{remedy} AUTHORITY_COMMIT_CONNECTIONS")
    return ok("connections", found)


def look_at_delivery(delivery: DeliveryFacts | None) -> Iterator[Finding]:
    """Whether events leave the outbox."""
    if delivery is None:
        yield problem("delivery", "the outbox cannot be read", _MIGRATE)
        return
    late = (delivery.oldest_age_ms or 0) > _LATE_MS
    if late:
        found = f"events that wait: {delivery.pending}, the oldest for {(delivery.oldest_age_ms or 0) // 1_000} s"
        yield warning("delivery", found, "run `authority relay` beside the service, or see its log")
    if delivery.parked:
        found = f"events that were given up: {delivery.parked}"
        yield warning(
            "delivery", found, "`authority outbox list` tells why, `authority outbox replay` tries them again"
        )
    if not late and not delivery.parked:
        yield ok("delivery", "no event waits in the outbox for long")


def _names(names: Sequence[str]) -> str:
    return ", ".join(names)
