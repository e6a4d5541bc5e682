/** The statements of the golden vectors, which name each other, and the published keys that signed them. */

import assert from "node:assert/strict";

import { fromJson, type DescMessage, type JsonValue, type MessageShape } from "@bufbuild/protobuf";

import * as offline from "../../src/offline/index.js";
import type { SignedStatement } from "../../src/proto/capability_authority/v1/statements_pb.js";
import { KeyPurpose, KeyState } from "../../src/proto/capability_authority/v1/types_pb.js";
import { vectorsOf } from "./running.js";
import { hex } from "./vectors.js";

interface Signed {
  readonly statement: string;
  readonly statement_digest: string | null;
  readonly message: JsonValue | null;
}

interface Signer {
  readonly payload_type: string;
  readonly key: { readonly name: string; readonly seed: string };
}

const FOUND = vectorsOf<Signed, Signer>("statements", {
  group: ["key", "payload_type"],
  vector: ["message", "statement", "statement_digest"],
});

export const ISSUER = "authority.example";
export const TENANT: offline.Reference = { namespace: "cognitum-tenant", id: "acme" };

/** A moment at which the grants and the capability are good. */
export const NOW_MS = Date.parse("2026-09-21T14:14:00Z");

/** A statement by its name in the vectors. */
export function statementNamed(id: string): SignedStatement {
  return offline.parseStatement(hex(vectorNamed(id).vector.statement));
}

/** What a statement of the vectors says. */
export function messageNamed<Desc extends DescMessage>(schema: Desc, id: string): MessageShape<Desc> {
  return fromJson(schema, vectorNamed(id).vector.message);
}

/** The private key that signed a statement of the vectors. */
export function signerOf(id: string): offline.PrivateKey {
  return offline.privateKeyFromSeed(hex(vectorNamed(id).group.key.seed));
}

/** What is known of the key that signed a statement of the vectors. */
export function recordOf(id: string, state = KeyState.ACTIVE): offline.KeyRecord {
  const purpose = offline.PURPOSES.get(vectorNamed(id).group.payload_type) ?? KeyPurpose.UNSPECIFIED;
  return { publicKey: signerOf(id).publicKey, purpose, state };
}

/** The keys that signed these statements of the vectors. */
export function keySetOf(...ids: readonly string[]): offline.KeySet {
  return offline.keySetOf(ISSUER, ...ids.map((id) => recordOf(id)));
}

function vectorNamed(id: string): (typeof FOUND)[number] {
  const found = FOUND.find(({ vector }) => vector.id === id && vector.result === "valid");
  assert.ok(found, `the vectors have no statement ${id}`);
  return found;
}
