/** What a grant may say below its parent, and what it may say at all (semantics §6). */

import type { Grant } from "../proto/capability_authority/v1/statements_pb.js";
import { sameBytes } from "./bytes.js";
import { referenceOf, sameReference } from "./claims.js";
import { DIGEST_BYTES, sha256 } from "./digests.js";
import { AMOUNTS, dimensionOf, EXACT, FLAGS, type GrantField, SELECTORS } from "./dimensions.js";
import { GrantExceeded, GrantMalformed } from "./errors.js";
import { instantMs } from "./instants.js";
import type { Reference } from "./invocation.js";
import { covers, isId, isSelector } from "./selectors.js";

/** The closed vocabulary: nothing can name a policy promotion, a deployment, IAM, billing or secrets. */
export const ACTIONS: ReadonlySet<string> = new Set([
  "cognition.route",
  "cognition.critique",
  "memory.recall",
  "memory.propose",
  "evidence.read",
  "memory.commit-validated",
]);
/** Generations below a root. */
export const MAX_DEPTH_OF_DELEGATION = 8;

const MAX_NAMES = 64;
const NONCE_BYTES = 16;
const LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000;
const EARLIEST_MS = 0;

/**
 * The first dimension, in the order of the payload, in which the child is no proper child of this parent, or undefined.
 *
 * Equal is allowed, wider is not, and nothing is inherited: what is absent in a child exceeds (case I15). A dimension
 * that is absent in the parent denies, so that a child can say no more of it than nothing.
 */
function exceededDimension(parent: Grant, parentDigest: Uint8Array, child: Grant): string | undefined {
  return first(exceeded(parent, parentDigest, child));
}

/** The first field that says what no grant can say, whoever signed it, or undefined. */
function malformedField(grant: Grant): string | undefined {
  return first(malformed(grant));
}

/** @throws {GrantMalformed} for what no grant can say. */
export function requireShape(grant: Grant): void {
  const name = malformedField(grant);
  if (name !== undefined) {
    throw new GrantMalformed(name, { expected: `what a grant can say as ${name}`, presented: "something else" });
  }
}

/** @throws {GrantExceeded} for a child that is wider than this parent, or another's. */
export function requireNarrower(parent: Grant, parentDigest: Uint8Array, child: Grant): void {
  const dimension = exceededDimension(parent, parentDigest, child);
  if (dimension !== undefined) {
    throw new GrantExceeded(dimension, {
      expected: `${dimension} as the parent has it, or narrower`,
      presented: "wider, another, or absent",
    });
  }
}

function* exceeded(parent: Grant, parentDigest: Uint8Array, child: Grant): Generator<GrantField> {
  if (child.delegatedBy !== undefined && !sameReference(child.delegatedBy, parent.holder)) yield "delegatedBy";
  for (const name of ["tenant", "subject"] as const) if (!sameReference(child[name], parent[name])) yield name;
  if (!sameChain(child.actorChain, [...parent.actorChain, referenceOf(parent.holder)])) yield "actorChain";
  yield* wider(parent, child);
  if (instantMs(child.notBeforeTime) < instantMs(parent.notBeforeTime)) yield "notBeforeTime";
  if (instantMs(child.expireTime) > instantMs(parent.expireTime)) yield "expireTime";
  if (child.delegationDepth >= parent.delegationDepth) yield "delegationDepth";
  if (!sameBytes(child.policyVersion, parent.policyVersion)) yield "policyVersion";
  if (!sameBytes(child.parentDigest, parentDigest)) yield "parentDigest";
}

/** What an absent dimension of the parent holds is what denies: nobody, nothing, false. */
function* wider(parent: Grant, child: Grant): Generator<GrantField> {
  for (const name of EXACT) {
    const allowed = new Set(parent[name]?.names);
    if (!child[name]?.names.every((each) => allowed.has(each))) yield name;
  }
  for (const name of SELECTORS) {
    if (!child[name]?.names.every((each) => covers(parent[name]?.names ?? [], each))) yield name;
  }
  for (const name of AMOUNTS) {
    const most = child[name]?.most;
    if (most === undefined || most > (parent[name]?.most ?? 0n)) yield name;
  }
  for (const name of FLAGS) {
    const allowed = child[name]?.allowed;
    if (allowed === undefined || (allowed && !(parent[name]?.allowed ?? false))) yield name;
  }
}

function* malformed(grant: Grant): Generator<GrantField> {
  const hasIssuer = grant.issuer !== "";
  if ((grant.delegatedBy !== undefined) === hasIssuer || (hasIssuer && !isId(grant.issuer))) yield "issuer";
  if (grant.delegatedBy !== undefined && !isReference(grant.delegatedBy)) yield "delegatedBy";
  for (const name of ["tenant", "subject", "holder"] as const) if (!isReference(grant[name])) yield name;
  if (grant.actorChain.length > MAX_DEPTH_OF_DELEGATION || !grant.actorChain.every(isReference)) yield "actorChain";
  yield* malformedDimensions(grant);
  yield* malformedBytes(grant);
  yield* malformedTimes(grant);
  if (grant.delegationDepth > MAX_DEPTH_OF_DELEGATION) yield "delegationDepth";
  if (grant.correlationId !== "" && !isId(grant.correlationId)) yield "correlationId";
}

function* malformedDimensions(grant: Grant): Generator<GrantField> {
  if (!areNames(grant.audiences?.names, isId)) yield "audiences";
  if (!areNames(grant.actions?.names, (name) => ACTIONS.has(name))) yield "actions";
  for (const name of SELECTORS) if (!areNames(grant[name]?.names, isSelector)) yield name;
  for (const name of AMOUNTS) if ((grant[name]?.most ?? 0n) < 0n) yield name;
}

function* malformedBytes(grant: Grant): Generator<GrantField> {
  for (const name of ["holderKey", "policyVersion"] as const) if (grant[name].length !== DIGEST_BYTES) yield name;
  if (grant.parentDigest.length !== 0 && grant.parentDigest.length !== DIGEST_BYTES) yield "parentDigest";
  if (grant.nonce.length !== NONCE_BYTES) yield "nonce";
  const key = grant.holderPublicKey;
  if (key.length > 0 && !sameBytes(sha256(key), grant.holderKey)) yield "holderPublicKey";
}

function* malformedTimes(grant: Grant): Generator<GrantField> {
  for (const name of ["notBeforeTime", "expireTime"] as const) {
    if (grant[name] === undefined || instantMs(grant[name]) < EARLIEST_MS) yield name;
  }
  const lifetimeMs = instantMs(grant.expireTime) - instantMs(grant.notBeforeTime);
  if (lifetimeMs <= 0 || lifetimeMs > LIFETIME_MS) yield "expireTime";
}

function areNames(names: readonly string[] = [], isOne: (name: string) => boolean): boolean {
  return names.length <= MAX_NAMES && new Set(names).size === names.length && names.every(isOne);
}

function isReference(reference: Reference | undefined): boolean {
  return reference !== undefined && isId(reference.namespace) && isId(reference.id);
}

function sameChain(one: readonly Reference[], other: readonly Reference[]): boolean {
  return one.length === other.length && one.every((each, index) => sameReference(each, other[index]));
}

function first(fields: Generator<GrantField>): string | undefined {
  const found = fields.next();
  return found.done === true ? undefined : dimensionOf(found.value);
}
