/** The client: everything a holder, proposer or reviewer asks of an authority. */

import type { Interceptor } from "@connectrpc/connect";

import {
  type Credentials,
  type TlsMaterial,
  readCredentialsFile,
  readCredentialsFromEnvironment,
} from "../offline/index.js";
import { type RetryPolicy, retryPolicy } from "./retries.js";
import type { TraceSource } from "./tracing.js";
import { AuditVerbs } from "./verbs/audit.js";

/** Milliseconds for a call, all attempts and waits included. */
export const DEFAULT_TIMEOUT_MS = 10_000;

/** How to get to an authority. */
export interface ConnectOptions {
  /** Given, or the path of a file of them; that of the file which AUTHORITY_CREDENTIALS names unless given. */
  readonly credentials?: Credentials | string | undefined;
  /** "host:port", "[::1]:port" or "unix:PATH"; the credentials' own unless given. */
  readonly target?: string | undefined;
  /** The credentials' own unless given; without TLS the target must be 127.0.0.1, [::1] or a Unix socket. */
  readonly tls?: TlsMaterial | undefined;
  /** A token, or what gives the one that is good now, asked for every attempt; the credentials' own unless given. */
  readonly bearerToken?: string | (() => string) | undefined;
  /** What differs from `DEFAULT_RETRIES`. */
  readonly retries?: Partial<RetryPolicy> | undefined;
  /** For each call, all its attempts included, in milliseconds; 10,000 unless given. */
  readonly timeoutMs?: number | undefined;
  /** Ids of the issuer's keys, known by another road: trust is narrowed to these. */
  readonly pinnedKeyIds?: ReadonlySet<string> | undefined;
  /** Gives the trace that a call belongs to. */
  readonly trace?: TraceSource | undefined;
  /** Interceptors of connect that see every attempt, before it is signed. */
  readonly interceptors?: readonly Interceptor[] | undefined;
}

/**
 * A client of one authority, as one principal.
 *
 *     const authority = CapabilityAuthority.connect();
 *     const proposal = await authority.getProposal(proposalId);
 *     const validation = await authority.validate(proposal);
 *     authority.close();
 *
 * Every attempt of a call is signed anew over exactly the bytes that are sent; attempts of one call share its request
 * id or commit key, so that whatever happens, it happens once. One client serves any number of concurrent calls. `await
 * using` closes it with its block.
 */
export class CapabilityAuthority extends AuditVerbs {
  /**
   * A client that connects when it first calls.
   *
   * @throws {CredentialsRefused} (of `offline`), {PlaintextRefused}, {RangeError} for retries that could never send.
   */
  static connect(options: ConnectOptions = {}): CapabilityAuthority {
    const credentials = withToken(knownCredentials(options.credentials), options.bearerToken);
    return new CapabilityAuthority({
      credentials,
      target: options.target ?? credentials.target,
      tls: options.tls ?? credentials.tls,
      retries: retryPolicy(options.retries),
      timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      pinnedKeyIds: options.pinnedKeyIds,
      trace: options.trace,
      interceptors: options.interceptors ?? [],
    });
  }
}

function knownCredentials(given: Credentials | string | undefined): Credentials {
  if (given === undefined) {
    return readCredentialsFromEnvironment();
  }
  return typeof given === "string" ? readCredentialsFile(given) : given;
}

function withToken(credentials: Credentials, token: string | (() => string) | undefined): Credentials {
  if (token === undefined) {
    return credentials;
  }
  const bearerToken = typeof token === "string" ? () => token : token;
  return { ...credentials, bearerToken };
}
