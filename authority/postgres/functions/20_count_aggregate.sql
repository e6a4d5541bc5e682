-- The only way across tenants: counts, of an aggregate that an operator made for the asking tenant. Its owner can see
-- what is counted by, and no content, no reference and no id; whoever may execute it sees what it returns, and nothing
-- of it names a tenant.
--
-- Counted is what was committed for the whole workspace in months that have been over for a day. All of this is fixed
-- when a record is committed, and stays whatever becomes of it: asked twice, the answer is the same. Of each memory type
-- and month, what a tenant has beyond the one that has the least_tenants-th most is not counted, so that no figure rests
-- on fewer; it is rounded down to whole tens, and where nothing is left it is not told. One row without a figure says that
-- the aggregate is there.
--
-- Its owner makes it: see 06_commit.sql.
grant create on schema authority to authority_aggregator;
set local role authority_aggregator;

create or replace function authority.count_aggregate(
  of_tenant text, aggregate_name text, of_namespace text, at_time timestamptz)
returns table (memory_type text, month timestamptz, records bigint)
language sql stable security definer
set search_path = authority, pg_temp
as $$
  with asked as materialized (
    select a.of_tenants, a.least_tenants from aggregate a
    where a.tenant = of_tenant and a.name = aggregate_name and a.memory_namespace = of_namespace
      and a.state = 'active'),
  of_one as materialized (
    select r.memory_type, date_trunc('month', r.create_time, 'UTC') as month, count(*) as records
    from asked a
    cross join lateral unnest(a.of_tenants) one
    join memory_record r on r.tenant = one and r.memory_namespace = of_namespace
    where r.visibility = 'workspace' and r.create_time < date_trunc('month', at_time - interval '1 day', 'UTC')
    group by one, r.memory_type, date_trunc('month', r.create_time, 'UTC')),
  placed as (
    select o.memory_type, o.month, o.records,
      row_number() over (partition by o.memory_type, o.month order by o.records desc) as place
    from of_one o),
  clipped as (
    select p.memory_type, p.month, sum(least(p.records, l.records))::bigint / 10 * 10 as records
    from asked a
    join placed l on l.place = a.least_tenants
    join placed p on p.memory_type = l.memory_type and p.month = l.month
    group by p.memory_type, p.month)
  select c.memory_type, c.month, c.records
  from asked a left join clipped c on c.records > 0
  order by c.month, c.memory_type
$$;

revoke all on function authority.count_aggregate(text, text, text, timestamptz) from public;
grant execute on function authority.count_aggregate(text, text, text, timestamptz) to authority_read;

reset role;
revoke create on schema authority from authority_aggregator;
