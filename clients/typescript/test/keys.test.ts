/** Keys that are safe to trust once loaded, and the files they live in. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { generateKeyPairSync } from "node:crypto";

import * as offline from "../src/offline/index.js";
import { hex, vectorFile } from "./golden/vectors.js";

const FOLDER = mkdtempSync(join(tmpdir(), "capability-authority-"));
after(() => rmSync(FOLDER, { recursive: true }));

const WEAK = vectorFile("tests/vectors/measured/ed25519_small_order.json") as Readonly<Record<string, unknown>>;
const SEED = new Uint8Array(32).fill(7);

/** Every public key that stands anywhere in the file: all of them must be refused. */
function weakKeys(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => (name === "pk" ? [String(each)] : weakKeys(each)));
}

test("e03 keys that anyone can sign for are refused on load", () => {
  const keys = weakKeys(WEAK);
  assert.ok(keys.length > 8);
  for (const key of keys) assert.throws(() => offline.publicKeyOf(hex(key)), offline.KeyRefused, key);
});

test("a public key has 32 bytes", () => {
  for (const length of [0, 31, 33]) {
    assert.throws(() => offline.publicKeyOf(new Uint8Array(length).fill(9)), offline.KeyRefused);
  }
});

test("bytes that encode no point verify nothing", () => {
  const noPoint = offline.publicKeyOf(new Uint8Array(32).fill(0).fill(2, 0, 1));
  assert.equal(noPoint.verify(new Uint8Array(64), new Uint8Array()), false);
});

test("a signature verifies over exactly what was signed, and a wrong length never throws", () => {
  const key = offline.privateKeyFromSeed(SEED);
  const message = new Uint8Array([1, 2, 3]);
  const signature = key.sign(message);

  assert.equal(signature.length, offline.SIGNATURE_BYTES);
  assert.ok(key.publicKey.verify(signature, message));
  assert.ok(!key.publicKey.verify(signature, new Uint8Array([1, 2])));
  for (const length of [0, 63, 65]) assert.ok(!key.publicKey.verify(new Uint8Array(length), message));
});

test("a private key shows nothing of its secret", () => {
  const key = offline.privateKeyFromSeed(SEED);
  const shown = inspect(key, { depth: 5, showHidden: true }) + JSON.stringify(key);
  assert.ok(!shown.includes(Buffer.from(SEED).toString("hex")) && !shown.includes("PRIVATE KEY"));
});

test("a key that was saved is loaded again, and never overwritten", () => {
  const path = join(FOLDER, "key.pem");
  const key = offline.generatePrivateKey();

  offline.savePrivateKeyFile(path, key);

  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(offline.loadPrivateKeyFile(path).publicKey.keyId, key.publicKey.keyId);
  assert.throws(() => offline.savePrivateKeyFile(path, offline.generatePrivateKey()), { code: "EEXIST" });
  assert.equal(offline.loadPrivateKeyFile(path).publicKey.keyId, key.publicKey.keyId);
});

test("a key file on which others have any right is refused", () => {
  const path = join(FOLDER, "exposed.pem");
  offline.savePrivateKeyFile(path, offline.generatePrivateKey());
  for (const mode of [0o640, 0o604, 0o620, 0o601]) {
    chmodSync(path, mode);
    assert.throws(() => offline.loadPrivateKeyFile(path), offline.KeyFileExposed);
  }
});

test("what holds no unencrypted Ed25519 key is refused", () => {
  const folder = join(FOLDER, "folder");
  mkdirSync(folder, { mode: 0o700 });
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
    format: "pem",
    type: "pkcs8",
  });
  const encrypted = generateKeyPairSync("ed25519").privateKey.export({
    format: "pem",
    type: "pkcs8",
    cipher: "aes-256-cbc",
    passphrase: "secret",
  });
  assert.throws(() => offline.loadPrivateKeyFile(folder), offline.KeyRefused);
  for (const [index, text] of ["", "no key", other, encrypted].entries()) {
    const path = join(FOLDER, `${index}.pem`);
    writeFileSync(path, text.toString(), { mode: 0o600 });
    assert.throws(() => offline.loadPrivateKeyFile(path), offline.KeyRefused);
  }
  assert.throws(() => offline.loadPrivateKeyFile(join(FOLDER, "absent")), { code: "ENOENT" });
});
