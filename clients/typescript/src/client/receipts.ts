/** Believes a receipt only when it verifies and is the one that was asked for. */

import { OfflineError, toWire, verifyReceipt } from "../offline/index.js";
import type { CommitReceipt, SignedStatement } from "../proto/capability_authority/v1/statements_pb.js";
import type { CallOptions } from "./call-options.js";
import { ReceiptRejected } from "./errors.js";
import { AuthorityError, type Failure } from "./failures.js";
import type { KeySets } from "./key-sets.js";

/** What of a receipt can be expected, by name. */
const TERMS = {
  receipt_id: (receipt: CommitReceipt) => receipt.receiptId,
  record_id: (receipt: CommitReceipt) => receipt.recordId,
  commit_idempotency_key: (receipt: CommitReceipt) => receipt.capability?.commitIdempotencyKey ?? "",
  tenant: (receipt: CommitReceipt) => nameOfTenant(receipt.capability?.tenant ?? { namespace: "", id: "" }),
  request_fingerprint: (receipt: CommitReceipt) => toWire(receipt.requestFingerprint),
};

/** What a receipt must say, by name; what is not given is not asked. */
export type ExpectedTerms = Partial<Readonly<Record<keyof typeof TERMS, string>>>;

/** A tenant in one text; no two tenants have the same. */
export function nameOfTenant({ namespace, id }: { readonly namespace: string; readonly id: string }): string {
  return JSON.stringify([namespace, id]);
}

/** A receipt as it came, and what is known of it. */
export interface ReceiptClaim {
  readonly statement: SignedStatement | undefined;
  readonly attestation: SignedStatement | undefined;
  /** It must be for exactly these bytes, when given. */
  readonly content: Uint8Array | undefined;
  readonly expected: ExpectedTerms;
  /** When it came, by the clock of the key sets; just now unless given. */
  readonly arrived?: number | undefined;
}

/**
 * What the receipt says, once it verifies and has the `expected` terms and, when given, content.
 *
 * @throws {ReceiptRejected}, which tells of the call what `failure` tells; also when the keys cannot be fetched, for
 *   the call has succeeded then, but nothing proves it yet.
 */
export async function believed(
  keySets: KeySets,
  failure: Failure,
  claim: ReceiptClaim,
  options: CallOptions,
): Promise<CommitReceipt> {
  const { statement, attestation, content, expected, arrived } = claim;
  const refuse = (sentence: string, cause?: unknown): never => {
    throw new ReceiptRejected({ ...failure, sentence }, { statement, cause });
  };
  if (statement === undefined) {
    return refuse("the answer brings no receipt");
  }
  const receipt = await keySets
    .verified((keySet) => verifyReceipt(statement, keySet, { attestation, content }), options, arrived)
    .catch((error: unknown) => {
      if (error instanceof OfflineError || error instanceof AuthorityError) {
        return refuse(`the receipt is not believed: ${error.message}`, error);
      }
      throw error;
    });
  for (const term of Object.keys(expected) as (keyof typeof TERMS)[]) {
    const presented = TERMS[term](receipt);
    if (presented !== expected[term]) {
      return refuse(`the receipt is another one: ${term}: expected ${expected[term]}, presented ${presented}`);
    }
  }
  return receipt;
}
