/**
 * Signed statements: exact payload bytes and one Ed25519 signature over their DSSE encoding (semantics §3).
 *
 * What is signed is what is kept and what is read: bytes, never a message that was parsed and written again.
 */

import { create, type DescMessage, equals, type MessageShape, toBinary } from "@bufbuild/protobuf";

import {
  SignatureSchema,
  type SignedStatement,
  SignedStatementSchema,
} from "../proto/capability_authority/v1/statements_pb.js";
import { joinBytes, utf8 } from "./bytes.js";
import { sha256 } from "./digests.js";
import { EnvelopeRefused, KeyUnknown, PayloadRefused, PayloadTypeMismatch, SignatureInvalid } from "./errors.js";
import type { PrivateKey, PublicKey } from "./keys.js";
import { payloadTypeOf, SIGNED_PAYLOAD_TYPES } from "./payload-types.js";
import { readExactly } from "./reading.js";

/** Answers for a key id with the key of that id, or undefined. */
export type KeyLookup = (keyId: string) => PublicKey | undefined;

/**
 * The DSSE v1 pre-authentication encoding: what is signed and digested. Both parts are preceded by their length in
 * bytes, so no byte can be moved from one to the other (case D11).
 */
export function pae(payloadType: string, payload: Uint8Array): Uint8Array {
  const type = utf8(payloadType);
  return joinBytes([utf8(`DSSEv1 ${type.length} `), type, utf8(` ${payload.length} `), payload]);
}

/**
 * The digest that names a statement, 32 bytes: SHA-256 of its pre-authentication encoding. It does not cover the
 * signature: whoever could make a second signature valid would still not have a second statement (case E02).
 */
export function statementDigest(payloadType: string, payload: Uint8Array): Uint8Array {
  return sha256(pae(payloadType, payload));
}

/** `statementDigest` of a statement that need not be verified yet: 32 bytes. */
export function digestOf(statement: SignedStatement): Uint8Array {
  return statementDigest(statement.payloadType, statement.payload);
}

/**
 * The payload bytes of a payload message: its deterministic encoding.
 *
 * @throws {PayloadRefused} for a message that nobody could read back (unknown fields or enum values, instants out of
 * range, text with lone surrogates).
 * @throws {TypeError} for anything but a payload message.
 */
export function encode<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): Uint8Array {
  const payloadType = payloadTypeOf(schema);
  const payload = toBinary(schema, message);
  // Writing replaces lone surrogates without a word, so that something else would be said than was given.
  if (!equals(schema, readPayload(payloadType, payload, schema), message)) throw new PayloadRefused("not_parsable");
  return payload;
}

/**
 * A new statement that says `message`.
 *
 * @throws as `encode`, and `TypeError` for a proposal revision.
 */
export function sign<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  privateKey: PrivateKey,
): SignedStatement {
  const payloadType = payloadTypeOf(schema);
  if (!SIGNED_PAYLOAD_TYPES.has(payloadType)) {
    throw new TypeError(`${schema.name} is named by its digest and never signed`);
  }
  const payload = encode(schema, message);
  const signature = create(SignatureSchema, {
    keyId: privateKey.publicKey.keyId,
    signature: privateKey.sign(pae(payloadType, payload)),
  });
  return create(SignedStatementSchema, { payloadType, payload, signature });
}

/** The bytes of a statement, as they stand in a file or in request metadata. */
export function serializeStatement(statement: SignedStatement): Uint8Array {
  return toBinary(SignedStatementSchema, statement);
}

/**
 * Read the bytes of a statement, as found in a file or in request metadata; nothing is verified.
 *
 * @throws {EnvelopeRefused} unless `data` is exactly one statement, deterministically encoded and without unknown
 * fields.
 */
export function parseStatement(data: Uint8Array): SignedStatement {
  return readExactly(data, SignedStatementSchema, EnvelopeRefused);
}

/**
 * The payload message, read by the reading rule. Verify first: reading proves nothing about who wrote it.
 *
 * @throws {PayloadTypeMismatch} unless the payload type is the one of `expected`.
 * @throws {PayloadRefused} unless the bytes have exactly one reading (cases D13, E11, I14). What the fields mean is not
 * judged.
 */
export function readPayload<Desc extends DescMessage>(
  payloadType: string,
  payload: Uint8Array,
  expected: Desc,
): MessageShape<Desc> {
  requireType(payloadType, expected);
  return readExactly(payload, expected);
}

/**
 * Verify a statement, then read the very bytes that were verified.
 *
 * The key alone decides how it is verified: no field of a statement names an algorithm (case E06). Whether the key may
 * sign such a statement is not judged here; `verifyAs` does.
 *
 * @throws in this order: `PayloadTypeMismatch`; `EnvelopeRefused` for unknown fields around the payload; `KeyUnknown`
 * when `keys` has no key of exactly the id named; `SignatureInvalid`; `PayloadRefused`.
 */
export function openStatement<Desc extends DescMessage>(
  statement: SignedStatement,
  { expected, keys }: { readonly expected: Desc; readonly keys: KeyLookup },
): MessageShape<Desc> {
  requireType(statement.payloadType, expected);
  const { keyId = "", signature = new Uint8Array() } = statement.signature ?? {};
  if (statement.$unknown?.length || statement.signature?.$unknown?.length) throw new EnvelopeRefused("unknown_field");
  const publicKey = keys(keyId);
  if (publicKey === undefined || publicKey.keyId !== keyId) {
    throw new KeyUnknown({ expected: "the id of a known key", presented: keyId });
  }
  if (!publicKey.verify(signature, pae(statement.payloadType, statement.payload))) {
    throw new SignatureInvalid({
      expected: `a signature over this payload by ${publicKey.keyId}`,
      presented: `${signature.length} bytes that do not verify`,
    });
  }
  return readExactly(statement.payload, expected);
}

function requireType(payloadType: string, expected: DescMessage): void {
  const wanted = payloadTypeOf(expected);
  if (payloadType !== wanted) throw new PayloadTypeMismatch({ expected: wanted, presented: payloadType });
}
