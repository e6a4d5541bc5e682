/** The authority's keys as this client knows them: pinned to the issuer, fetched when needed, kept for a while. */

import { type KeySet, KeyUnknown, keySetFromResponse } from "../offline/index.js";
import type { GetKeySetResponse } from "../proto/capability_authority/v1/capability_service_pb.js";
import type { CallOptions } from "./call-options.js";

/** Milliseconds after which the key set is fetched again: how long a revocation can go unnoticed here. */
export const KEY_SET_LIFETIME_MS = 300_000;

/** What a key set is made from, and the clock by which it grows old. */
export interface KeySetSources {
  /** Asks the authority; the response is unjudged. */
  readonly fetch: (options: CallOptions) => Promise<GetKeySetResponse>;
  readonly pinnedIssuer: string;
  /** Known by another road: trust is narrowed to these. */
  readonly pinnedKeyIds: ReadonlySet<string> | undefined;
  /** Milliseconds that never go back. */
  readonly clock: () => number;
}

interface Known {
  readonly keySet: KeySet;
  readonly since: number;
}

/** Keeps one key set. */
export class KeySets {
  readonly #sources: KeySetSources;
  #known: Known | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(sources: KeySetSources) {
    this.#sources = sources;
  }

  /**
   * The key set, at most `KEY_SET_LIFETIME_MS` old and fetched no earlier than `atLeastSince`, by the clock given.
   *
   * One caller asks at a time: those behind it find what it found.
   *
   * @throws {AuthorityError} when it cannot be fetched.
   * @throws {KeySetRefused} when it is not the pinned issuer's.
   */
  async current(options: CallOptions = {}, atLeastSince?: number): Promise<KeySet> {
    const mine = this.#turn.then(() => this.#fresh(options, atLeastSince));
    this.#turn = mine.catch(() => undefined);
    return orAborted(mine, options.signal);
  }

  async #fresh(options: CallOptions, atLeastSince: number | undefined): Promise<KeySet> {
    options.signal?.throwIfAborted();
    const now = this.#sources.clock();
    const oldest = atLeastSince ?? now - KEY_SET_LIFETIME_MS;
    if (this.#known === undefined || this.#known.since < oldest) {
      const { pinnedIssuer, pinnedKeyIds } = this.#sources;
      const response = await this.#sources.fetch(options);
      this.#known = {
        keySet: keySetFromResponse(response, { issuer: pinnedIssuer, keyIds: pinnedKeyIds }),
        since: now,
      };
    }
    return this.#known.keySet;
  }

  /**
   * What `verify` says of a statement that arrived at `arrived`; a key that is not known yet is looked for once.
   *
   * @throws as `current` and `verify`.
   */
  async verified<T>(
    verify: (keySet: KeySet) => T,
    options: CallOptions = {},
    arrived = this.#sources.clock(),
  ): Promise<T> {
    try {
      return verify(await this.current(options));
    } catch (error) {
      if (!(error instanceof KeyUnknown)) {
        throw error;
      }
    }
    return verify(await this.current(options, arrived));
  }
}

/** The answer, unless the signal aborts before: whoever gives up does not wait for those in front of it. */
async function orAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) {
    return answer;
  }
  let giveUp = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason);
    signal.addEventListener("abort", giveUp);
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
