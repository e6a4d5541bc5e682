/** What is believed of a key set, and of statements under it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";

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
