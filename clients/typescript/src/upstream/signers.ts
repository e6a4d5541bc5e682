/** Who signed what was verified a moment ago: upstream's hooks for policy and capability are not told. */

/** Milliseconds after which an envelope is too old to be accepted anyway. */
const LIFETIME_MS = 5 * 60_000;
/** Envelopes: the oldest is forgotten first, and its verification then denies. */
const MOST_ENVELOPES = 4_096;
/** Keys by which one envelope was signed: whoever repeats envelopes of others with own signatures gets no further. */
const MOST_SIGNERS = 4;

interface Signed {
  readonly since: number;
  readonly keyIds: readonly string[];
}

/**
 * Key ids by the digest of the canonical bytes that they signed. Whether a key still counts is the authority's to say.
 */
export class SignerMemory {
  readonly #signed = new Map<string, Signed>();

  /** `clock` is in milliseconds and never goes back. */
  constructor(private readonly clock: () => number) {}

  /** The key of this id signed the bytes of this digest. */
  remember(digest: string, keyId: string): void {
    const others = this.of(digest).filter((other) => other !== keyId);
    // Taken out first, so that the map's order is that of remembering.
    this.#signed.delete(digest);
    this.#signed.set(digest, { since: this.clock(), keyIds: [keyId, ...others].slice(0, MOST_SIGNERS) });
    const [oldest] = this.#signed.keys();
    if (this.#signed.size > MOST_ENVELOPES && oldest !== undefined) {
      this.#signed.delete(oldest);
    }
  }

  /** The ids of the keys that signed the bytes of this digest, the latest first. */
  of(digest: string): readonly string[] {
    const found = this.#signed.get(digest);
    return found !== undefined && this.clock() - found.since < LIFETIME_MS ? found.keyIds : [];
  }
}
