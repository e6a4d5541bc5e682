-- Proposals that expire and are withdrawn; and evidence, kept or referred to by its digest.
-- depends: 0008.audit_and_revocations

alter table authority.proposal add column expire_time timestamptz; -- null: of a version that let none expire

alter table authority.proposal add column subject text; -- of the grant under which it was proposed; null: without one

alter table authority.proposal_head add column withdraw_time timestamptz; -- set once, when it is withdrawn
alter table authority.proposal_head drop constraint proposal_head_state_known;
alter table authority.proposal_head add constraint proposal_head_state_known check (state in
  ('proposed', 'validating', 'validated', 'rejected', 'changes_requested', 'approved', 'committed', 'withdrawn'));
alter table authority.proposal_head
  add constraint proposal_head_withdrawn_has_time check ((state = 'withdrawn') = (withdraw_time is not null));

-- What was committed or withdrawn stays so, whoever writes: no revision follows and no state. Expiry is reckoned when a
-- proposal is read (domain/proposal_states.py) and is stored nowhere.
create function authority.proposal_head_stays() returns trigger
language plpgsql as $$
begin
  raise exception 'a proposal that was % stays so', old.state using errcode = 'integrity_constraint_violation';
end $$;
create trigger proposal_head_is_final before update on authority.proposal_head for each row
when (old.state in ('committed', 'withdrawn')
  and (new.state, new.current_revision) is distinct from (old.state, old.current_revision))
execute function authority.proposal_head_stays();

-- What proposals name by digest: bytes that are kept here, or a reference to bytes that are kept elsewhere and that the
-- authority never fetches. Nothing of it ever changes but what a person decided on it, once.
create table authority.evidence (
  tenant text not null,
  digest bytea not null,                        -- SHA-256 of the bytes, wherever they are
  media_type text not null,
  content bytea,                                -- null: it is only referred to
  reference text,                               -- URI; null: it is kept here
  put_by text not null,
  visibility text not null,
  visibility_scope text not null,               -- id of the channel or team; empty for private and workspace
  state text not null,
  signed_by text,                               -- whose signed statement vouches for it; null: nobody's
  payload_type text,
  payload bytea,
  key_id bytea,
  signature bytea,
  put_time timestamptz not null,
  decided_by text,                              -- set once, with the time
  decide_time timestamptz,
  note text not null default '',
  constraint evidence_kept_once primary key (tenant, digest),
  constraint evidence_by_principal foreign key (tenant, put_by) references authority.principal (tenant, principal),
  constraint evidence_signed_by_principal foreign key (tenant, signed_by)
    references authority.principal (tenant, principal),
  constraint evidence_decided_by_principal foreign key (tenant, decided_by)
    references authority.principal (tenant, principal),
  constraint evidence_digest_fits check (octet_length(digest) = 32 and (content is null or digest = sha256(content))),
  constraint evidence_kept_or_referred_to check ((content is null) <> (reference is null)),
  constraint evidence_bounded
    check (octet_length(content) between 1 and 1048576 and octet_length(reference) between 1 and 2048),
  constraint evidence_visibility_known check (visibility in ('private', 'channel', 'team', 'workspace')),
  constraint evidence_scope_where_it_is_one check (visibility in ('channel', 'team') or visibility_scope = ''),
  constraint evidence_state_known check (state in ('pending', 'approved', 'rejected')),
  constraint evidence_decided_by_somebody
    check (num_nulls(decided_by, decide_time) = case when state = 'pending' then 2 else 0 end),
  constraint evidence_never_decided_by_its_putter check (decided_by <> put_by),
  constraint evidence_signed_whole check (num_nulls(signed_by, payload_type, payload, key_id, signature) in (0, 5))
);
-- What waits for a decision, page by page.
create index evidence_by_state on authority.evidence (tenant, state, digest);
