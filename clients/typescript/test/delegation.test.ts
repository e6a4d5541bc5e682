/** Handing a grant on without a server, ever narrower. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { grantTerms } from "../src/index.js";
import * as offline from "../src/offline/index.js";
import { GrantSchema } from "../src/proto/capability_authority/v1/statements_pb.js";
import { keySetOf, messageNamed, NOW_MS, signerOf, statementNamed } from "./golden/samples.js";

const ROOT = statementNamed("grant");
const PARENT = messageNamed(GrantSchema, "grant");
const HOLDER_KEY = signerOf("derived-grant");
const AGENT_KEY = offline.privateKeyFromSeed(new Uint8Array(32).fill(5));
const NONCE = new Uint8Array(16).fill(1);
const AGENT = { namespace: "ruflo-agent", id: "helper" };

function handedOn(narrower: offline.Narrower = {}, more: Partial<offline.Delegation> = {}): offline.GrantChain {
  const delegation = { holder: AGENT, boundTo: AGENT_KEY.publicKey, nonce: NONCE, narrower, ...more };
  const child = offline.delegate(ROOT, HOLDER_KEY, delegation);
  return offline.verifyGrantChain([ROOT, child], keySetOf("grant"), { nowMs: NOW_MS });
}

test("a child says everything again, and verifies below its parent", () => {
  const chain = handedOn();
  assert.deepEqual(chain.presented.actions, PARENT.actions);
  assert.deepEqual(chain.presented.usdMicros, PARENT.usdMicros);
  assert.equal(chain.presented.delegationDepth, PARENT.delegationDepth - 1);
  assert.deepEqual(chain.actors, [{ namespace: "workload", id: "committer" }, AGENT]);
  assert.equal(chain.holderKey, AGENT_KEY.publicKey.keyId);
});

test("a child is narrower where it is told so", () => {
  const expireMs = NOW_MS + 60_000;
  const { presented } = handedOn({
    actions: [],
    resources: ["docs/a/*"],
    uses: 3,
    tokens: 5n,
    expireMs,
    delegationDepth: 0,
  });
  assert.deepEqual(presented.actions?.names, []);
  assert.deepEqual(presented.resources?.names, ["docs/a/*"]);
  assert.deepEqual([presented.uses?.most, presented.tokens?.most], [3n, 5n]);
  assert.equal(offline.instantMs(presented.expireTime), expireMs);
});

test("a grandchild is derived from the child alone, by whom the child binds", () => {
  const delegation = { holder: AGENT, boundTo: AGENT_KEY.publicKey, nonce: NONCE };
  const child = offline.delegate(ROOT, HOLDER_KEY, delegation);
  const grandchild = offline.delegate(child, AGENT_KEY, { ...delegation, nonce: NONCE.map(() => 2) });

  offline.verifyGrantChain([ROOT, child, grandchild], keySetOf("grant"), { nowMs: NOW_MS });
  assert.throws(
    () => offline.verifyGrantChain([ROOT, grandchild], keySetOf("grant"), { nowMs: NOW_MS }),
    offline.SignatureInvalid,
  );
  assert.throws(() => offline.delegate(grandchild, AGENT_KEY, delegation), {
    name: "GrantExceeded",
    dimension: "delegation_depth",
  });
});

const WIDER: readonly (readonly [offline.Narrower, string])[] = [
  [{ audiences: ["elsewhere"] }, "audiences"],
  [{ actions: ["evidence.read"] }, "actions"],
  [{ resources: ["docs1/a"] }, "resources"],
  [{ readMemoryNamespaces: ["team"] }, "read_memory_namespaces"],
  [{ writeMemoryNamespaces: ["team/*"] }, "write_memory_namespaces"],
  [{ tools: ["shell"] }, "tools"],
  [{ providers: ["remote"] }, "providers"],
  [{ models: ["large/x"] }, "models"],
  [{ usdMicros: 5_000_001 }, "usd_micros"],
  [{ tokens: 1_000_001n }, "tokens"],
  [{ latencyMs: 30_001 }, "latency_ms"],
  [{ concurrency: 5 }, "concurrency"],
  [{ uses: 101 }, "uses"],
  [{ network: true }, "network"],
  [{ destructive: true }, "destructive"],
  [{ notBeforeMs: offline.instantMs(PARENT.notBeforeTime) - 1 }, "not_before_time"],
  [{ expireMs: offline.instantMs(PARENT.expireTime) + 1 }, "expire_time"],
  [{ delegationDepth: 2 }, "delegation_depth"],
];

for (const [narrower, dimension] of WIDER) {
  test(`i15 a child is not wider in ${dimension}`, () => {
    const delegation = { holder: AGENT, boundTo: AGENT_KEY.publicKey, nonce: NONCE, narrower };
    // It is not even made: who hands on learns it before anybody relies on it.
    assert.throws(() => offline.delegate(ROOT, HOLDER_KEY, delegation), { name: "GrantExceeded", dimension });
  });
}

const MALFORMED: readonly (readonly [offline.Narrower, Partial<offline.Delegation>, string])[] = [
  [{}, { nonce: new Uint8Array(15) }, "nonce"],
  [{}, { holder: { namespace: "", id: "x" } }, "holder"],
  [{}, { boundTo: new Uint8Array(31) }, "holder_key"],
  [{ delegationDepth: -1 }, {}, "delegation_depth"],
  [{ uses: -1 }, {}, "uses"],
  [{ uses: 1.5 }, {}, "uses"],
  [{ tools: ["a*"] }, {}, "tools"],
  [{ actions: ["memory.propose", "memory.propose"] }, {}, "actions"],
  [{ correlationId: "two words" }, {}, "correlation_id"],
];

for (const [narrower, more, path] of MALFORMED) {
  test(`no grant says so: ${path}`, () => {
    assert.throws(() => handedOn(narrower, more), { name: "GrantMalformed", path });
  });
}

test("what is asked for is said in whole numbers, of either kind", () => {
  assert.equal(grantTerms({ uses: 2 }).uses?.most, 2n);
  assert.equal(grantTerms({ uses: 2n }).uses?.most, 2n);
  assert.throws(() => grantTerms({ uses: 1.5 }), { name: "GrantMalformed", path: "uses" });
});

test("only the parent's holder hands on", () => {
  const delegation = { holder: AGENT, boundTo: AGENT_KEY.publicKey, nonce: NONCE };
  assert.throws(() => offline.delegate(ROOT, AGENT_KEY, delegation), offline.SignatureInvalid);
  assert.throws(
    () => offline.delegate(statementNamed("commit-capability"), HOLDER_KEY, delegation),
    offline.PayloadTypeMismatch,
  );
});

test("who is bound by a digest alone hands nothing on", () => {
  const boundTo = new Uint8Array(32).fill(9);
  const delegation = { holder: AGENT, boundTo, nonce: NONCE };
  const child = offline.delegate(ROOT, HOLDER_KEY, delegation);
  assert.equal(handedOn({}, { boundTo }).holderKey, offline.toWire(boundTo));
  assert.throws(() => offline.delegate(child, AGENT_KEY, delegation), offline.SignatureInvalid);
});

test("a chain has one to nine grants, and no more bytes than a call may carry", () => {
  const verify = (chain: readonly ReturnType<typeof statementNamed>[]): unknown =>
    offline.verifyGrantChain(chain, keySetOf("grant"), { nowMs: NOW_MS });
  const large = { ...ROOT, payload: new Uint8Array(offline.MAX_CHAIN_BYTES + 1) };
  for (const chain of [[], Array.from({ length: 10 }, () => ROOT), [large]]) {
    assert.throws(() => verify(chain), { name: "GrantMalformed", path: "chain" });
  }
});

test("a use asks for one use unless it says otherwise, and for nothing else that it does not name", () => {
  const use = { action: "memory.propose", audience: "memory.example" };
  const child = offline.delegate(ROOT, HOLDER_KEY, {
    holder: AGENT,
    boundTo: AGENT_KEY.publicKey,
    nonce: NONCE,
    narrower: { uses: 0, tokens: 0, tools: [], network: false },
  });
  const verify = (asked: offline.GrantUse): unknown =>
    offline.verifyGrantChain([ROOT, child], keySetOf("grant"), { nowMs: NOW_MS, use: asked });
  assert.throws(() => verify(use), { name: "GrantExceeded", dimension: "uses" });
  verify({ ...use, uses: 0 });
  assert.throws(() => verify({ ...use, uses: 0, tokens: Number.NaN }), { name: "GrantExceeded", dimension: "tokens" });
  assert.throws(() => verify({ ...use, uses: 0, network: true }), { name: "GrantExceeded", dimension: "network" });
});
