/** What is believed of a key set, and of statements under it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";

import { KEY_SET_LIFETIME_MS, KeySets } from "../src/client/key-sets.js";
import * as offline from "../src/offline/index.js";
import {
  GetKeySetResponse_KeySchema,
  GetKeySetResponseSchema,
} from "../src/proto/capability_authority/v1/capability_service_pb.js";
import { KeyPurpose, KeyState } from "../src/proto/capability_authority/v1/types_pb.js";
import { ISSUER, recordOf, statementNamed } from "./golden/samples.js";

type Told = MessageInitShape<typeof GetKeySetResponse_KeySchema>;

const { publicKey } = recordOf("commit-receipt");
const TOLD: Told = {
  keyId: publicKey.keyId,
  publicKey: publicKey.raw,
  purpose: KeyPurpose.RECEIPT,
  state: KeyState.ACTIVE,
};

function read(told: readonly Told[], keyIds?: ReadonlySet<string>, issuer = ISSUER): offline.KeySet {
  const keys = told.map((each) => create(GetKeySetResponse_KeySchema, each));
  return offline.keySetFromResponse(create(GetKeySetResponseSchema, { issuer: ISSUER, keys }), { issuer, keyIds });
}

test("a key set is read as it is told, absent limits as none", () => {
  const record = read([TOLD]).record(publicKey.keyId);
  assert.deepEqual(
    [record?.tenant, record?.memoryNamespace, record?.compromisedSinceMs],
    [undefined, undefined, undefined],
  );
  offline.verifyReceipt(statementNamed("commit-receipt"), read([TOLD]));
});

test("only pinned keys are taken", () => {
  // What is not pinned is not even looked at.
  const other = { ...TOLD, keyId: "another", publicKey: new Uint8Array() };
  const pinned = read([TOLD, other], new Set([publicKey.keyId]));
  assert.equal(pinned.record(publicKey.keyId)?.publicKey.keyId, publicKey.keyId);
  assert.equal(pinned.record("another"), undefined);
  assert.throws(() => read([TOLD], new Set([`${publicKey.keyId}x`])), offline.KeySetRefused);
  assert.throws(() => read([TOLD], new Set()), offline.KeySetRefused);
});

const WEAK = new Uint8Array(32);
const REFUSED: readonly (readonly [string, readonly Told[]])[] = [
  ["an id of another key", [{ ...TOLD, keyId: recordOf("grant").publicKey.keyId }]],
  ["a key of small order", [{ ...TOLD, keyId: offline.toWire(offline.sha256(WEAK)), publicKey: WEAK }]],
  ["a key of another length", [{ ...TOLD, publicKey: new Uint8Array(31) }]],
  ["a key that occurs twice", [TOLD, TOLD]],
  ["an impossible time", [{ ...TOLD, compromisedSinceTime: create(TimestampSchema, { nanos: 1 }) }]],
];

for (const [name, told] of REFUSED) {
  test(`refused: ${name}`, () => {
    assert.throws(() => read(told), offline.KeySetRefused);
  });
}

test("another issuer's key set is not the pinned one's", () => {
  assert.throws(() => read([TOLD], undefined, "elsewhere.example"), offline.KeySetRefused);
});

test("what is never signed, or of no known kind, is verified by nothing", () => {
  for (const payloadType of [offline.PROPOSAL_REVISION, "application/octet-stream", ""]) {
    const statement = { ...statementNamed("commit-receipt"), payloadType };
    assert.throws(() => offline.verifyStatement(statement, read([TOLD])), offline.PayloadTypeMismatch);
  }
});

/** What a client knows of the keys, by a clock that is set, and how often it has asked. */
function known(): { readonly keySets: KeySets; readonly asked: () => number; readonly pass: (ms: number) => void } {
  let asked = 0;
  let now = 0;
  const fetch = async () => {
    asked += 1;
    return create(GetKeySetResponseSchema, { issuer: ISSUER, keys: [create(GetKeySetResponse_KeySchema, TOLD)] });
  };
  const keySets = new KeySets({ fetch, pinnedIssuer: ISSUER, pinnedKeyIds: undefined, clock: () => now });
  return { keySets, asked: () => asked, pass: (ms) => void (now += ms) };
}

test("a key set is kept for its lifetime, and asked for again after that", async () => {
  const { keySets, asked, pass } = known();
  for (const [ms, times] of [
    [0, 1],
    [KEY_SET_LIFETIME_MS, 1],
    [1, 2],
  ] as const) {
    pass(ms);
    await keySets.current();
    assert.equal(asked(), times);
  }
});

test("only a key that is not known yet is looked for, once", async () => {
  const { keySets, asked, pass } = known();
  const unknown = (): never => {
    throw new offline.KeyUnknown({ expected: "a key", presented: "none" });
  };
  await keySets.current();
  pass(1);

  const forged = new offline.SignatureInvalid({ expected: "a signature", presented: "another" });
  const refuse = (): never => {
    throw forged;
  };
  await assert.rejects(keySets.verified(refuse), forged);
  assert.equal(asked(), 1);
  await assert.rejects(keySets.verified(unknown), offline.KeyUnknown);
  assert.equal(asked(), 2);
});

test("nothing is asked for whoever has given up", async () => {
  const { keySets, asked } = known();
  const reason = new Error("enough");
  await assert.rejects(keySets.current({ signal: AbortSignal.abort(reason) }), reason);
  await keySets.current();
  assert.equal(asked(), 1);
});
