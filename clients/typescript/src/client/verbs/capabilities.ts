/** Verbs of CapabilityService that judge and revoke capabilities, and tell the keys that sign them. */

import { create } from "@bufbuild/protobuf";

import { type KeySet, RevocationFeed } from "../../offline/index.js";
import {
  RevokeCapabilityRequestSchema,
  RevokeCapabilityResponseSchema,
  VerifyCapabilityRequestSchema,
  VerifyCapabilityResponseSchema,
  VerifyCapabilityResponse_Verdict,
  WatchRevocationsRequestSchema,
  type WatchRevocationsResponse,
  WatchRevocationsResponseSchema,
} from "../../proto/capability_authority/v1/capability_service_pb.js";
import { ErrorReasonSchema } from "../../proto/capability_authority/v1/errors_pb.js";
import type { SignedStatement } from "../../proto/capability_authority/v1/statements_pb.js";
import type { CallOptions } from "../call-options.js";
import { type Presented, present, termsOf } from "../presentations.js";
import { dateOf } from "../times.js";
import type { CapabilityVerdict, IssuedCapability, RevocationNews, Withdrawal } from "../values.js";
import { CONTRACT_REVISION, Versions, clientVersion } from "../versions.js";
import { wordOf } from "../words.js";
import { IssuingVerbs } from "./issuing.js";

/** What became of capabilities, and the key set. */
export class CapabilityVerbs extends IssuingVerbs {
  /**
   * Ask whether a commit of this content would be judged good now; without content only the capability is judged.
   *
   * Changes nothing, and a refusal of the capability is an answer. What else is not given is taken from the capability.
   *
   * @throws {AuthorityError} when the question itself is refused.
   */
  async verify(
    capability: IssuedCapability | SignedStatement,
    options: CallOptions & Partial<Presented> = {},
  ): Promise<CapabilityVerdict> {
    const { statement, terms } = termsOf(capability);
    const { content } = options;
    const request = create(VerifyCapabilityRequestSchema, {
      capability: statement,
      ...(content === undefined ? {} : { presentation: present(terms, { ...options, content }) }),
    });
    const response = await this.send(request, VerifyCapabilityResponseSchema, options);
    return {
      granted: response.verdict === VerifyCapabilityResponse_Verdict.GRANTED,
      reason: reasonName(response.reason),
      facts: response.facts,
      receiptId: response.receiptId,
    };
  }

  /**
   * Withdraw a capability for ever, named by itself or by its id: as its holder, an admin, or who may issue.
   *
   * Once this resolves, nothing is committed with it any more, and no commit that was on its way lands afterwards.
   * Revoked before, by whomever: the time of that.
   *
   * @throws {AuthorityError} `AlreadyCommitted` when it came too late, with the receipt's id; `NotFound` for what is
   *   not there or not yours; `IdempotencyConflict`.
   */
  async revoke(
    capability: IssuedCapability | SignedStatement | string,
    options: CallOptions & { readonly requestId?: string | undefined } = {},
  ): Promise<Withdrawal> {
    const capabilityId = typeof capability === "string" ? capability : termsOf(capability).terms.capabilityId;
    const request = create(RevokeCapabilityRequestSchema, { requestId: options.requestId ?? "", capabilityId });
    const response = await this.send(request, RevokeCapabilityResponseSchema, options);
    return { time: dateOf(response.revokeTime), replayed: response.replayed };
  }

  /**
   * What is withdrawn in the caller's tenant, verified against the pinned issuer's keys, as it happens.
   *
   * Everything is taken into `feed`, a new one unless given, before it is told; a feed of before goes on where it was.
   * A stream that ends or is cut is followed by another, by itself; without news a message comes about every ten
   * seconds, and makes the feed young again: give `news.feed.view(…)` to `offline` when you verify. Leaving the loop,
   * or aborting, ends the watch.
   *
   * @throws {AuthorityError} `CallerUnauthenticated` once the caller is revoked.
   * @throws {StatementError} (of `offline`) for what does not verify, or does not follow what was told before.
   */
  async *watchRevocations(
    options: CallOptions & { readonly feed?: RevocationFeed | undefined } = {},
  ): AsyncGenerator<RevocationNews, void, undefined> {
    const feed = options.feed ?? new RevocationFeed(this.credentials.tenant);
    const request = create(WatchRevocationsRequestSchema, { cursor: feed.cursor });
    const takeIn = (): void => void (request.cursor = feed.cursor);
    for await (const told of this.watch(request, WatchRevocationsResponseSchema, takeIn, options)) {
      yield await this.#takenIn(feed, told, options);
    }
  }

  async #takenIn(
    feed: RevocationFeed,
    told: WatchRevocationsResponse,
    { signal }: CallOptions,
  ): Promise<RevocationNews> {
    const arrived = this.now();
    const revoked = [];
    for (const statement of told.revocations) {
      revoked.push(await this.keySets.verified((keySet) => feed.take(statement, keySet), { signal }, arrived));
    }
    const { heartbeat } = told;
    if (heartbeat !== undefined) {
      await this.keySets.verified((keySet) => feed.hear(heartbeat, keySet), { signal }, arrived);
    }
    return { revoked, feed };
  }

  /**
   * Which versions meet here, asked anew: of this client, of the authority, and of the contract.
   *
   * @throws {AuthorityError}
   */
  async versions(options: CallOptions = {}): Promise<Versions> {
    const { serviceVersion, contractRevision } = await this.fetchKeySet(options);
    return new Versions(clientVersion(), serviceVersion, CONTRACT_REVISION, contractRevision);
  }

  /**
   * The pinned issuer's keys, to verify statements with `capability-authority-client/offline`: at most five minutes
   * old; `refresh` fetches them again.
   *
   * @throws {KeySetRefused} (of `offline`) when the authority is not the pinned issuer.
   * @throws {AuthorityError}
   */
  async keySet(options: CallOptions & { readonly refresh?: boolean | undefined } = {}): Promise<KeySet> {
    return this.keySets.current(options, options.refresh ? this.now() : undefined);
  }
}

/** The name of an ErrorReason without its prefix; empty for none. */
export function reasonName(reason: number): string {
  return reason === 0 ? "" : wordOf(ErrorReasonSchema, reason).toUpperCase();
}
