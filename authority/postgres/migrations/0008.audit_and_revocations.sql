-- What watches read: the order in which audit events became visible, and what was withdrawn; and counted refusals.
-- depends: 0004.receipt_key_last

-- The transaction that wrote an event: commits run beside each other, and an event with a smaller id may appear later
-- (case H01). What is new since a snapshot is what that snapshot does not show. Events from before this column are
-- older than any snapshot.
alter table authority.audit_event add column xid xid8 not null default '0';
alter table authority.audit_event alter column xid set default pg_current_xact_id();
create index audit_event_by_transaction on authority.audit_event (tenant, xid, event_id);
create index audit_event_by_subject on authority.audit_event (tenant, subject, event_id);
create index audit_event_by_correlation on authority.audit_event (tenant, correlation_id, event_id)
  where correlation_id <> '';
-- Events are written nearly in the order of their times: a summary of blocks finds a range of times and costs nothing.
create index audit_event_by_time on authority.audit_event using brin (create_time);

-- What was withdrawn for ever, in the order in which it was: the feed that offline verifiers follow. The sequence is
-- drawn under the tenant's lock, or the global one for what is withdrawn in every tenant at once (issuer keys, under the
-- tenant of the authority itself): so whoever has seen one has seen every earlier one.
create table authority.revocation (
  tenant text not null,
  sequence bigint not null,
  kind text not null,
  subject text not null,                        -- id of what was withdrawn, as its signed item names it
  memory_namespace text not null default '',    -- of a record
  content_digest bytea,                         -- of a record
  revoke_time timestamptz not null,
  constraint revocation_in_order primary key (tenant, sequence),
  constraint revocation_once unique (tenant, kind, subject),
  constraint revocation_kind_known
    check (kind in ('capability', 'grant', 'approval', 'record', 'principal', 'principal_key', 'issuer_key')),
  constraint revocation_of_a_record_has_its_content
    check ((kind = 'record') = (memory_namespace <> '' and content_digest is not null))
);

-- Refusals, replays and conflicts, counted.
create table authority.refusal_count (
  tenant text not null,
  minute timestamptz not null,
  principal text not null,
  reason text not null,
  count bigint not null,
  constraint refusal_count_one_of_each primary key (tenant, minute, principal, reason),
  constraint refusal_count_is_of_some check (count > 0)
);

-- What was withdrawn before is in the feed too, in the order in which it was told. The wall stands between tenants for
-- the table's owner as well, and is opened for this one look.
alter table authority.audit_event no force row level security;
insert into authority.revocation (tenant, sequence, kind, subject, revoke_time)
select e.tenant, nextval('authority.decision_sequence'), split_part(e.kind, '.', 1), e.subject, e.create_time
from (
  select distinct on (tenant, kind, subject) tenant, event_id, kind, subject, create_time from authority.audit_event
  where kind in ('capability.revoke', 'principal.revoke', 'principal_key.revoke', 'issuer_key.revoke')
  order by tenant, kind, subject, event_id) e
order by e.event_id;
alter table authority.audit_event force row level security;
