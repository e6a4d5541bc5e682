"""Where SQL must repeat a limit of the domain, it repeats the same one."""

import re
from importlib import resources

from authority.domain import limits
from authority.domain.references import DAY


def sql(name: str) -> str:
    return resources.files("authority.postgres").joinpath(name).read_text(encoding="utf-8")


def test_the_commit_function_has_the_skew_of_the_domain() -> None:
    found = re.findall(r"not_before_time - interval '(\d+) s'", sql("functions/06_commit.sql"))

    assert found == [str(limits.NOT_BEFORE_SKEW_MS // 1_000)]


def test_aggregates_are_as_coarse_as_the_domain_says() -> None:
    made, counted = sql("migrations/0015.aggregates.sql"), sql("functions/20_count_aggregate.sql")

    assert f"least_tenants >= {limits.AGGREGATE_LEAST_TENANTS} " in made
    assert f"between least_tenants and {limits.AGGREGATE_TENANTS})" in made
    assert f"::bigint / {limits.AGGREGATE_STEP} * {limits.AGGREGATE_STEP} as records" in counted
    assert re.findall(r"at_time - interval '(\d+) day'", counted) == [str(limits.AGGREGATE_DELAY_MS // DAY)]


def test_the_schema_bounds_content_and_request_ids_as_the_domain_does() -> None:
    schema = sql("migrations/0001.schema.sql")

    assert f"octet_length(content) between 1 and {limits.CONTENT_BYTES}" in schema
    assert f"octet_length(request_id) between 1 and {limits.KEY_BYTES}" in schema
    assert f"octet_length(name) between 1 and {limits.ID_BYTES}" in schema
