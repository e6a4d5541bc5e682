/** The frozen vectors of this project, which every implementation has to meet (`tests/vectors/golden/`). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { create, equals, fromJson, type DescMessage, type JsonValue, type Message } from "@bufbuild/protobuf";

import * as offline from "../src/offline/index.js";
import {
  CommitCapabilitySchema,
  CommitReceiptSchema,
  InvocationSchema,
  SignatureSchema,
  SignedStatementSchema,
  type SignedStatement,
} from "../src/proto/capability_authority/v1/statements_pb.js";
import { hex, toHex, vectorFile } from "./support/vectors.js";

interface StatementVector {
  readonly id: string;
  readonly payload_type: string;
  readonly message: JsonValue;
  readonly payload_hex: string;
  readonly statement_digest: string;
  readonly key?: string;
  readonly signature_hex?: string;
  readonly statement_hex?: string;
  readonly dsse_json?: string;
}

interface RefusedVector {
  readonly id: string;
  readonly payload_type: string;
  readonly payload_hex: string;
  readonly key: string;
  readonly signature_hex: string;
  readonly problem: string;
}

interface Statements {
  readonly content_utf8: string;
  readonly request_hex: string;
  readonly keys: Readonly<Record<string, { readonly seed_hex: string; readonly public_key_hex: string; readonly key_id: string }>>;
  readonly statements: readonly StatementVector[];
  readonly refused: readonly RefusedVector[];
}

interface Fingerprints {
  readonly terms: FingerprintTerms;
  readonly vectors: readonly { readonly id: string; readonly terms: Partial<FingerprintTerms>; readonly fingerprint: string }[];
}

interface FingerprintTerms {
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

const STATEMENTS = vectorFile("tests/vectors/golden/statements.json") as Statements;
const FINGERPRINTS = vectorFile("tests/vectors/golden/fingerprints.json") as Fingerprints;

function keyOf(name: string | undefined): offline.PrivateKey {
  const seed = STATEMENTS.keys[name ?? ""]?.seed_hex;
  assert.ok(seed, `the vectors have no key ${name}`);
  return offline.privateKeyFromSeed(hex(seed));
}

function schemaOf(payloadType: string): DescMessage {
  const schema = offline.PAYLOAD_SCHEMAS.get(payloadType);
  assert.ok(schema, payloadType);
  return schema;
}

function messageOf(vector: StatementVector): Message {
  return fromJson(schemaOf(vector.payload_type), vector.message);
}

function statementOf(vector: RefusedVector): SignedStatement {
  const signature = create(SignatureSchema, {
    keyId: keyOf(vector.key).publicKey.keyId,
    signature: hex(vector.signature_hex),
  });
  return create(SignedStatementSchema, { payloadType: vector.payload_type, payload: hex(vector.payload_hex), signature });
}

test("there is a statement of every kind", () => {
  const kinds = new Set(STATEMENTS.statements.map((vector) => vector.payload_type));
  assert.deepEqual(kinds, new Set(offline.PAYLOAD_SCHEMAS.keys()));
});

test("keys follow from their seeds", () => {
  for (const [name, vector] of Object.entries(STATEMENTS.keys)) {
    const { publicKey } = keyOf(name);
    assert.equal(toHex(publicKey.raw), vector.public_key_hex);
    assert.equal(publicKey.keyId, vector.key_id);
  }
});

for (const vector of STATEMENTS.statements) {
  test(`${vector.id} has the frozen payload and digest`, () => {
    const schema = schemaOf(vector.payload_type);
    const payload = offline.encode(schema, messageOf(vector));

    assert.equal(toHex(payload), vector.payload_hex);
    assert.equal(offline.toWire(offline.statementDigest(vector.payload_type, payload)), vector.statement_digest);
    assert.ok(equals(schema, offline.readPayload(vector.payload_type, payload, schema), messageOf(vector)));
  });

  if (vector.key !== undefined) {
    test(`${vector.id} has the frozen statement bytes`, () => {
      const statement = offline.sign(schemaOf(vector.payload_type), messageOf(vector), keyOf(vector.key));

      assert.equal(toHex(statement.signature?.signature ?? new Uint8Array()), vector.signature_hex);
      assert.equal(toHex(offline.serializeStatement(statement)), vector.statement_hex);
      assert.ok(equals(SignedStatementSchema, offline.parseStatement(hex(vector.statement_hex ?? "")), statement));
      assert.equal(offline.toDsseJson(statement), vector.dsse_json);
      assert.ok(equals(SignedStatementSchema, offline.fromDsseJson(vector.dsse_json ?? ""), statement));
    });
  }
}

for (const vector of STATEMENTS.refused) {
  test(`well signed and refused: ${vector.id}`, () => {
    const { publicKey } = keyOf(vector.key);
    const statement = statementOf(vector);
    assert.ok(publicKey.verify(hex(vector.signature_hex), offline.pae(statement.payloadType, statement.payload)));

    assert.throws(
      () => offline.openStatement(statement, { expected: schemaOf(vector.payload_type), keys: () => publicKey }),
      (error) => error instanceof offline.PayloadRefused && error.problem === vector.problem,
    );
  });
}

test("an invocation is made byte for byte", () => {
  const vector = STATEMENTS.statements.find(({ id }) => id === "invocation");
  assert.ok(vector);
  const said = fromJson(InvocationSchema, vector.message);
  assert.ok(said.tenant && said.principal);

  const proof = offline.makeInvocation({
    privateKey: keyOf(vector.key),
    tenant: said.tenant,
    principal: said.principal,
    audience: said.audience,
    method: said.method,
    requestBytes: hex(STATEMENTS.request_hex),
    nonce: said.nonce,
    issuedMs: offline.instantMs(said.issueTime),
  });

  assert.equal(toHex(proof), vector.statement_hex);
});

test("requests have the frozen fingerprints, and no two of them the same", () => {
  const found = new Set<string>();
  for (const vector of FINGERPRINTS.vectors) {
    const terms = { ...FINGERPRINTS.terms, ...vector.terms };
    const fingerprint = offline.requestFingerprint({
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
      evidenceDigests: terms.evidence_digests,
      validatorProfile: terms.validator_profile,
      validatorProfileVersion: terms.validator_profile_version,
    });
    assert.equal(offline.toWire(fingerprint), vector.fingerprint, vector.id);
    found.add(vector.fingerprint);
  }
  assert.equal(found.size, FINGERPRINTS.vectors.length);
});

test("the receipt holds the fingerprint of its own terms", () => {
  const vector = STATEMENTS.statements.find(({ id }) => id === "commit-receipt");
  assert.ok(vector);
  const receipt = fromJson(CommitReceiptSchema, vector.message);
  const terms = receipt.capability ?? create(CommitCapabilitySchema);

  const fingerprint = offline.capabilityFingerprint(terms, {
    contentDigest: offline.toWire(terms.contentDigest),
    mediaType: terms.mediaType,
    evidenceDigests: terms.evidenceDigests.map(offline.toWire),
  });

  assert.deepEqual(fingerprint, receipt.requestFingerprint);
});
