"""What no grant can say, whoever signed it, for `grant_chains.json`."""

from typing import Final

from capability_authority_conformance.golden.form import Test
from capability_authority_conformance.golden.grant_samples import (
    HOUR_MS,
    Change,
    root,
    saying,
    set_field,
    set_part,
    set_time,
    without,
)
from capability_authority_conformance.golden.grant_tests import accepted, refused
from capability_authority_conformance.golden.samples import NOW_MS

__all__ = ["misshapen"]

_DAY_MS: Final = 24 * HOUR_MS


def misshapen() -> list[Test]:
    """Well signed, and nothing that a grant can say."""
    return [
        refused(f"malformed-{name}", comment, "Malformed", "grant_malformed", root(change), field=field)
        for name, comment, field, change in _MISSHAPEN
    ] + [
        accepted(
            "names-64",
            "as many names as a dimension may have",
            "Equal",
            root(saying("resources", [f"r/{n}" for n in range(64)])),
        ),
        accepted(
            "lifetime-30-days",
            "as long as a grant may live",
            "Time",
            root(set_time("expire_time", NOW_MS + 30 * _DAY_MS)),
        ),
        accepted(
            "other-credential",
            "a credential that signs nothing, by its digest",
            "Equal",
            root(without("holder_public_key")),
        ),
    ]


_MISSHAPEN: Final[tuple[tuple[str, str, str, Change], ...]] = (
    ("issuer-both", "an issuer, and somebody who derived it", "issuer", lambda it: it.delegated_by.CopyFrom(it.holder)),
    ("tenant-missing", "no tenant, which is not every tenant", "tenant", without("tenant")),
    ("tenant-empty", "an empty id", "tenant", set_part("tenant", "id", "")),
    ("subject-missing", "no subject", "subject", without("subject")),
    ("holder-missing", "no holder", "holder", without("holder")),
    ("holder-line-feed", "a line feed behind the holder's id", "holder", set_part("holder", "id", "orchestrator\n")),
    ("action-unknown", "an action outside the closed vocabulary", "actions", saying("actions", ["policy.promote"])),
    ("action-star", "a selector for actions", "actions", saying("actions", ["memory.*"])),
    ("action-case", "another case", "actions", saying("actions", ["Memory.propose"])),
    ("action-twice", "one twice", "actions", saying("actions", ["memory.propose", "memory.propose"])),
    ("audience-star", "a selector for audiences", "audiences", saying("audiences", ["memory.example/*"])),
    ("audience-empty", "an empty name", "audiences", saying("audiences", [""])),
    ("tools-65", "65 names", "tools", saying("tools", [f"t{n}" for n in range(65)])),
    ("models-twice", "one twice", "models", saying("models", ["small/*", "small/*"])),
    ("amount-negative", "less than nothing", "usd_micros", saying("usd_micros", -1)),
    ("amount-smallest", "-2^63", "tokens", saying("tokens", -(2**63))),
    ("holder-key-short", "31 bytes", "holder_key", set_field("holder_key", bytes(31))),
    ("holder-key-missing", "none", "holder_key", without("holder_key")),
    (
        "holder-key-of-another",
        "a digest of another key than the one beside it",
        "holder_public_key",
        set_field("holder_key", bytes(32)),
    ),
    ("policy-version-missing", "none", "policy_version", without("policy_version")),
    ("parent-digest-short", "31 bytes", "parent_digest", set_field("parent_digest", bytes(31))),
    ("nonce-missing", "none", "nonce", without("nonce")),
    ("nonce-long", "17 bytes", "nonce", set_field("nonce", bytes(17))),
    ("begin-missing", "absent, which is not 1970", "not_before_time", without("not_before_time")),
    ("expiry-missing", "absent, which is not for ever", "expire_time", without("expire_time")),
    ("begin-before-1970", "a millisecond before", "not_before_time", set_time("not_before_time", -1)),
    ("lifetime-none", "ends as it begins", "expire_time", set_time("expire_time", NOW_MS)),
    ("lifetime-negative", "ends before it begins", "expire_time", set_time("expire_time", NOW_MS - 1)),
    (
        "lifetime-30-days-and-1",
        "a millisecond longer than 30 days",
        "expire_time",
        set_time("expire_time", NOW_MS + 30 * _DAY_MS + 1),
    ),
    ("correlation-space", "a space in the correlation id", "correlation_id", set_field("correlation_id", "run 4711")),
)
"""Id, comment, field, change."""
