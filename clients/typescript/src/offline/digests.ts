/** Digests (semantics §3): 32 raw bytes inside signed payloads, `sha256:` and 64 lowercase hexadecimal digits elsewhere. */

import { createHash } from "node:crypto";

/** The raw SHA-256 of some bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(bytes).digest());
}
