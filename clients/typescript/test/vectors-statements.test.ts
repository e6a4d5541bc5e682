import assert from "node:assert/strict";

import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";

import * as offline from "../src/offline/index.js";
import type { SignedStatement } from "../src/proto/capability_authority/v1/statements_pb.js";
import { everyVector, wordOf } from "./golden/running.js";
import { schemaOf } from "./golden/payloads.js";
import { hex, toHex } from "./golden/vectors.js";

interface Signed {
  readonly statement: string;
  readonly statement_digest: string | null;
  readonly message: JsonValue | null;
}

interface Signer {
  readonly payload_type: string;
  readonly key: {
    readonly name: string;
    readonly seed: string;
    readonly public_key: string;
    readonly key_id: string;
  };
}

everyVector<Signed, Signer>(
  "statements",
  { group: ["key", "payload_type"], vector: ["message", "statement", "statement_digest"] },
  (vector, group) => {
    let statement: SignedStatement;
    try {
      statement = offline.parseStatement(hex(vector.statement));
    } catch (error) {
      return wordOf(error) && "envelope_refused";
    }
    assert.equal(offline.toWire(offline.digestOf(statement)), vector.statement_digest);
    const reason = judge(statement, vector.message, group);
    if (reason === null) assert.equal(signedAgain(vector, group), vector.statement);
    return reason;
  },
);

function judge(statement: SignedStatement, said: JsonValue | null, group: Signer): string | null {
  const expected = schemaOf(group.payload_type);
  const publicKey = offline.publicKeyOf(hex(group.key.public_key));
  assert.equal(publicKey.keyId, group.key.key_id);
  try {
    const message = offline.openStatement(statement, { expected, keys: () => publicKey });
    assert.deepEqual(toJson(expected, message), said);
    return null;
  } catch (error) {
    return wordOf(error);
  }
}

function signedAgain(vector: Signed, group: Signer): string {
  const schema = schemaOf(group.payload_type);
  const key = offline.privateKeyFromSeed(hex(group.key.seed));
  return toHex(offline.serializeStatement(offline.sign(schema, fromJson(schema, vector.message), key)));
}
