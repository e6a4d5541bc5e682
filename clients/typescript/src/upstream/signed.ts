/** Reads a signed envelope, from text or from what a JSON parser made of it, without believing it. */

import { fromBase64, toBase64Url } from "../offline/bytes.js";
import { canonicalize } from "../offline/canonical-json.js";
import { JsonError } from "../offline/errors.js";
import { type JsonValue, parse } from "../offline/json-reader.js";
import { SIGNATURE_BYTES } from "../offline/keys.js";
import { type Fields, isObject, note, refuseUnknown, text, token } from "./fields.js";
import { readActionEnvelope } from "./structure.js";
import { type ActionEnvelope, type ActionEnvelopeRefused, refused } from "./values.js";

/** The only one that signs envelopes. */
export const ALGORITHM = "Ed25519";

const WRAPPER_FIELDS: ReadonlySet<string> = new Set(["algorithm", "envelope", "keyId", "signature"]);
const ALGORITHM_LENGTH = 16;
const SIGNATURE_LENGTH = 128;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** An envelope and who is said to have signed it; the signature is not verified yet. */
export interface ReadEnvelope {
  readonly ok: true;
  readonly envelope: ActionEnvelope;
  /**
   * The RFC 8785 form of the envelope as it was received: what is signed. Undefined when it has none: half a surrogate
   * pair stands in it, or a member that is undefined; what `readSignedEnvelopeJson` reads always has one.
   */
  readonly canonical: Uint8Array | undefined;
  readonly keyId: string;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

/**
 * As `readSignedEnvelope`, from JSON text. Text that has no single reading, for one because a key stands in it twice,
 * is `malformed_signed_envelope`, too; so is what is no text of UTF-8, and what breaks the authority's own rule for
 * JSON.
 */
export function readSignedEnvelopeJson(data: Uint8Array): ReadEnvelope | ActionEnvelopeRefused {
  let value: JsonValue;
  try {
    value = parse(data);
  } catch (error) {
    if (error instanceof JsonError) return refused("malformed_signed_envelope");
    throw error;
  }
  return readSignedEnvelope(value);
}

/**
 * The signed envelope, or `malformed_signed_envelope` or `invalid_envelope` with every issue of it. Nothing says yet
 * that the named key signed anything.
 */
export function readSignedEnvelope(value: unknown): ReadEnvelope | ActionEnvelopeRefused {
  if (!isObject(value)) return refused("malformed_signed_envelope");
  const fields: Fields = { members: value, path: "$", issues: [] };
  refuseUnknown(fields, WRAPPER_FIELDS);
  const algorithm = text(fields, "algorithm", { longest: ALGORITHM_LENGTH });
  const keyId = token(fields, "keyId");
  const written = text(fields, "signature", { longest: SIGNATURE_LENGTH });
  if (algorithm !== undefined && algorithm !== ALGORITHM) note(fields, "algorithm", "unsupported_value");
  const signature = written === undefined ? undefined : signatureOf(written);
  if (written !== undefined && signature === undefined) note(fields, "signature", "invalid_format");
  if (!Object.hasOwn(value, "envelope")) note(fields, "envelope", "missing");
  if (fields.issues.length > 0 || keyId === undefined || signature === undefined) {
    return refused("malformed_signed_envelope", fields.issues);
  }
  const members = value["envelope"];
  const envelope = readActionEnvelope(members);
  if (!("eventId" in envelope)) return refused("invalid_envelope", envelope);
  return { ok: true, envelope, canonical: canonicalOf(members), keyId, signature };
}

function canonicalOf(members: unknown): Uint8Array | undefined {
  try {
    return canonicalize(members);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** The 64 bytes, of which exactly one text is accepted. */
function signatureOf(written: string): Uint8Array | undefined {
  if (!BASE64URL.test(written)) return undefined;
  const signature = fromBase64(written);
  return signature.length === SIGNATURE_BYTES && toBase64Url(signature) === written ? signature : undefined;
}
