-- Lock order for all writers: global, tenant, proposal head, capability, superseded record, receipt claim.
-- A commit shares the two advisory locks; a withdrawal takes one of them alone before it reads: so none is acknowledged
-- while a commit that ignored it can still land.
create or replace function authority.global_lock() returns bigint
language sql immutable parallel safe as $$ select 7166512843090231201 $$;

create or replace function authority.tenant_lock(tenant text) returns bigint
language sql immutable parallel safe as $$ select hashtextextended(tenant, 7166512843090231202) $$;
