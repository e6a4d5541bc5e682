/**
 * What was withdrawn, as far as the feed of a tenant has told: for those who verify without asking (semantics §3).
 *
 * A feed alone is no proof of absence. What makes it one is that every item names the one before it, and that a signed
 * heartbeat says how far the feed went at a time: so nothing can be left out, and whoever verifies says how old the
 * last heartbeat may be.
 */

import { isMessage, type Message } from "@bufbuild/protobuf";

import {
  CommitCapabilitySchema,
  CommitReceiptSchema,
  DecisionReceiptSchema,
  GrantSchema,
  ProposalRevisionSchema,
  type Revocation,
  type RevocationHeartbeat,
  RevocationHeartbeatSchema,
  RevocationSchema,
  RevokedKind,
  type SignedStatement,
} from "../proto/capability_authority/v1/statements_pb.js";
import { claimsOf, referenceOf, sameReference } from "./claims.js";
import { toWire } from "./digests.js";
import { FeedBroken, FeedStale, Withdrawn } from "./errors.js";
import { instantMs } from "./instants.js";
import type { Reference } from "./invocation.js";
import type { KeySet } from "./key-set.js";
import { verifyAs } from "./verification.js";

/** What may be believed of a feed at one moment: make one for each verification. */
export interface RevocationView {
  /** Whether a key of the authority was withdrawn. */
  revokesKey(keyId: string): boolean;
  /**
   * `digest` is the statement digest, by which a grant is withdrawn. Nothing is known to withdraw of other payloads
   * than capabilities, decisions, receipts and grants.
   *
   * @throws {Withdrawn} when something that the payload rests on was withdrawn.
   * @throws {FeedBroken} for a payload of another tenant.
   */
  requireStanding(message: Message, digest?: Uint8Array): void;
}

/** How old what is believed may be. */
export interface Freshness {
  /** The caller's clock, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly maximumAgeMs: number;
}

/**
 * Takes in what the feed of one tenant tells, refuses whatever does not verify or follow, and answers what was
 * withdrawn.
 *
 *     const feed = new RevocationFeed(tenant);
 *     for (const statement of response.revocations) feed.take(statement, keySet);
 *     feed.hear(response.heartbeat, keySet);
 *     verifyReceipt(receipt, keySet, { revocations: feed.view({ nowMs, maximumAgeMs: 60_000 }) });
 *
 * A feed that was refused something stays as it was: get what is missing from `cursor` on.
 */
export class RevocationFeed {
  readonly #tenant: Reference;
  readonly #revoked = new Map<string, Revocation>();
  #sequence = 0n;
  #asOfMs: number | undefined;

  constructor(tenant: Reference) {
    this.#tenant = referenceOf(tenant);
  }

  /** The sequence of the last item that was taken in: what a watch goes on after. 0 before the first. */
  get cursor(): bigint {
    return this.#sequence;
  }

  /** Every withdrawal that was acknowledged before, in milliseconds since 1970, is in here. Undefined: not known. */
  get asOfMs(): number | undefined {
    return this.#asOfMs;
  }

  /**
   * Take in the next item; what it says.
   *
   * @throws as `verifyAs`, and `FeedBroken` for one that does not follow the last: something was left out, told twice
   * or out of order, or it is of another tenant's feed.
   */
  take(statement: SignedStatement, keySet: KeySet): Revocation {
    const item = verifyAs(statement, keySet, RevocationSchema);
    this.#requireTenant(referenceOf(item.tenant));
    if (item.previousSequence !== this.#sequence || item.sequence <= this.#sequence) {
      throw new FeedBroken({
        expected: `the item after ${this.#sequence}`,
        presented: `item ${item.sequence}, which follows ${item.previousSequence}`,
      });
    }
    this.#revoked.set(named(item.kind, item.subject), item);
    this.#sequence = item.sequence;
    return item;
  }

  /**
   * Take in a heartbeat; what it says. One that is older than another that was heard changes nothing: replicas' clocks
   * differ.
   *
   * @throws as `verifyAs`, and `FeedBroken` when the feed goes further than what was told here: something was left out;
   * or not as far: the authority was put back to an earlier moment, and its feed begins anew.
   */
  hear(statement: SignedStatement, keySet: KeySet): RevocationHeartbeat {
    const heartbeat = verifyAs(statement, keySet, RevocationHeartbeatSchema);
    this.#requireTenant(referenceOf(heartbeat.tenant));
    if (heartbeat.sequence !== this.#sequence) {
      throw new FeedBroken({
        expected: `a heartbeat at ${this.#sequence}`,
        presented: `one that says the feed goes to ${heartbeat.sequence}`,
      });
    }
    this.#asOfMs = Math.max(this.#asOfMs ?? 0, instantMs(heartbeat.asOfTime));
    return heartbeat;
  }

  /**
   * What may be believed now: give it to `verifyAs`, `verifyStatement`, `verifyReceipt` or `verifyGrantChain`.
   *
   * @throws {FeedStale} when the last heartbeat is older than `maximumAgeMs`, or when there was none: a withdrawal of
   * since then would not be known.
   */
  view({ nowMs, maximumAgeMs }: Freshness): RevocationView {
    const ageMs = this.#asOfMs === undefined ? undefined : nowMs - this.#asOfMs;
    // Not "older than": an age that is no number is no proof either.
    if (ageMs === undefined || !(ageMs <= maximumAgeMs)) {
      const heard = ageMs === undefined ? "no heartbeat yet" : `one that is ${ageMs} ms old`;
      throw new FeedStale({ expected: `a heartbeat that is at most ${maximumAgeMs} ms old`, presented: heard });
    }
    return {
      revokesKey: (keyId) => this.#revoked.has(named(RevokedKind.ISSUER_KEY, keyId)),
      requireStanding: (message, digest) => this.#requireStanding(message, digest),
    };
  }

  #requireStanding(message: Message, digest: Uint8Array | undefined): void {
    const tenant = isMessage(message, ProposalRevisionSchema) ? referenceOf(message.tenant) : claimsOf(message).tenant;
    if (!sameReference(tenant, this.#tenant)) {
      throw new FeedBroken({
        expected: `the feed of ${tenantName(tenant)}`,
        presented: tenantName(this.#tenant),
      });
    }
    for (const [kind, subject] of [...restsOn(message), ...grantNamed(digest)]) {
      const found = this.#revoked.get(named(kind, subject));
      if (found !== undefined) {
        throw new Withdrawn({
          expected: `${RevokedKind[kind].toLowerCase()} ${subject} to stand`,
          presented: `item ${found.sequence} of the feed, which withdraws it`,
        });
      }
    }
  }

  #requireTenant(tenant: Reference): void {
    if (!sameReference(tenant, this.#tenant)) {
      throw new FeedBroken({ expected: tenantName(this.#tenant), presented: tenantName(tenant) });
    }
  }
}

type Withdrawable = readonly [RevokedKind, string];

function* restsOn(message: Message): Generator<Withdrawable> {
  if (isMessage(message, CommitCapabilitySchema)) {
    yield [RevokedKind.CAPABILITY, message.capabilityId];
    yield [RevokedKind.PRINCIPAL, principalName(message.holder)];
    yield [RevokedKind.PRINCIPAL_KEY, toWire(message.holderKey)];
    yield [RevokedKind.APPROVAL, message.approvalReference];
    yield* grantNamed(message.grantDigest);
  } else if (isMessage(message, GrantSchema)) {
    for (const principal of [message.subject, message.holder, ...message.actorChain]) {
      yield [RevokedKind.PRINCIPAL, principalName(principal)];
    }
    yield [RevokedKind.PRINCIPAL_KEY, toWire(message.holderKey)];
    yield* grantNamed(message.parentDigest);
  } else if (isMessage(message, DecisionReceiptSchema)) {
    yield [RevokedKind.PRINCIPAL, principalName(message.holder)];
    for (const reference of message.approvalReferences) yield [RevokedKind.APPROVAL, reference];
  } else if (isMessage(message, CommitReceiptSchema)) {
    yield [RevokedKind.RECORD, message.recordId];
  }
}

function grantNamed(digest: Uint8Array | undefined): readonly Withdrawable[] {
  return digest === undefined || digest.length === 0 ? [] : [[RevokedKind.GRANT, toWire(digest)]];
}

function named(kind: RevokedKind, subject: string): string {
  return `${kind}|${subject}`;
}

function principalName(principal: Reference | undefined): string {
  const { namespace, id } = referenceOf(principal);
  return `${namespace}|${id}`;
}

function tenantName(tenant: Reference): string {
  return `tenant ${JSON.stringify(tenant.namespace)} ${JSON.stringify(tenant.id)}`;
}
