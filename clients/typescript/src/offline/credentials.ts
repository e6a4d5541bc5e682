/** Who calls, with which key, and which authority it trusts: one file, made by `authority principals add --out`. */

import { fromUtf8, utf8 } from "./bytes.js";
import { CredentialsExposed, CredentialsRefused, JsonError, KeyRefused } from "./errors.js";
import type { Reference } from "./invocation.js";
import { type JsonValue, parse } from "./json-reader.js";
import { type PrivateKey, privateKeyFromPem } from "./keys.js";
import { readPrivateFile } from "./private-files.js";

/** The environment variable that holds the path of a credentials file. */
export const ENVIRONMENT_NAME = "AUTHORITY_CREDENTIALS";

const VERSION = 1;
const MOST_BYTES = 64 * 1024;

/** Who may vouch for the server, and what a client shows of itself. */
export interface TlsMaterial {
  /** Roots in PEM form; absent: those of the system. */
  readonly rootsPem?: string | undefined;
  /** The name to expect of the server where it is not the host that is called. */
  readonly serverName?: string | undefined;
  /** What the client shows of itself: a certificate and what gives its key, both in PEM form. */
  readonly client?: { readonly certificatePem: string; readonly privateKeyPem: () => string } | undefined;
}

/** What a principal needs to call an authority and to believe its answers. */
export interface Credentials {
  /** Where the authority listens: "host:port", "[::1]:port" or "unix:PATH". */
  readonly target: string;
  /** The pinned issuer: only its statements are believed (semantics §3). */
  readonly issuer: string;
  /** What Invocations and commit capabilities must name to be accepted there. */
  readonly audience: string;
  readonly tenant: Reference;
  readonly principal: Reference;
  /** Registered with the authority for this principal: signs each call. Never shown, logged or sent. */
  readonly privateKey?: PrivateKey | undefined;
  readonly tls?: TlsMaterial | undefined;
  /**
   * Gives the signed token of an issuer that the authority believes, as it is good now: ask for every attempt, for the
   * file that holds it may be replaced. The token is sent, over TLS or on this machine, and never shown.
   *
   * @throws {CredentialsExposed} or {CredentialsRefused} when there is none that could be sent.
   */
  readonly bearerToken?: (() => string) | undefined;
  /** What capabilities are bound to where nothing is signed: the id of the certificate's registered credential. */
  readonly credentialId: string;
}

/**
 * Read a credentials file.
 *
 * @throws {CredentialsExposed} when group or others have any right on it.
 * @throws {CredentialsRefused} when it is missing, unreadable or holds no credentials.
 */
export function readCredentialsFile(path: string): Credentials {
  const data = privateBytes(path, `${path} cannot be read`);
  try {
    return parseCredentials(data);
  } catch (error) {
    throw error instanceof CredentialsRefused ? new CredentialsRefused(`${path}: ${error.message}`) : error;
  }
}

/**
 * Read the file that `AUTHORITY_CREDENTIALS` names.
 *
 * @throws as `readCredentialsFile`, also when it names none.
 */
export function readCredentialsFromEnvironment(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Credentials {
  const path = environment[ENVIRONMENT_NAME];
  if (!path) {
    throw new CredentialsRefused(
      `${ENVIRONMENT_NAME} is not set; remedy: set it to the path of a file made by ` +
        "`authority principals add --out PATH`",
    );
  }
  return readCredentialsFile(path);
}

/**
 * Read the contents of a credentials file.
 *
 * @throws {CredentialsRefused} for another version, a missing or unknown member, and a key that is not the one named.
 */
export function parseCredentials(data: Uint8Array): Credentials {
  const fields = fieldsOf(documentOf(data), "");
  const version = fields.take("version");
  if (version !== VERSION) {
    throw new CredentialsRefused(`version ${VERSION} is expected, not ${JSON.stringify(version)}`);
  }
  const tls = fields.has("tls") ? tlsOf(fieldsOf(fields.take("tls"), "tls.")) : undefined;
  const bearerToken = tokenOf(fields);
  const isShown = bearerToken !== undefined || tls?.client !== undefined;
  const signs = fields.has("private_key_pem") || !isShown;
  const keyId = signs ? fields.text("key_id") : (fields.textOrNone("key_id") ?? "");
  const privateKey = signs ? privateKeyOf(fields.text("private_key_pem")) : undefined;
  const credentials = {
    target: fields.text("target"),
    issuer: fields.text("issuer"),
    audience: fields.text("audience"),
    tenant: referenceOf(fields, "tenant"),
    principal: referenceOf(fields, "principal"),
    privateKey,
    tls,
    bearerToken,
    credentialId: signs ? "" : keyId,
  };
  fields.requireAllTaken();
  if (privateKey !== undefined && privateKey.publicKey.keyId !== keyId) {
    throw new CredentialsRefused("key_id is not the thumbprint of private_key_pem");
  }
  return credentials;
}

function privateBytes(path: string, otherwise: string): Uint8Array {
  const found = readOrCode(path);
  if (typeof found === "string") throw new CredentialsRefused(`${otherwise}: ${found}`);
  if (found instanceof Uint8Array) return found;
  throw found.exposed ? new CredentialsExposed(found.because) : new CredentialsRefused(found.because);
}

function readOrCode(path: string): ReturnType<typeof readPrivateFile> | string {
  try {
    return readPrivateFile(path, MOST_BYTES);
  } catch (error) {
    // ENOENT, EACCES or another code: the system's sentence could name what lies there.
    return error instanceof Error && "code" in error ? String(error.code) : "unknown";
  }
}

function documentOf(data: Uint8Array): JsonValue {
  try {
    return parse(data);
  } catch (error) {
    throw error instanceof JsonError ? new CredentialsRefused(`not a credentials file: ${error.problem}`) : error;
  }
}

/** The members of a JSON object, each taken once and named by its path when it is wrong. */
interface Fields {
  has(name: string): boolean;
  take(name: string): JsonValue;
  text(name: string): string;
  textOrNone(name: string): string | undefined;
  requireAllTaken(): void;
}

function fieldsOf(value: JsonValue, prefix: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new CredentialsRefused(`${prefix.replace(/\.$/, "") || "the file"} must be an object`);
  }
  const members = new Map(Object.entries(value as { readonly [name: string]: JsonValue }));
  const take = (name: string): JsonValue => {
    const member = members.get(name);
    if (member === undefined) throw new CredentialsRefused(`${prefix}${name} is missing`);
    members.delete(name);
    return member;
  };
  const text = (name: string): string => {
    const member = take(name);
    if (typeof member === "string" && member !== "") return member;
    throw new CredentialsRefused(`${prefix}${name} must be a text that is not empty`);
  };
  return {
    has: (name) => members.has(name),
    take,
    text,
    textOrNone: (name) => (members.has(name) ? text(name) : undefined),
    requireAllTaken: () => {
      const [unknown] = [...members.keys()].sort();
      if (unknown !== undefined) throw new CredentialsRefused(`${prefix}${unknown} is unknown`);
    },
  };
}

function referenceOf(fields: Fields, name: string): Reference {
  const members = fieldsOf(fields.take(name), `${name}.`);
  const reference = { namespace: members.text("namespace"), id: members.text("id") };
  members.requireAllTaken();
  return reference;
}

function tlsOf(fields: Fields): TlsMaterial {
  const rootsPem = fields.textOrNone("roots_pem");
  const certificatePem = fields.textOrNone("certificate_pem");
  const client = certificatePem === undefined ? undefined : clientOf(certificatePem, fields.text("private_key_pem"));
  const tls = { rootsPem, serverName: fields.textOrNone("server_name"), client };
  fields.requireAllTaken();
  return tls;
}

/** Secrets are given by functions, so that nothing that prints an object prints them. */
function clientOf(certificatePem: string, privateKeyPem: string): NonNullable<TlsMaterial["client"]> {
  return { certificatePem, privateKeyPem: () => privateKeyPem };
}

function tokenOf(fields: Fields): Credentials["bearerToken"] {
  const file = fields.textOrNone("bearer_token_file");
  if (file !== undefined) return () => sendable(tokenIn(file));
  const token = fields.textOrNone("bearer_token");
  return token === undefined ? undefined : () => sendable(token);
}

function tokenIn(file: string): string {
  return fromUtf8(privateBytes(file, `no token can be read from ${file}`))?.trim() ?? "";
}

/** What metadata can carry: printable ASCII without spaces. */
function sendable(token: string): string {
  if (/^[!-~]+$/.test(token)) return token;
  throw new CredentialsRefused("the bearer token is empty, or holds characters that no token has");
}

function privateKeyOf(pem: string): PrivateKey {
  try {
    return privateKeyFromPem(utf8(pem));
  } catch (error) {
    throw error instanceof KeyRefused ? new CredentialsRefused(`private_key_pem: ${error.message}`) : error;
  }
}
