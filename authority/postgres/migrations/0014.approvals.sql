-- Approvals of several persons, for one holder, for so many decisions; and what policy activated without a person.
-- depends: 0008.audit_and_revocations

-- Policy's own row says that a decision allowed a revision without a person (`auto_approved_by_policy`): its reference is
-- the decision's id, its sequence the decision's. A process of the earlier version writes persons' rows without the new
-- columns.
alter table authority.approval_decision
  alter column decided_by drop not null,        -- null: policy did
  add column decided_by_kind text not null default 'user',
  add column holder text,                       -- who may commit under it; null: anyone
  add column max_uses integer,                  -- how many decisions may rest on it; null: no number is set
  add column policy_version bytea,              -- of the bundle that allowed it, where policy did
  add column determining_policies text[] not null default '{}',
  drop constraint approval_decision_verdict_known, add constraint approval_decision_verdict_known
    check (verdict in ('approve', 'reject', 'request_changes', 'revoke', 'adopt')),
  add constraint approval_decision_kind_known check (decided_by_kind in ('user', 'admin', 'system_policy')),
  add constraint approval_decision_policy_is_no_person
    check ((decided_by_kind = 'system_policy') = (decided_by is null)),
  add constraint approval_decision_policy_only_activates
    check ((decided_by_kind = 'system_policy') = (policy_version is not null)
      and (decided_by_kind <> 'system_policy' or verdict = 'approve')),
  add constraint approval_decision_uses_bounded check (max_uses between 1 and 1000);

-- Whether a person decided as a user or as an administrator. The tables' owner is held by the tenant wall, which opens
-- meanwhile.
alter table authority.approval_decision no force row level security;
alter table authority.principal no force row level security;
update authority.approval_decision y set decided_by_kind = 'admin'
from authority.principal p
where p.tenant = y.tenant and p.principal = y.decided_by and p.kind = 'admin';
alter table authority.approval_decision force row level security;
alter table authority.principal force row level security;

-- The decisions that rest on an approval with a number of uses. Its key and its check are what keeps to the number.
create table authority.approval_use (
  tenant text not null,
  reference uuid not null,
  number integer not null,                      -- counted from one
  max_uses integer not null,                    -- of the approval, which is immutable
  decision_digest bytea not null,
  create_time timestamptz not null,
  constraint approval_use_each_once primary key (tenant, reference, number),
  constraint approval_use_within_its_number check (number between 1 and max_uses),
  constraint approval_use_of_approval foreign key (tenant, reference)
    references authority.approval_decision (tenant, reference),
  constraint approval_use_by_decision foreign key (tenant, decision_digest)
    references authority.decision_receipt (tenant, digest)
);

-- The approvals that a decision rests on, which its commit reads again, and how many persons policy wanted.
alter table authority.decision_receipt
  add column approvals uuid[] not null default '{}',
  add column persons_needed smallint not null default 0;

-- What persons were asked for. Partial, so that no commit looks here and no decision that allows pays for it.
create index decision_receipt_asking on authority.decision_receipt (tenant, proposal_id, revision, sequence)
  where outcome = 'require_approval';
