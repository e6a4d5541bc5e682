/**
 * Digests (semantics §3): 32 raw bytes inside signed payloads, `sha256:` and 64 lowercase hexadecimal digits elsewhere.
 */

import { createHash } from "node:crypto";

import { fromHex, toHex } from "./bytes.js";
import { DigestError } from "./errors.js";

/** How many bytes a raw digest has. */
export const DIGEST_BYTES = 32;

const PREFIX = "sha256:";
const WIRE_FORM = /^sha256:[0-9a-f]{64}$/;

/** The raw SHA-256 of some bytes: 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(bytes).digest());
}

/**
 * The wire form of a digest: "sha256:" and 64 lowercase hexadecimal digits.
 *
 * @throws {DigestError} when `digest` is not 32 bytes.
 */
export function toWire(digest: Uint8Array): string {
  if (digest.length !== DIGEST_BYTES) {
    throw new DigestError(`a digest has ${DIGEST_BYTES} bytes, not ${digest.length}`);
  }
  return PREFIX + toHex(digest);
}

/**
 * The 32 raw bytes of a digest in its wire form. Nothing is trimmed or folded (semantics §2: a full match).
 *
 * @throws {DigestError} for uppercase, surrounding whitespace, a trailing newline or another length.
 */
export function fromWire(text: string): Uint8Array {
  if (!WIRE_FORM.test(text)) {
    throw new DigestError('a digest is written "sha256:" and 64 lowercase hexadecimal digits');
  }
  return fromHex(text.slice(PREFIX.length));
}
