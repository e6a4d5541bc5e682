/** Credentials files: the form that `authority principals add --out` writes. */

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inspect } from "node:util";

import { tlsFromFiles } from "../src/index.js";
import * as offline from "../src/offline/index.js";

const FOLDER = mkdtempSync(join(tmpdir(), "capability-authority-"));
after(() => rmSync(FOLDER, { recursive: true }));

const KEY = offline.privateKeyFromSeed(new Uint8Array(32).fill(3));
const SIGNING = {
  version: 1,
  target: "127.0.0.1:7443",
  issuer: "authority.example",
  audience: "memory.example",
  tenant: { namespace: "cognitum-tenant", id: "acme" },
  principal: { namespace: "workload", id: "committer" },
  key_id: KEY.publicKey.keyId,
  private_key_pem: KEY.toPem(),
};
const { key_id: _keyId, private_key_pem: _pem, ...NOTHING_SHOWN } = SIGNING;

function parsed(members: object): offline.Credentials {
  return offline.parseCredentials(new TextEncoder().encode(JSON.stringify(members)));
}

function fileOf(name: string, text: string, mode = 0o600): string {
  const path = join(FOLDER, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

test("a file is read whole, and its secrets are printed by nothing", () => {
  const path = fileOf("signing.json", JSON.stringify(SIGNING));

  const credentials = offline.readCredentialsFromEnvironment({ AUTHORITY_CREDENTIALS: path });

  assert.equal(credentials.privateKey?.publicKey.keyId, SIGNING.key_id);
  assert.deepEqual([credentials.tenant, credentials.principal], [SIGNING.tenant, SIGNING.principal]);
  assert.equal(credentials.credentialId, "");
  assert.ok(!inspect(credentials, { depth: 9 }).includes("PRIVATE KEY"));
});

test("a file on which others have any right is refused", () => {
  const path = fileOf("exposed.json", JSON.stringify(SIGNING), 0o640);
  assert.throws(() => offline.readCredentialsFile(path), offline.CredentialsExposed);
});

test("what is no credentials file is refused, and the file is named", () => {
  const path = fileOf("broken.json", "{}");
  assert.throws(() => offline.readCredentialsFile(path), {
    name: "CredentialsRefused",
    message: `${path}: version is missing`,
  });
  const absent = join(FOLDER, "absent");
  assert.throws(() => offline.readCredentialsFile(absent), {
    name: "CredentialsRefused",
    message: `${absent} cannot be read: ENOENT`,
  });
  assert.throws(() => offline.readCredentialsFile(FOLDER), offline.CredentialsRefused);
  assert.throws(
    () => offline.readCredentialsFile(fileOf("long.json", " ".repeat(65 * 1024))),
    offline.CredentialsRefused,
  );
  assert.throws(() => offline.readCredentialsFromEnvironment({}), offline.CredentialsRefused);
});

const REFUSED: readonly (readonly [string, object, string])[] = [
  ["another version", { ...SIGNING, version: 2 }, "version 1 is expected, not 2"],
  ["no number as version", { ...SIGNING, version: true }, "version 1 is expected, not true"],
  ["an unknown member", { ...SIGNING, extra: 1 }, "extra is unknown"],
  ["an unknown member of a member", { ...SIGNING, tenant: { ...SIGNING.tenant, x: 1 } }, "tenant.x is unknown"],
  ["an empty text", { ...SIGNING, issuer: "" }, "issuer must be a text that is not empty"],
  ["a list as tenant", { ...SIGNING, tenant: [] }, "tenant must be an object"],
  [
    "another key",
    { ...SIGNING, key_id: `sha256:${"0".repeat(64)}` },
    "key_id is not the thumbprint of private_key_pem",
  ],
  ["no key", { ...SIGNING, private_key_pem: "no key" }, "private_key_pem: not an unencrypted private key in PEM form"],
  ["nothing to show", NOTHING_SHOWN, "key_id is missing"],
];

for (const [name, members, message] of REFUSED) {
  test(`refused: ${name}`, () => {
    assert.throws(() => parsed(members), { name: "CredentialsRefused", message });
  });
}

test("a file that holds no object, or no JSON, is none", () => {
  for (const text of ["null", "[]", "1", "", "{", '{"version":1,"version":1}']) {
    assert.throws(() => offline.parseCredentials(new TextEncoder().encode(text)), offline.CredentialsRefused);
  }
});

test("a token is read for every attempt, from a file that only its owner reads", () => {
  const path = fileOf("token", "one\n");
  const credentials = parsed({ ...NOTHING_SHOWN, bearer_token_file: path });
  assert.equal(credentials.bearerToken?.(), "one");
  writeFileSync(path, "two");
  assert.equal(credentials.bearerToken?.(), "two");
  writeFileSync(path, "two words");
  assert.throws(() => credentials.bearerToken?.(), offline.CredentialsRefused);
  chmodSync(path, 0o644);
  assert.throws(() => credentials.bearerToken?.(), offline.CredentialsExposed);
});

test("a certificate is shown in place of a key, and neither it nor a token is printed", () => {
  const tls = {
    roots_pem: "roots",
    server_name: "authority",
    certificate_pem: "certificate",
    private_key_pem: "SECRET",
  };
  const credentials = parsed({ ...NOTHING_SHOWN, key_id: "credential", tls, bearer_token: "TOKEN" });

  assert.equal(credentials.privateKey, undefined);
  assert.equal(credentials.credentialId, "credential");
  assert.equal(credentials.tls?.client?.privateKeyPem(), "SECRET");
  assert.equal(credentials.bearerToken?.(), "TOKEN");
  assert.doesNotMatch(inspect(credentials, { depth: 9 }) + JSON.stringify(credentials), /SECRET|TOKEN/);
});

test("the private key of a certificate is taken from a file that nobody else can read, and with its certificate", () => {
  const certificate = fileOf("certificate.pem", "CERTIFICATE");
  const privateKey = fileOf("key.pem", "KEY");
  const material = tlsFromFiles({ certificate, privateKey, roots: certificate, serverName: "authority.example" });
  assert.deepEqual([material.rootsPem, material.serverName], ["CERTIFICATE", "authority.example"]);
  assert.deepEqual([material.client?.certificatePem, material.client?.privateKeyPem()], ["CERTIFICATE", "KEY"]);
  assert.deepEqual(tlsFromFiles({}), { rootsPem: undefined, serverName: undefined });

  assert.throws(() => tlsFromFiles({ certificate }), TypeError);
  assert.throws(() => tlsFromFiles({ privateKey }), TypeError);
  chmodSync(privateKey, 0o640);
  assert.throws(() => tlsFromFiles({ certificate, privateKey }), offline.KeyFileExposed);
  const absent = join(FOLDER, "absent.pem");
  assert.throws(() => tlsFromFiles({ certificate, privateKey: absent }), /absent/);
});
