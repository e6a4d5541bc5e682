import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { inspect } from "node:util";

import { CapabilityAuthority, type ConnectOptions, tlsFromFiles, TransportError } from "../../../src/index.js";
import { readCredentialsFile } from "../../../src/offline/index.js";
import { member, ready, setting } from "../team.js";

const target = setting("AUTHORITY_TLS_TARGET");
const loader = readCredentialsFile(join(setting("AUTHORITY_CERTIFICATES"), "desk-loader.json"));

function connected(options: ConnectOptions): CapabilityAuthority {
  const client = CapabilityAuthority.connect({ timeoutMs: 30_000, target, ...options });
  after(() => client.close());
  return client;
}

function file(name: string): string {
  return join(setting("AUTHORITY_CERTIFICATES"), name);
}

test("a holder that shows a certificate does all that a signing one does", async () => {
  const user = member("user");
  const holder = connected({ credentials: loader });
  const content = "The harbour office opens at eight.";

  const { capability } = await ready(user, holder, content);
  const committed = await holder.commit(capability, { content });

  assert.equal(committed.receipt.says?.capability?.holder?.id, "loader");
  assert.equal((await holder.commit(capability, { content })).replayed, true);
});

test("the same from files of certificate and key", async () => {
  const tls = tlsFromFiles({
    roots: file("ca.pem"),
    certificate: file("desk-loader.pem"),
    privateKey: file("desk-loader-key.pem"),
  });
  const holder = connected({ credentials: { ...loader, tls } });

  assert.notEqual((await holder.versions()).service, "");
});

test("a server that nobody trusted vouches for, or that is named otherwise, is not called", async () => {
  const options = { retries: { attempts: 1 } };
  const publicRoots = connected({ credentials: loader, tls: { ...loader.tls, rootsPem: undefined }, ...options });
  await assert.rejects(publicRoots.versions(), TransportError);

  const otherName = connected({ credentials: loader, tls: { ...loader.tls, serverName: "other.example" }, ...options });
  await assert.rejects(otherName.versions(), TransportError);
});

test("a caller that shows no certificate is not served, and secrets are not shown", async () => {
  const bare = connected({ credentials: loader, tls: { rootsPem: loader.tls?.rootsPem }, retries: { attempts: 1 } });
  await assert.rejects(bare.versions(), TransportError);

  assert.doesNotMatch(inspect(bare, { depth: 9, showHidden: true }), /PRIVATE KEY/);
  assert.doesNotMatch(inspect(connected({ credentials: loader }), { depth: 9 }), /PRIVATE KEY/);
});
