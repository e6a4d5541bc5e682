/** Statements as DSSE JSON envelopes (DSSE v1, envelope.md), for tools that know DSSE but not this project. */

import { create } from "@bufbuild/protobuf";

import {
  SignatureSchema,
  type SignedStatement,
  SignedStatementSchema,
} from "../proto/capability_authority/v1/statements_pb.js";
import { fromBase64, fromUtf8, isWellFormed, toBase64, utf8 } from "./bytes.js";
import { canonicalize } from "./canonical-json.js";
import { EnvelopeRefused, JsonError } from "./errors.js";
import { type JsonValue, parse } from "./json-reader.js";

const PROBLEM = "not_dsse_json";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The DSSE JSON envelope of a statement, in canonical JSON; nothing is verified. */
export function toDsseJson(statement: SignedStatement): string {
  const { keyId = "", signature = new Uint8Array() } = statement.signature ?? {};
  const envelope = {
    payloadType: statement.payloadType,
    payload: toBase64(statement.payload),
    signatures: [{ keyid: keyId, sig: toBase64(signature) }],
  };
  return fromUtf8(canonicalize(envelope)) ?? "";
}

/**
 * The statement in a DSSE JSON envelope; nothing is verified. As DSSE asks, base64 may be standard or URL-safe, and
 * members it does not define are ignored.
 *
 * @throws {EnvelopeRefused} for anything but an envelope with exactly one signature that names its key.
 */
export function fromDsseJson(text: string | Uint8Array): SignedStatement {
  if (typeof text === "string" && !isWellFormed(text)) throw new EnvelopeRefused(PROBLEM);
  const envelope = document(typeof text === "string" ? utf8(text) : text);
  const signature = onlyItem(member(envelope, "signatures"));
  return create(SignedStatementSchema, {
    payloadType: textMember(envelope, "payloadType"),
    payload: bytesMember(envelope, "payload"),
    signature: create(SignatureSchema, {
      keyId: textMember(signature, "keyid"),
      signature: bytesMember(signature, "sig"),
    }),
  });
}

function document(data: Uint8Array): JsonValue {
  try {
    return parse(data);
  } catch (error) {
    throw error instanceof JsonError ? new EnvelopeRefused(PROBLEM) : error;
  }
}

function member(value: JsonValue, name: string): JsonValue {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name))
    throw new EnvelopeRefused(PROBLEM, name);
  return (value as { readonly [name: string]: JsonValue })[name] ?? null;
}

function onlyItem(value: JsonValue): JsonValue {
  const [item, ...others] = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  if (item === undefined || others.length > 0) throw new EnvelopeRefused(PROBLEM, "signatures");
  return item;
}

function textMember(value: JsonValue, name: string): string {
  const text = member(value, name);
  if (typeof text !== "string") throw new EnvelopeRefused(PROBLEM, name);
  return text;
}

function bytesMember(value: JsonValue, name: string): Uint8Array {
  const text = textMember(value, name).replaceAll("-", "+").replaceAll("_", "/");
  if (!BASE64.test(text)) throw new EnvelopeRefused(PROBLEM, name);
  return fromBase64(text);
}
