/**
 * Verifying a whole chain of grants without a server (semantics §6).
 *
 *     const chain = verifyGrantChain([root, child], keySet, {
 *       nowMs,
 *       use: { action: "memory.propose", audience: "memory.example" },
 *       revocations: feed.view({ nowMs, maximumAgeMs: 60_000 }),
 *     });
 *
 * Whoever verifies has the chain, the key set of the issuer that it pins, and, where a withdrawal has to end a grant
 * within seconds, the feed of revocations. That the presenter has the credential which the last block binds is asked
 * over the verifier's own channel: `GrantChain.holderKey` names it.
 */

import { type Grant, GrantSchema, type SignedStatement } from "../proto/capability_authority/v1/statements_pb.js";
import { referenceOf } from "./claims.js";
import { toWire } from "./digests.js";
import { AMOUNTS, dimensionOf, FLAGS } from "./dimensions.js";
import {
  GrantExceeded,
  GrantExpired,
  GrantMalformed,
  GrantNotYetValid,
  KeyRefused,
  SignatureInvalid,
} from "./errors.js";
import { instantMs } from "./instants.js";
import type { Reference } from "./invocation.js";
import type { KeySet } from "./key-set.js";
import { type PublicKey, publicKeyOf } from "./keys.js";
import { MAX_DEPTH_OF_DELEGATION, requireNarrower, requireShape } from "./narrowing.js";
import type { RevocationView } from "./revocations.js";
import { selects } from "./selectors.js";
import { digestOf, openStatement, readPayload } from "./statements.js";
import { verifyAs } from "./verification.js";

/** Of the payloads of a chain, together (semantics §10). */
export const MAX_CHAIN_BYTES = 32 * 1024;
/** How far the verifier's clock may be behind; there is no such grace for expiry (semantics §3). */
export const NOT_BEFORE_SKEW_MS = 30_000;

/**
 * What one use needs. What is absent, 0 or false needs nothing of that dimension, which is then not asked of the grant.
 */
export interface GrantUse {
  readonly action: string;
  readonly audience: string;
  readonly resource?: string | undefined;
  readonly readMemoryNamespace?: string | undefined;
  readonly writeMemoryNamespace?: string | undefined;
  readonly tool?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly usdMicros?: bigint | number | undefined;
  readonly tokens?: bigint | number | undefined;
  readonly latencyMs?: bigint | number | undefined;
  readonly concurrency?: bigint | number | undefined;
  /** 1 when absent: a grant with no uses allows nothing at all. What was spent before is not known offline. */
  readonly uses?: bigint | number | undefined;
  readonly network?: boolean | undefined;
  readonly destructive?: boolean | undefined;
}

/** A chain that holds: root first, the presented grant last. */
export interface GrantChain {
  readonly blocks: readonly Grant[];
  /** Statement digests, which name the blocks: 32 bytes each. */
  readonly digests: readonly Uint8Array[];
  /** The grant that was presented. */
  readonly presented: Grant;
  /** Whose rights are used; whether it has them is asked elsewhere. */
  readonly subject: Reference;
  /** Who acts for the subject: every holder, root first, whoever presents the grant last. */
  readonly actors: readonly Reference[];
  /** The id of the credential that the presenter has to prove: `sha256:…`. */
  readonly holderKey: string;
}

/** With what a chain is judged. */
export interface ChainOptions {
  /** The verifier's clock, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Every block must allow it. */
  readonly use?: GrantUse | undefined;
  /** What a feed has told (`RevocationFeed.view`): a withdrawn ancestor ends its descendants. */
  readonly revocations?: RevocationView | undefined;
}

/**
 * Verify a grant with all its ancestors, root first and the presented one last; what they say.
 *
 * Each block is verified every time: signed by a grant key of the issuer, or, where it was made offline, by the key
 * that its parent binds; no wider than its parent in any dimension; current at `nowMs`. With `revocations` no block, no
 * holder, no holder's key, nor the subject may have been withdrawn.
 *
 * What cannot be known here: what was spent of a budget, and what the subject may do by itself.
 *
 * @throws as `verifyAs`, and `GrantMalformed`, `GrantExceeded` with its `dimension`, `GrantNotYetValid`,
 * `GrantExpired`.
 */
export function verifyGrantChain(
  chain: readonly SignedStatement[],
  keySet: KeySet,
  { nowMs, use, revocations }: ChainOptions,
): GrantChain {
  requireSize(chain);
  const blocks: Grant[] = [];
  const digests: Uint8Array[] = [];
  for (const statement of chain) {
    const parent = blocks.at(-1);
    const block = open(statement, keySet, parent, revocations);
    const digest = digestOf(statement);
    requireShape(block);
    if (parent === undefined) requireRoot(block);
    else requireNarrower(parent, digests.at(-1) ?? new Uint8Array(), block);
    revocations?.requireStanding(block, digest);
    blocks.push(block);
    digests.push(digest);
  }
  for (const block of blocks) {
    requireCurrent(block, nowMs);
    if (use !== undefined) requireAllowed(block, use);
  }
  return chainOf(blocks, digests);
}

function chainOf(blocks: readonly Grant[], digests: readonly Uint8Array[]): GrantChain {
  const presented = blocks[blocks.length - 1] as Grant;
  const holder = referenceOf(presented.holder);
  return {
    blocks,
    digests,
    presented,
    subject: referenceOf(presented.subject),
    actors: [...presented.actorChain.map(referenceOf), holder],
    holderKey: toWire(presented.holderKey),
  };
}

/** The block, once it is signed by whoever may make it. What it says before that decides only whose key is tried. */
function open(
  statement: SignedStatement,
  keySet: KeySet,
  parent: Grant | undefined,
  revocations: RevocationView | undefined,
): Grant {
  const claimed = readPayload(statement.payloadType, statement.payload, GrantSchema);
  if (parent === undefined || claimed.delegatedBy === undefined) {
    return verifyAs(statement, keySet, GrantSchema, { revocations });
  }
  const key = holderKeyOf(parent);
  const keyId = statement.signature?.keyId ?? "";
  if (keyId !== key.keyId) {
    throw new SignatureInvalid({
      expected: `a signature by ${key.keyId}, which the parent binds`,
      presented: keyId,
    });
  }
  return openStatement(statement, { expected: GrantSchema, keys: () => key });
}

function holderKeyOf(parent: Grant): PublicKey {
  try {
    return publicKeyOf(parent.holderPublicKey);
  } catch (error) {
    if (!(error instanceof KeyRefused)) throw error;
    throw new SignatureInvalid({
      expected: "a signature by the parent's holder",
      presented: `a parent bound to no key that signs: ${error.message}`,
    });
  }
}

function requireSize(chain: readonly SignedStatement[]): void {
  const longest = 1 + MAX_DEPTH_OF_DELEGATION;
  if (chain.length < 1 || chain.length > longest) {
    throw new GrantMalformed("chain", {
      expected: `1 to ${longest} grants, root first`,
      presented: `${chain.length}`,
    });
  }
  const size = chain.reduce((bytes, statement) => bytes + statement.payload.length, 0);
  if (size > MAX_CHAIN_BYTES) {
    const expected = `at most ${MAX_CHAIN_BYTES} bytes of payloads`;
    throw new GrantMalformed("chain", { expected, presented: `${size}` });
  }
}

function requireRoot(root: Grant): void {
  const said = [
    ["parent_digest", root.parentDigest.length > 0],
    ["delegated_by", root.delegatedBy !== undefined],
    ["actor_chain", root.actorChain.length > 0],
  ] as const;
  for (const [name, isSaid] of said) {
    if (isSaid) {
      const presented = `a grant with ${name}`;
      throw new GrantExceeded(name, { expected: "a root, which nothing comes before", presented });
    }
  }
}

/** Good from its beginning, with the skew that clocks have, until before its end, without. */
function requireCurrent(grant: Grant, nowMs: number): void {
  const begin = instantMs(grant.notBeforeTime);
  const end = instantMs(grant.expireTime);
  const expected = `a grant that is good at ${nowMs} ms`;
  // A clock that is no number finds every grant not valid yet.
  if (!(nowMs >= begin - NOT_BEFORE_SKEW_MS)) {
    throw new GrantNotYetValid({ expected, presented: `one from ${begin} ms on` });
  }
  if (nowMs >= end) throw new GrantExpired({ expected, presented: `one until ${end} ms` });
}

function requireAllowed(grant: Grant, use: GrantUse): void {
  for (const [field, need] of [
    ["audiences", use.audience],
    ["actions", use.action],
  ] as const) {
    if (!grant[field]?.names.includes(need)) {
      throw new GrantExceeded(field, { expected: `${field} with ${need}`, presented: "others" });
    }
  }
  const selected = [
    ["resources", use.resource],
    ["readMemoryNamespaces", use.readMemoryNamespace],
    ["writeMemoryNamespaces", use.writeMemoryNamespace],
    ["tools", use.tool],
    ["providers", use.provider],
    ["models", use.model],
  ] as const;
  for (const [field, name] of selected) {
    if (name !== undefined && !selects(grant[field]?.names ?? [], name)) {
      const dimension = dimensionOf(field);
      throw new GrantExceeded(dimension, { expected: `${dimension} that select ${name}`, presented: "others" });
    }
  }
  requireEnough(grant, use);
}

function requireEnough(grant: Grant, use: GrantUse): void {
  for (const field of AMOUNTS) {
    const need = use[field] ?? (field === "uses" ? 1 : 0);
    const most = grant[field]?.most ?? 0n;
    // Not "more than": an amount that is no number is not covered either.
    if (!(need <= most)) {
      const dimension = dimensionOf(field);
      throw new GrantExceeded(dimension, { expected: `${need} of ${dimension}`, presented: `at most ${most}` });
    }
  }
  for (const field of FLAGS) {
    if (use[field] === true && !(grant[field]?.allowed ?? false)) {
      throw new GrantExceeded(field, { expected: `${field} to be allowed`, presented: "it is not" });
    }
  }
}
