/** Grants, as the verbs take them and answer with them. */

import { randomBytes } from "node:crypto";

import { create } from "@bufbuild/protobuf";

import { AMOUNTS, amountOf, EXACT, FLAGS, type GrantDimensions, SELECTORS } from "../offline/dimensions.js";
import {
  type Credentials,
  type Narrower,
  type PublicKey,
  delegate,
  digestOf,
  readPayload,
  toWire,
} from "../offline/index.js";
import {
  type GrantSpending,
  type GrantTerms,
  GrantTermsSchema,
} from "../proto/capability_authority/v1/grant_service_pb.js";
import {
  type Grant,
  GrantSchema,
  GrantedAmountSchema,
  GrantedFlagSchema,
  GrantedNamesSchema,
  type SignedStatement,
} from "../proto/capability_authority/v1/statements_pb.js";
import { signingKeyOf } from "./holders.js";
import { dateOf } from "./times.js";
import type { Reference } from "./values.js";

const NONCE_BYTES = 16;

/** A grant and its ancestors, root first: what a holder presents. */
export interface GrantChainHeld {
  readonly statement: SignedStatement;
  readonly ancestors: readonly SignedStatement[];
}

/** What a grant allows. What is not given is absent: it denies in a root, and is refused in a child. */
export interface GrantedDimensions extends GrantDimensions {
  /** How many generations may be derived, 0 to 8; 0 unless given. */
  readonly delegationDepth?: number | undefined;
}

const LISTS = [...EXACT, ...SELECTORS];

/**
 * The message that says what a grant allows.
 *
 * @throws {GrantMalformed} (of `offline`) for an amount that is no whole number.
 */
export function grantTerms(dimensions: GrantedDimensions): GrantTerms {
  const terms = create(GrantTermsSchema, { delegationDepth: dimensions.delegationDepth ?? 0 });
  for (const name of LISTS) {
    const names = dimensions[name];
    if (names !== undefined) {
      terms[name] = create(GrantedNamesSchema, { names: [...names] });
    }
  }
  for (const name of AMOUNTS) {
    const most = amountOf(name, dimensions[name]);
    if (most !== undefined) {
      terms[name] = create(GrantedAmountSchema, { most });
    }
  }
  for (const name of FLAGS) {
    const allowed = dimensions[name];
    if (allowed !== undefined) {
      terms[name] = create(GrantedFlagSchema, { allowed });
    }
  }
  return terms;
}

/** A grant and its ancestors, root first, as its holder presents them. */
export class HeldGrant implements GrantChainHeld {
  constructor(
    readonly statement: SignedStatement,
    readonly ancestors: readonly SignedStatement[] = [],
    /** Whether it existed before the call that answered with it. */
    readonly replayed = false,
  ) {}

  /** What it says itself, unverified: judging it is the authority's. @throws {StatementError} (of `offline`) */
  get terms(): Grant {
    return readPayload(this.statement.payloadType, this.statement.payload, GrantSchema);
  }

  /** Names it, "sha256:…". */
  get digest(): string {
    return toWire(digestOf(this.statement));
  }

  /** From then on it allows nothing. */
  get expireTime(): Date {
    return dateOf(this.terms.expireTime);
  }

  /**
   * As much as may be derived from it, but for what is said.
   *
   * What is absent in it denies; the child says so, for what is absent there would be refused.
   */
  narrowed(said: GrantedDimensions = {}): GrantTerms {
    const parent = this.terms;
    const most = {
      ...Object.fromEntries(LISTS.map((name) => [name, parent[name]?.names ?? []])),
      ...Object.fromEntries(AMOUNTS.map((name) => [name, parent[name]?.most ?? 0n])),
      ...Object.fromEntries(FLAGS.map((name) => [name, parent[name]?.allowed ?? false])),
    };
    return grantTerms({ ...most, delegationDepth: Math.max(parent.delegationDepth - 1, 0), ...said });
  }

  /**
   * A child for another holder, made offline with the key of `credentials`, which this grant must bind.
   *
   * The authority meets it when it is used first. `boundTo` is the new holder's public key; or the digest of another
   * credential, 32 bytes, with which it hands nothing on.
   *
   * @throws {GrantExceeded} (of `offline`) for a child that would be wider, {GrantMalformed}, {SignatureInvalid} for
   *   credentials that are not the holder's, and {CredentialsRefused} for credentials without a key.
   */
  delegate(
    credentials: Credentials,
    child: {
      readonly holder: Reference;
      readonly boundTo: PublicKey | Uint8Array;
      readonly narrower?: Narrower | undefined;
    },
  ): HeldGrant {
    const statement = delegate(this.statement, signingKeyOf(credentials), {
      holder: child.holder,
      boundTo: child.boundTo,
      nonce: new Uint8Array(randomBytes(NONCE_BYTES)),
      narrower: child.narrower ?? {},
    });
    return new HeldGrant(statement, [...this.ancestors, this.statement]);
  }
}

/** What a grant would be used for. What is not given is not used. */
export interface GrantUse {
  readonly action?: string;
  readonly audience?: string;
  readonly resource?: string;
  readonly readMemoryNamespace?: string;
  readonly writeMemoryNamespace?: string;
  readonly tool?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly usdMicros?: bigint;
  readonly tokens?: bigint;
  readonly latencyMs?: bigint;
  readonly concurrency?: bigint;
  readonly network?: boolean;
  readonly destructive?: boolean;
}

/** A grant that the authority keeps, and what became of it. */
export interface GrantStatus {
  readonly grant: HeldGrant;
  /** "active", "expired", or "revoked": it, or one of its ancestors. */
  readonly state: string;
  /** When it, or the first of its ancestors that was, was revoked. */
  readonly revokeTime: Date | undefined;
  /** By itself and by all that was derived from it. */
  readonly spent: GrantSpending | undefined;
}

/** The fields of a request that present a grant; none without one. */
export function grantFields(grant: GrantChainHeld | undefined): {
  grant?: SignedStatement;
  grantAncestors?: SignedStatement[];
} {
  return grant === undefined ? {} : { grant: grant.statement, grantAncestors: [...grant.ancestors] };
}
