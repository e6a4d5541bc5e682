-- What tenants may know of others' memory: figures that somebody reviewed, and nothing else.
-- depends: 0015.membership

create table authority.aggregate (
  tenant text not null,                         -- who may ask for it
  name text not null,
  memory_namespace text not null,               -- counted in each of the others
  of_tenants text[] not null,                   -- whose memory is counted
  least_tenants integer not null,               -- a figure rests on so many of them, or is not told
  reviewed_by text not null,                    -- the person, and where the review can be looked up
  review text not null,
  state text not null,
  add_time timestamptz not null,
  remove_time timestamptz,
  constraint aggregate_made_once primary key (tenant, name),
  constraint aggregate_of_enough_tenants
    check (least_tenants >= 3 and cardinality(of_tenants) between least_tenants and 256),
  constraint aggregate_of_others check (tenant <> all (of_tenants)),
  constraint aggregate_named check (octet_length(name) between 1 and 247),
  constraint aggregate_reviewed check (reviewed_by <> '' and review <> ''),
  constraint aggregate_state_known check (state in ('active', 'removed')),
  constraint aggregate_removed_has_time check ((state = 'removed') = (remove_time is not null))
);
