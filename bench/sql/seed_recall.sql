-- Learned memory of the tenants numbered from %(first)s to %(last)s, so many records each, all of them alike: twelve words of
-- five thousand, so that a word is in about one of four hundred. Nobody validated it, and its memory namespace takes that,
-- so that no proposals and receipts have to be made for it; a recall reads the same rows.
create temporary table said on commit drop as
select n, convert_to(text, 'UTF8') as content, setweight(to_tsvector('simple', text), 'A') as search
from generate_series(1, %(records)s) n
cross join lateral (
  select string_agg('w' || (hashint4(n * 16 + k) & 1048575) %% 5000, ' ') as text from generate_series(1, 12) k) t;

create temporary table numbered on commit drop as
select case number when 0 then 'bench|tenant' else 'bench|recall-' || number end as tenant
from generate_series(%(first)s::integer, %(last)s::integer) number;

insert into authority.memory_namespace (
  tenant, name, mode, privileged, least_profile, default_visibility, policy_version, create_time)
select u.tenant, 'recalled', 'legacy', false, least_profile, default_visibility, policy_version, create_time
from authority.memory_namespace n cross join numbered u where n.tenant = 'bench|tenant' and n.name = 'notes';

insert into authority.memory_record (
  tenant, record_id, memory_namespace, memory_type, provenance, content, content_digest, media_type, proposer, source_refs,
  subject_refs, evidence_digests, visibility, correlation_id, costs, decision_sequence, create_time, search)
select u.tenant, md5(u.tenant || s.n)::uuid, 'recalled', 'durable_fact', 'user_claim', s.content, sha256(s.content),
  'text/plain', 'bench|user', '{thread:1}', '{client:7}', '{}', 'workspace', '', '[]', 1, now(), s.search
from numbered u cross join said s;
