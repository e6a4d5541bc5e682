/** Signed envelopes for commits that the authority allows, as a caller of upstream makes them. */

import { randomUUID } from "node:crypto";

import type { CapabilityAuthority, IssuedCapability } from "../../../src/index.js";
import { canonicalize, type PrivateKey } from "../../../src/offline/index.js";
import { commitActionEnvelope } from "../../../src/upstream/index.js";

export type Envelope = Readonly<Record<string, unknown>>;

/** The envelope that asks for exactly the commit which a capability allows, but for what is given. */
export function envelopeFor({ terms }: IssuedCapability, given: Envelope = {}): Envelope {
  const subject = { namespace: "workload", id: "nightly" };
  return { ...commitActionEnvelope(terms, { eventId: randomUUID(), subject, occurredMs: Date.now() }), ...given };
}

/** The envelope in its wrapper, signed by this client's key unless by another. */
export function signedBy(client: CapabilityAuthority, envelope: Envelope, keyId?: string): Envelope {
  const { privateKey } = client.credentials;
  if (privateKey === undefined) {
    throw new Error("these credentials sign nothing");
  }
  return signedWith(privateKey, envelope, keyId);
}

/** The envelope in its wrapper, signed by this key, whatever it says. */
export function signedWith(privateKey: PrivateKey, envelope: Envelope, keyId = privateKey.publicKey.keyId): Envelope {
  const signature = Buffer.from(privateKey.sign(canonicalize(envelope))).toString("base64url");
  return { envelope, algorithm: "Ed25519", keyId, signature };
}
