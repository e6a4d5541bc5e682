/** The files private keys live in: PEM documents that only their owner can read (semantics §2). */

import { utf8 } from "./bytes.js";
import { KeyFileExposed, KeyRefused } from "./errors.js";
import { type PrivateKey, privateKeyFromPem } from "./keys.js";
import { readPrivateFile, writePrivateFile } from "./private-files.js";

const KEY_FILE_BYTES = 16 * 1024;

/**
 * Read a private key from a PEM file; symbolic links are followed, as mounted secrets need.
 *
 * @throws {KeyFileExposed} when group or others have any right on the file.
 * @throws {KeyRefused} when it is no regular file or holds no unencrypted Ed25519 key.
 * @throws {Error} of node:fs when it cannot be read.
 */
export function loadPrivateKeyFile(path: string): PrivateKey {
  const pem = readPrivateFile(path, KEY_FILE_BYTES);
  if (!(pem instanceof Uint8Array)) {
    throw pem.exposed ? new KeyFileExposed(pem.because) : new KeyRefused(pem.because);
  }
  try {
    return privateKeyFromPem(pem);
  } catch (error) {
    throw error instanceof KeyRefused ? new KeyRefused(`${path}: ${error.message}`) : error;
  }
}

/**
 * Write a private key to a new PEM file of mode 0600: whole and durable, or not at all.
 *
 * @throws {Error} of node:fs, with the code `EEXIST` when `path` exists, whatever it is: a key is never overwritten.
 */
export function savePrivateKeyFile(path: string, privateKey: PrivateKey): void {
  writePrivateFile(path, utf8(privateKey.toPem()));
}
