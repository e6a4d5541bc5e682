import assert from "node:assert/strict";
import { test } from "node:test";

import { requestFingerprint, toWire } from "../src/offline/index.js";
import { everyVector, type Members, vectorsOf, wordOf } from "./golden/running.js";

interface Terms {
  readonly tenant_namespace: string;
  readonly tenant_id: string;
  readonly memory_namespace: string;
  readonly holder_namespace: string;
  readonly holder_id: string;
  readonly audience: string;
  readonly proposal_id: string;
  readonly proposal_revision: number;
  readonly proposal_digest: string;
  readonly content_digest: string;
  readonly media_type: string;
  readonly evidence_digests: readonly string[];
  readonly validator_profile: string;
  readonly validator_profile_version: string;
}

interface Fingerprinted {
  readonly terms: Terms;
  readonly fingerprint: string;
}

const MEMBERS: Members<Fingerprinted, object> = { group: [], vector: ["fingerprint", "terms"] };

function fingerprintOf(terms: Terms): string {
  const { evidence_digests: evidenceDigests, ...others } = terms;
  assert.equal(Object.keys(others).length, 13, "a term that is not known");
  return toWire(
    requestFingerprint({
      tenantNamespace: terms.tenant_namespace,
      tenantId: terms.tenant_id,
      memoryNamespace: terms.memory_namespace,
      holderNamespace: terms.holder_namespace,
      holderId: terms.holder_id,
      audience: terms.audience,
      proposalId: terms.proposal_id,
      proposalRevision: terms.proposal_revision,
      proposalDigest: terms.proposal_digest,
      contentDigest: terms.content_digest,
      mediaType: terms.media_type,
      evidenceDigests,
      validatorProfile: terms.validator_profile,
      validatorProfileVersion: terms.validator_profile_version,
    }),
  );
}

everyVector("fingerprints", MEMBERS, ({ terms, fingerprint }) => {
  try {
    return fingerprintOf(terms) === fingerprint ? null : "mismatch";
  } catch (error) {
    return wordOf(error);
  }
});

test("d10 d11 no two requests have the same fingerprint", () => {
  const valid = vectorsOf("fingerprints", MEMBERS).filter(({ vector }) => vector.result === "valid");
  assert.equal(new Set(valid.map(({ vector }) => vector.fingerprint)).size, valid.length);
});
