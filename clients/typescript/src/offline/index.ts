/**
 * What a holder or a consumer does without a server: sign, read strictly, verify, fingerprint, canonicalize.
 *
 * Needs node:crypto and protobuf, never the network. Nothing here reads a clock, draws a nonce or opens a connection:
 * times and nonces are arguments, and the only files touched are the private ones asked for.
 */

export { canonicalContent, canonicalize, isCanonical, requireCanonical } from "./canonical-json.js";
export {
  type Credentials,
  ENVIRONMENT_NAME,
  parseCredentials,
  readCredentialsFile,
  readCredentialsFromEnvironment,
  type TlsMaterial,
} from "./credentials.js";
export { delegate, type Delegation, type Narrower } from "./delegation.js";
export type { GrantDimensions } from "./dimensions.js";
export { DIGEST_BYTES, fromWire, sha256, toWire } from "./digests.js";
export { fromDsseJson, toDsseJson } from "./dsse-json.js";
export * from "./errors.js";
export { type Check, checkExport, type CheckVerdict, type ExportPart } from "./exports.js";
export {
  capabilityFingerprint,
  FINGERPRINT_LABEL,
  type Presented,
  requestFingerprint,
  type RequestTerms,
} from "./fingerprint.js";
export {
  type ChainOptions,
  type GrantChain,
  type GrantUse,
  MAX_CHAIN_BYTES,
  NOT_BEFORE_SKEW_MS,
  verifyGrantChain,
} from "./grants.js";
export { FIRST_INSTANT_MS, instantMs, LAST_INSTANT_MS, timestamp } from "./instants.js";
export {
  type Call,
  makeInvocation,
  MAX_NONCE_BYTES,
  MAX_PROOF_BYTES,
  MIN_NONCE_BYTES,
  PROOF_METADATA_KEY,
  type Reference,
} from "./invocation.js";
export { type JsonValue, MAX_DEPTH, parse } from "./json-reader.js";
export {
  keyCovers,
  type KeyRecord,
  type KeySet,
  keySetFromResponse,
  keySetOf,
  keyVerifies,
  type Pins,
} from "./key-set.js";
export { loadPrivateKeyFile, savePrivateKeyFile } from "./key-files.js";
export {
  generatePrivateKey,
  type PrivateKey,
  privateKeyFromPem,
  privateKeyFromSeed,
  type PublicKey,
  PUBLIC_KEY_BYTES,
  publicKeyOf,
  SEED_BYTES,
  SIGNATURE_BYTES,
} from "./keys.js";
export * from "./payload-types.js";
export { type Freshness, RevocationFeed, type RevocationView } from "./revocations.js";
export {
  digestOf,
  encode,
  type KeyLookup,
  openStatement,
  pae,
  parseStatement,
  readPayload,
  serializeStatement,
  sign,
  statementDigest,
} from "./statements.js";
export {
  PURPOSES,
  type ReceiptOptions,
  verifyAs,
  type VerifyOptions,
  verifyReceipt,
  verifyStatement,
} from "./verification.js";
