-- name: add_refusals
-- Adds many counts to what is counted already.
insert into authority.refusal_count as c (tenant, minute, principal, reason, count)
select a.tenant, a.minute, a.principal, a.reason, a.count
from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::bigint[])
  as a(tenant, minute, principal, reason, count)
on conflict on constraint refusal_count_one_of_each do update set count = c.count + excluded.count

-- name: forget_refusals
-- Deletes up to so many old counts of the tenants at hand; one transaction at a time, for two could wait for each other.
delete from authority.refusal_count
where (tenant, minute, principal, reason) in (
  select tenant, minute, principal, reason from authority.refusal_count
  where tenant = any ((select string_to_array(current_setting('authority.tenants', true), ','))::text[])
    and minute < now() - $1::interval
    and (select pg_try_advisory_xact_lock(7166512843090231204))
  limit $2)

-- name: refusals_of_tenant
-- Counts of a tenant since a minute, added up by principal and reason, the newest first.
select principal, reason, sum(count)::bigint as count, min(minute) as first_minute, max(minute) as last_minute
from authority.refusal_count where tenant = $1 and minute >= $2
group by principal, reason
order by last_minute desc, count desc, principal, reason
