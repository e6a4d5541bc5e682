-- Proposing and reading under a grant are uses of it, too (semantics 6).
-- depends: 0010.grants 0011.proposals_and_evidence

-- One ledger for every kind of use, so that one chain of sums counts them all. Until now only issuing was written.
alter table authority.grant_use
  add column action text not null default 'memory.commit-validated', -- what it was used for, as a grant names it
  add column proposal_id uuid,                                       -- what it was spent on, when that is a revision
  add column revision integer,
  alter column capability_id drop not null,                          -- likewise, when it is a capability
  alter column expire_time drop not null;                            -- of the capability; null of everything else
-- A read leaves nothing behind that a use could name.
alter table authority.grant_use
  add constraint grant_use_of_revision foreign key (tenant, proposal_id, revision)
    references authority.proposal (tenant, proposal_id, revision),
  add constraint grant_use_proposed_once unique (tenant, proposal_id, revision, grant_digest),
  add constraint grant_use_action_known check (
    action in ('memory.commit-validated', 'memory.propose', 'memory.recall', 'evidence.read')),
  add constraint grant_use_names_its_capability check (
    num_nonnulls(capability_id, expire_time) = case action when 'memory.commit-validated' then 2 else 0 end),
  add constraint grant_use_names_its_revision check (
    num_nonnulls(proposal_id, revision) = case action when 'memory.propose' then 2 else 0 end);
