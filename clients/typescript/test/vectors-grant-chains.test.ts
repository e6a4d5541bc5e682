import assert from "node:assert/strict";

import * as offline from "../src/offline/index.js";
import { everyVector, wordOf } from "./golden/running.js";
import { keySetOfGroup, UNDER_KEYS, type UnderKeys } from "./golden/key-sets.js";
import { hex } from "./golden/vectors.js";

interface Chain {
  readonly chain: readonly string[];
  readonly now_ms: number;
  readonly use: Use | null;
  /** The dimension, or the malformed field; null where there is none. */
  readonly field: string | null;
}

interface Use {
  readonly action: string;
  readonly audience: string;
  readonly resource: string | null;
  readonly read_memory_namespace: string | null;
  readonly write_memory_namespace: string | null;
  readonly tool: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly usd_micros: number;
  readonly tokens: number;
  readonly latency_ms: number;
  readonly concurrency: number;
  readonly uses: number;
  readonly network: boolean;
  readonly destructive: boolean;
}

const USE_MEMBERS = 15;

everyVector<Chain, UnderKeys>(
  "grant_chains",
  { group: UNDER_KEYS, vector: ["chain", "field", "now_ms", "use"] },
  (vector, group) => {
    const chain = vector.chain.map((digits) => offline.parseStatement(hex(digits)));
    const options = { nowMs: vector.now_ms, use: vector.use === null ? undefined : useOf(vector.use) };
    try {
      const verified = offline.verifyGrantChain(chain, keySetOfGroup(group), options);
      assert.deepEqual(verified.digests, chain.map(offline.digestOf));
      assert.equal(vector.field, null);
      return null;
    } catch (error) {
      const word = wordOf(error);
      assert.equal(fieldOf(error), vector.field);
      return word;
    }
  },
);

function fieldOf(error: unknown): string | null {
  if (error instanceof offline.GrantExceeded) return error.dimension;
  const hasPath = error instanceof offline.GrantMalformed || error instanceof offline.UnreadableStatement;
  return hasPath && error.path !== "" ? error.path : null;
}

function useOf(use: Use): offline.GrantUse {
  assert.equal(Object.keys(use).length, USE_MEMBERS, "a need that is not known");
  return {
    action: use.action,
    audience: use.audience,
    resource: use.resource ?? undefined,
    readMemoryNamespace: use.read_memory_namespace ?? undefined,
    writeMemoryNamespace: use.write_memory_namespace ?? undefined,
    tool: use.tool ?? undefined,
    provider: use.provider ?? undefined,
    model: use.model ?? undefined,
    usdMicros: use.usd_micros,
    tokens: use.tokens,
    latencyMs: use.latency_ms,
    concurrency: use.concurrency,
    uses: use.uses,
    network: use.network,
    destructive: use.destructive,
  };
}
