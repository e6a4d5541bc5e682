/** Where calls may go, and what protects them on the way. */

import { readFileSync } from "node:fs";
import type { SecureClientSessionOptions } from "node:http2";
import { connect, isIPv4 } from "node:net";

import { KeyFileExposed, KeyRefused, type TlsMaterial } from "../offline/index.js";
import { readPrivateFile } from "../offline/private-files.js";

const MOST_BYTES = 64 * 1024;
const LOOPBACK_4 = /^127(\.\d{1,3}){3}$/;
const HOST_AND_PORT = /^(\[[0-9a-fA-F:.]+\]|[^:/?#@[\]\s]+):(\d{1,5})$/;
const UNIX = "unix:";

/** The target is not on this machine and TLS is not asked for (semantics §2). */
export class PlaintextRefused extends Error {
  override readonly name = "PlaintextRefused";

  constructor(target: string) {
    super(
      `${target} needs TLS: give tls: {} for public roots or tls: tlsFromFiles({ roots: PATH });` +
        " plaintext is spoken only to 127.0.0.1:PORT, [::1]:PORT and unix:PATH",
    );
  }
}

/** Paths of PEM files. */
export interface TlsFiles {
  /** Who may vouch for the server; those that Node.js brings along unless given. */
  readonly roots?: string;
  /** What the client shows of itself, with its chain, to an authority that asks its callers for certificates. */
  readonly certificate?: string;
  /** The certificate's private key. */
  readonly privateKey?: string;
  /** The name that the server's certificate must bear, when it is not the target's host. */
  readonly serverName?: string;
}

/**
 * Who may vouch for the server, and what the client shows of itself, from PEM files.
 *
 * @throws {KeyFileExposed} (of `offline`) when others have rights on the private key.
 * @throws {Error} when one cannot be read, and {TypeError} for a certificate without its key.
 */
export function tlsFromFiles({ roots, certificate, privateKey, serverName }: TlsFiles): TlsMaterial {
  if ((certificate === undefined) !== (privateKey === undefined)) {
    throw new TypeError("a certificate and its private key are given together");
  }
  const rootsPem = roots === undefined ? undefined : readFileSync(roots, "utf8");
  if (certificate === undefined || privateKey === undefined) {
    return { rootsPem, serverName };
  }
  const key = readPrivateFile(privateKey, MOST_BYTES);
  if (!(key instanceof Uint8Array)) {
    throw key.exposed ? new KeyFileExposed(key.because) : new KeyRefused(key.because);
  }
  const privateKeyPem = Buffer.from(key).toString("utf8");
  // A function, so that nothing that prints an object prints it.
  const client = { certificatePem: readFileSync(certificate, "utf8"), privateKeyPem: () => privateKeyPem };
  return { rootsPem, serverName, client };
}

/** What a connection is opened with. */
export interface Destination {
  /** An URL without a path. */
  readonly baseUrl: string;
  readonly nodeOptions: SecureClientSessionOptions;
}

/**
 * Whether only this machine can be meant: a Unix socket, 127.0.0.0/8 or ::1, with its port.
 *
 * Names, `localhost` too, are not local: what they resolve to is decided elsewhere.
 */
function isLocal(target: string): boolean {
  if (target.startsWith(UNIX)) {
    return true;
  }
  const [, host = ""] = HOST_AND_PORT.exec(target) ?? [];
  return (LOOPBACK_4.test(host) && isIPv4(host)) || host === "[::1]";
}

/**
 * How to get to a target, "host:port", "[::1]:port" or "unix:PATH".
 *
 * @throws {PlaintextRefused} when calls would cross a network in plaintext.
 * @throws {TypeError} for a target of another form.
 */
export function destinationOf(target: string, tls: TlsMaterial | undefined): Destination {
  if (!target.startsWith(UNIX) && !HOST_AND_PORT.test(target)) {
    throw new TypeError(`a target is host:port, [::1]:port or unix:PATH, not ${JSON.stringify(target)}`);
  }
  if (tls === undefined && !isLocal(target)) {
    throw new PlaintextRefused(target);
  }
  const socket = target.startsWith(UNIX) ? { createConnection: () => connect(target.slice(UNIX.length)) } : {};
  const host = target.startsWith(UNIX) ? "localhost" : target;
  if (tls === undefined) {
    return { baseUrl: `http://${host}`, nodeOptions: socket };
  }
  return { baseUrl: `https://${host}`, nodeOptions: { ...socket, ...tlsOptions(tls) } };
}

function tlsOptions(tls: TlsMaterial): SecureClientSessionOptions {
  return {
    // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment changes nothing.
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
    ...(tls.rootsPem === undefined ? {} : { ca: tls.rootsPem }),
    ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
    ...(tls.client === undefined ? {} : { cert: tls.client.certificatePem, key: tls.client.privateKeyPem() }),
  };
}
