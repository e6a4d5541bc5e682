import assert from "node:assert/strict";

import * as offline from "../src/offline/index.js";
import { type Invocation, InvocationSchema } from "../src/proto/capability_authority/v1/statements_pb.js";
import { everyVector, wordOf } from "./golden/running.js";
import { hex, toHex } from "./golden/vectors.js";

interface Proof {
  readonly proof: string;
  readonly call: {
    readonly audience: string;
    readonly method: string;
    readonly request: string;
    readonly kind: string;
  };
  readonly now_ms: number;
}

interface Caller {
  readonly key: { readonly seed: string; readonly public_key: string };
  readonly tenant: offline.Reference;
  readonly principal: offline.Reference;
}

const LIVES_MS: Readonly<Record<string, number>> = { read: 60_000, stream: 60_000, mutation: 300_000 };
const ID = /^\S(?:.*\S)?$/s;

everyVector<Proof, Caller>(
  "invocations",
  { group: ["key", "principal", "tenant"], vector: ["call", "now_ms", "proof"] },
  (vector, group) => {
    let said: Invocation;
    try {
      const statement = offline.parseStatement(hex(vector.proof));
      const key = offline.publicKeyOf(hex(group.key.public_key));
      said = offline.openStatement(statement, { expected: InvocationSchema, keys: () => key });
    } catch (error) {
      const word = wordOf(error);
      return word === "key_unknown" || word === "signature_invalid" ? word : "unreadable";
    }
    if (!isWellFormed(said)) return "unreadable";
    const misfit = misfitOf(said, vector, group);
    if (misfit === null) assert.equal(madeAgain(said, vector, group), vector.proof);
    return misfit;
  },
);

function misfitOf(said: Invocation, { call, now_ms }: Proof, { tenant, principal }: Caller): string | null {
  const livesMs = LIVES_MS[call.kind];
  assert.ok(livesMs, `a kind of call that is not known: ${call.kind}`);
  const ageMs = now_ms - offline.instantMs(said.issueTime);
  const digest = offline.toWire(offline.sha256(hex(call.request)));
  if (!isSame(said.tenant, tenant) || !isSame(said.principal, principal)) return "principal";
  if (said.audience !== call.audience) return "audience";
  if (said.method !== call.method) return "method";
  if (offline.toWire(said.requestDigest) !== digest) return "request_digest";
  return ageMs >= -offline.NOT_BEFORE_SKEW_MS && ageMs < livesMs ? null : "issue_time";
}

/** What an Invocation must say at all, beside being readable. */
function isWellFormed(said: Invocation): boolean {
  const { nonce, requestDigest, issueTime, tenant, principal } = said;
  const ids = [tenant?.namespace, tenant?.id, principal?.namespace, principal?.id];
  return (
    nonce.length >= offline.MIN_NONCE_BYTES &&
    nonce.length <= offline.MAX_NONCE_BYTES &&
    requestDigest.length === offline.DIGEST_BYTES &&
    issueTime !== undefined &&
    offline.instantMs(issueTime) >= 0 &&
    ids.every((id) => id !== undefined && ID.test(id))
  );
}

function isSame(said: offline.Reference | undefined, told: offline.Reference): boolean {
  return said?.namespace === told.namespace && said.id === told.id;
}

function madeAgain(said: Invocation, { call }: Proof, { key, tenant, principal }: Caller): string {
  const proof = offline.makeInvocation({
    privateKey: offline.privateKeyFromSeed(hex(key.seed)),
    tenant,
    principal,
    audience: said.audience,
    method: said.method,
    requestBytes: hex(call.request),
    nonce: said.nonce,
    issuedMs: offline.instantMs(said.issueTime),
  });
  return toHex(proof);
}
