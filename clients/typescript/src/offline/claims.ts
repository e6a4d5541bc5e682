/** Of what a payload says, the part that decides which keys may sign it. */

import { type Message, isMessage } from "@bufbuild/protobuf";

import {
  CommitCapabilitySchema,
  CommitReceiptSchema,
  DecisionReceiptSchema,
  EvidenceClaimSchema,
  GrantSchema,
  InvocationSchema,
  KeyAttestationSchema,
  RevocationHeartbeatSchema,
  RevocationSchema,
  ValidationReceiptSchema,
} from "../proto/capability_authority/v1/statements_pb.js";
import type { Reference } from "./invocation.js";

/** Whom a payload speaks for, and of: what a key and its scope are held against. */
export interface Claims {
  /** Undefined for what a holder signs, who speaks for itself. */
  readonly issuer: string | undefined;
  readonly tenant: Reference;
  /** Undefined for a payload that names none. */
  readonly memoryNamespace: string | undefined;
}

/** A tenant or principal that is absent reads as one without a name, as everywhere in protobuf. */
export function referenceOf(reference: Reference | undefined): Reference {
  return { namespace: reference?.namespace ?? "", id: reference?.id ?? "" };
}

/** Whether two references name the same; an absent one names the same as an empty one. */
export function sameReference(one: Reference | undefined, other: Reference | undefined): boolean {
  const [left, right] = [referenceOf(one), referenceOf(other)];
  return left.namespace === right.namespace && left.id === right.id;
}

/**
 * What a signed payload claims.
 *
 * @throws {TypeError} for a message that is never signed.
 */
export function claimsOf(message: Message): Claims {
  if (isMessage(message, CommitReceiptSchema)) {
    const tenant = referenceOf(message.capability?.tenant);
    return { issuer: message.issuer, tenant, memoryNamespace: message.capability?.memoryNamespace ?? "" };
  }
  if (
    isMessage(message, CommitCapabilitySchema) ||
    isMessage(message, ValidationReceiptSchema) ||
    isMessage(message, DecisionReceiptSchema)
  ) {
    return {
      issuer: message.issuer,
      tenant: referenceOf(message.tenant),
      memoryNamespace: message.memoryNamespace,
    };
  }
  if (isMessage(message, GrantSchema)) {
    // It can name several memory namespaces: a key that is good for one of them signs none.
    return { issuer: message.issuer, tenant: referenceOf(message.tenant), memoryNamespace: "" };
  }
  if (
    isMessage(message, KeyAttestationSchema) ||
    isMessage(message, RevocationSchema) ||
    isMessage(message, RevocationHeartbeatSchema)
  ) {
    return { issuer: message.issuer, tenant: referenceOf(message.tenant), memoryNamespace: undefined };
  }
  if (isMessage(message, InvocationSchema) || isMessage(message, EvidenceClaimSchema)) {
    return { issuer: undefined, tenant: referenceOf(message.tenant), memoryNamespace: undefined };
  }
  throw new TypeError(`${message.$typeName} is never signed`);
}
