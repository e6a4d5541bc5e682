/** Ed25519 keys that are safe to trust once loaded (semantics §2, §3). */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign as signWith,
  verify as verifyWith,
} from "node:crypto";

import { copyOf, fromBase64, fromHex, joinBytes, toBase64Url, toHex } from "./bytes.js";
import { sha256, toWire } from "./digests.js";
import { KeyRefused } from "./errors.js";

/** The sizes of Ed25519 (RFC 8032): a raw public key, the seed of a private one, a signature. */
export const PUBLIC_KEY_BYTES = 32;
export const SEED_BYTES = 32;
export const SIGNATURE_BYTES = 64;

const FIELD_PRIME = 2n ** 255n - 19n;
const ORDER_EIGHT_Y = littleEndian(fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"));
/** The y coordinates of the eight points of small order; no other point shares them. */
const SMALL_ORDER_Y: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  FIELD_PRIME - 1n,
  ORDER_EIGHT_Y,
  FIELD_PRIME - ORDER_EIGHT_Y,
]);

/** What stands before the 32 bytes of a seed in an Ed25519 key of PKCS #8 (RFC 8410, section 7). */
const PKCS8_BEFORE_SEED = fromHex("302e020100300506032b657004220420");

/** An Ed25519 public key that only its private key can sign for. */
export interface PublicKey {
  /** 32 bytes. */
  readonly raw: Uint8Array;
  /** SHA-256 of `raw`: 32 bytes. */
  readonly thumbprint: Uint8Array;
  /** The thumbprint as "sha256:" and 64 lowercase hexadecimal digits. */
  readonly keyId: string;
  /** Whether `signature` was made over `message` by this key; false, never an error, for any wrong length. */
  verify(signature: Uint8Array, message: Uint8Array): boolean;
}

/** An Ed25519 private key. Its secret is shown by nothing and leaves only through `toPem`. */
export interface PrivateKey {
  readonly publicKey: PublicKey;
  /** The 64-byte signature over `message`; equal messages give equal signatures (RFC 8032). */
  sign(message: Uint8Array): Uint8Array;
  /** The key as an unencrypted PKCS #8 PEM document. Write it with `savePrivateKeyFile`. */
  toPem(): string;
}

/**
 * A public key of its 32 raw bytes. Bytes that encode no point at all are taken, and verify nothing.
 *
 * @throws {KeyRefused} for another length, for the eight points of small order, for which anyone can make signatures,
 * and for encodings that are not the one canonical encoding of their point (case E03; node:crypto refuses none of
 * them).
 */
export function publicKeyOf(raw: Uint8Array): PublicKey {
  refuseWeakEncoding(raw);
  const own = copyOf(raw);
  const thumbprint = sha256(own);
  const verifier = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: toBase64Url(own) },
    format: "jwk",
  });
  return Object.freeze({
    raw: own,
    thumbprint,
    keyId: toWire(thumbprint),
    verify: (signature: Uint8Array, message: Uint8Array) =>
      signature.length === SIGNATURE_BYTES && verifyWith(null, message, verifier, signature),
  });
}

/** A new private key from the operating system's random source. */
export function generatePrivateKey(): PrivateKey {
  return privateKeyOf(generateKeyPairSync("ed25519").privateKey);
}

/**
 * The private key of a 32-byte seed (RFC 8032, section 5.1.5).
 *
 * @throws {KeyRefused} for another length.
 */
export function privateKeyFromSeed(seed: Uint8Array): PrivateKey {
  if (seed.length !== SEED_BYTES) {
    throw new KeyRefused(`an Ed25519 seed has ${SEED_BYTES} bytes, not ${seed.length}`);
  }
  return privateKeyOf(
    createPrivateKey({ key: Buffer.from(joinBytes([PKCS8_BEFORE_SEED, seed])), format: "der", type: "pkcs8" }),
  );
}

/**
 * The private key of an unencrypted PEM document.
 *
 * @throws {KeyRefused} for anything else; the document is not quoted.
 */
export function privateKeyFromPem(pem: string | Uint8Array): PrivateKey {
  return privateKeyOf(signerOfPem(pem));
}

function signerOfPem(pem: string | Uint8Array): KeyObject {
  try {
    return createPrivateKey({ key: Buffer.from(pem), format: "pem" });
  } catch {
    throw new KeyRefused("not an unencrypted private key in PEM form");
  }
}

function privateKeyOf(signer: KeyObject): PrivateKey {
  if (signer.asymmetricKeyType !== "ed25519") {
    throw new KeyRefused("a private key of another algorithm than Ed25519");
  }
  const { x } = createPublicKey(signer).export({ format: "jwk" });
  return Object.freeze({
    publicKey: publicKeyOf(fromBase64(x ?? "")),
    sign: (message: Uint8Array) => new Uint8Array(signWith(null, message, signer)),
    toPem: () => signer.export({ format: "pem", type: "pkcs8" }).toString(),
  });
}

function refuseWeakEncoding(raw: Uint8Array): void {
  if (raw.length !== PUBLIC_KEY_BYTES) {
    throw new KeyRefused(`an Ed25519 public key has ${PUBLIC_KEY_BYTES} bytes, not ${raw.length}`);
  }
  const y = BigInt.asUintN(255, littleEndian(raw));
  if (y >= FIELD_PRIME) {
    throw new KeyRefused("the public key is not the canonical encoding of a point");
  }
  if (SMALL_ORDER_Y.has(y)) {
    throw new KeyRefused("the public key is a point of small order: anyone can sign for it");
  }
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(copyOf(bytes).reverse())}`);
}
