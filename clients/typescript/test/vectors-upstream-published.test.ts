/**
 * The verdicts of the published upstream verifier (`conformance/vectors/cognitum-action-v1/`): codes and issue paths.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { privateKeyFromSeed, publicKeyOf } from "../src/offline/index.js";
import * as upstream from "../src/upstream/index.js";
import { hex, toHex, vectorFile } from "./golden/vectors.js";

interface Case {
  readonly name: string;
  readonly now: string;
  readonly expectedAudience: string;
  readonly expectedTenantRef: upstream.ActionRef;
  readonly hooks: {
    readonly keyKnown: boolean;
    readonly policy: boolean;
    readonly capability: boolean;
    readonly reserve: upstream.Reservation;
    readonly throws: boolean;
  };
  readonly signed: { readonly envelope: object };
  readonly digest: string;
  readonly ok: boolean;
  readonly code: string | null;
  readonly issues: readonly upstream.Issue[];
}

const FILE = vectorFile("conformance/vectors/cognitum-action-v1/envelopes.json") as {
  readonly publicKeyHex: string;
  readonly keyId: string;
  readonly cases: readonly Case[];
};
const KEY = publicKeyOf(hex(FILE.publicKeyHex));

function arrivalOf(given: Case): upstream.Arrival {
  const fail = (): never => {
    throw new Error("a hook that stumbles");
  };
  return {
    audience: given.expectedAudience,
    tenant: given.expectedTenantRef,
    nowMs: Date.parse(given.now),
    hooks: {
      resolveKey: (_issuer, keyId) => (given.hooks.keyKnown && keyId === FILE.keyId ? KEY : undefined),
      policyVerifier: async () => (given.hooks.throws ? fail() : given.hooks.policy),
      capabilityVerifier: () => ({ allowed: given.hooks.capability }),
      replayStore: { reserve: async () => given.hooks.reserve },
    },
  };
}

test("there are 33 published verdicts", () => {
  assert.equal(FILE.cases.length, 33);
});

for (const given of FILE.cases) {
  test(`upstream: ${given.name}`, async () => {
    const found = await upstream.verifySignedActionEnvelope(given.signed, arrivalOf(given));

    assert.equal(found.ok, given.ok);
    if (found.ok) {
      assert.equal(found.canonicalDigest, given.digest);
      assert.deepEqual(found.envelope, given.signed.envelope);
    } else {
      assert.equal(found.code, given.code);
      assert.deepEqual(found.issues, given.issues);
    }
  });
}

test("an envelope is signed as upstream's own was", () => {
  // The key of the vectors is that of RFC 8032, test 1.
  const seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  const key = privateKeyFromSeed(seed);
  assert.equal(toHex(key.publicKey.raw), FILE.publicKeyHex);
  for (const given of FILE.cases.filter(({ ok }) => ok)) {
    const signed = upstream.signActionEnvelope(given.signed.envelope as upstream.ActionEnvelope, key, {
      keyId: FILE.keyId,
    });
    assert.deepEqual(signed, given.signed);
  }
});
