/** Makes and signs envelopes, for callers. */

import { toBase64Url } from "../offline/bytes.js";
import { canonicalize } from "../offline/canonical-json.js";
import { InstantError, OfflineError } from "../offline/errors.js";
import { FIRST_INSTANT_MS, LAST_INSTANT_MS } from "../offline/instants.js";
import type { PrivateKey } from "../offline/keys.js";
import { ALGORITHM } from "./signed.js";
import { readActionEnvelope } from "./structure.js";
import type { ActionEnvelope, Issue, SignedActionEnvelope } from "./values.js";

/** An envelope that no verifier would take: everything that is wrong with its structure. */
export class ActionEnvelopeInvalid extends OfflineError {
  constructor(readonly issues: readonly Issue[]) {
    super(`the envelope is invalid: ${issues.map(({ path, code }) => `${path} ${code}`).join(", ")}`);
  }
}

/**
 * The signed envelope; equal arguments give equal ones. Send it as JSON in any form: what is signed is the canonical
 * form of the envelope. `keyId` is an alias under which the key is registered; its thumbprint unless told otherwise.
 *
 * @throws {ActionEnvelopeInvalid} for an envelope of another structure.
 * @throws {JsonError} for half a surrogate pair.
 */
export function signActionEnvelope(
  envelope: ActionEnvelope,
  privateKey: PrivateKey,
  { keyId = privateKey.publicKey.keyId }: { readonly keyId?: string } = {},
): SignedActionEnvelope {
  const read = readActionEnvelope(envelope);
  if (!("eventId" in read)) throw new ActionEnvelopeInvalid(read);
  const signature = toBase64Url(privateKey.sign(canonicalize(read)));
  return { envelope: read, algorithm: ALGORITHM, keyId, signature };
}

/**
 * An instant, in milliseconds since 1970, as envelopes write it.
 *
 * @throws {InstantError} outside the years 1 to 9999, and for a part of a millisecond.
 */
export function actionTime(ms: number): string {
  if (!Number.isInteger(ms) || ms < FIRST_INSTANT_MS || ms > LAST_INSTANT_MS) {
    throw new InstantError("a time has whole milliseconds and lies between the years 1 and 9999");
  }
  return new Date(ms).toISOString();
}
