import assert from "node:assert/strict";
import { test } from "node:test";

import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";

import { type CapabilityAuthority, CallerUnauthenticated, ConnectionClosed, type RevocationNews } from "../src/index.js";
import { retryPolicy } from "../src/client/retries.js";
import { RPCS } from "../src/client/rpcs.js";
import { keyedCall } from "../src/client/statuses.js";
import { watched } from "../src/client/watches.js";
import { FeedBroken } from "../src/offline/index.js";
import {
  GetKeySetResponseSchema,
  WatchRevocationsRequestSchema,
  type WatchRevocationsResponse,
  WatchRevocationsResponseSchema,
} from "../src/proto/capability_authority/v1/capability_service_pb.js";
import type { SignedStatement } from "../src/proto/capability_authority/v1/statements_pb.js";
import { KeyPurpose } from "../src/proto/capability_authority/v1/types_pb.js";
import { type Answer, type Answering, answer, answering, arrived, clientOf, refusal } from "./answering.js";
import { heartbeat, keySetOf, known, revocation } from "./authority-keys.js";

const key = known(KeyPurpose.REVOCATION);

function told(revocations: readonly SignedStatement[], beat?: SignedStatement): Uint8Array {
  const more: Partial<WatchRevocationsResponse> = beat === undefined ? {} : { heartbeat: beat };
  return toBinary(
    WatchRevocationsResponseSchema,
    create(WatchRevocationsResponseSchema, { revocations: [...revocations], ...more }),
  );
}

/** A server whose streams, one after the other, are these; the last is repeated. */
async function feed(...streams: readonly Answer[]): Promise<Answering> {
  let opened = 0;
  return answering(({ path }) => {
    if (path.endsWith("/GetKeySet")) {
      return answer(GetKeySetResponseSchema, keySetOf(key));
    }
    opened += 1;
    return streams[Math.min(opened, streams.length) - 1] ?? "hang";
  });
}

function cursors({ calls }: Answering): bigint[] {
  const watches = calls.filter(({ path }) => path.endsWith("/WatchRevocations"));
  return watches.map((call) => arrived(WatchRevocationsRequestSchema, call).cursor);
}

async function first(client: CapabilityAuthority, count: number): Promise<RevocationNews[]> {
  const news = [];
  for await (const one of client.watchRevocations()) {
    news.push(one);
    if (news.length === count) {
      break;
    }
  }
  return news;
}

test("a watch goes on where it was, over streams that end and streams that are cut", async () => {
  const server = await feed(
    { bytes: [told([revocation(key, 1n, 0n), revocation(key, 3n, 1n)])] },
    { bytes: [told([revocation(key, 4n, 3n)])], then: "cut" },
    refusal(Code.Unavailable, "DEPENDENCY_UNAVAILABLE"),
    { bytes: [told([], heartbeat(key, 4n))], then: "hang" },
  );
  const { client } = clientOf(server);

  const news = await first(client, 3);

  assert.deepEqual(
    news.flatMap(({ revoked }) => revoked.map(({ subject }) => subject)),
    ["capability-1", "capability-3", "capability-4"],
  );
  assert.equal(news.at(-1)?.feed.asOfMs, 2_000);
  assert.deepEqual(cursors(server), [0n, 3n, 4n, 4n]);
});

test("what was left out, or is forged, is not told", async () => {
  const gap = await feed({ bytes: [told([revocation(key, 3n, 2n)])], then: "hang" });
  await assert.rejects(first(clientOf(gap).client, 1), FeedBroken);

  const forged = await feed({ bytes: [told([revocation(known(KeyPurpose.REVOCATION), 1n, 0n)])], then: "hang" });
  await assert.rejects(first(clientOf(forged).client, 1), /key/);
});

test("a watch ends when its caller is refused for good, and when it gives up", async () => {
  const refused = await feed(refusal(Code.Unauthenticated, "CALLER_UNAUTHENTICATED"));
  await assert.rejects(first(clientOf(refused).client, 1), CallerUnauthenticated);

  const quiet = await feed({ bytes: [told([], heartbeat(key, 0n))], then: "hang" });
  const { client } = clientOf(quiet);
  const ending = new AbortController();
  const reason = new Error("enough");
  await assert.rejects(async () => {
    for await (const _ of client.watchRevocations({ signal: ending.signal })) {
      ending.abort(reason);
    }
  }, reason);
});

test("streams that bring nothing are followed by pauses that grow; what is told begins them anew", async () => {
  const nothing: Answer = { bytes: [] };
  const server = await feed(
    { bytes: [told([revocation(key, 1n, 0n)])] },
    nothing,
    nothing,
    refusal(Code.Unavailable, "DEPENDENCY_UNAVAILABLE", { retryMs: 7 }),
    { bytes: [told([revocation(key, 2n, 1n)])] },
    refusal(Code.Unavailable, "DEPENDENCY_UNAVAILABLE"),
    { bytes: [told([revocation(key, 3n, 2n)])], then: "hang" },
  );
  const { client, waits } = clientOf(server);

  await first(client, 3);

  assert.deepEqual(waits, [100, 200, 407, 100]);
});

test("a stream that falls silent is taken for cut, and followed by another", async () => {
  const waits: number[] = [];
  let opened = 0;
  async function* connect(signal: AbortSignal): AsyncGenerator<number> {
    opened += 1;
    yield opened;
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cut"))));
  }
  const call = keyedCall(RPCS.get("WatchRevocations")!, create(WatchRevocationsRequestSchema));
  const policy = retryPolicy({ random: () => 0.5, sleep: async (ms) => void waits.push(ms) });
  const taken: number[] = [];

  const watch = watched({ call, connect, takeIn: (one) => taken.push(one), policy, signal: undefined, silenceMs: 5 });
  for await (const one of watch) {
    if (one === 3) {
      break;
    }
  }

  assert.deepEqual(taken, [1, 2]);
  assert.deepEqual(waits, [50, 50]);
});

test("a watch of a client that was closed ends at once", async () => {
  const waits: number[] = [];
  async function* connect(): AsyncGenerator<number> {
    throw new ConnectionClosed();
  }
  const call = keyedCall(RPCS.get("WatchRevocations")!, create(WatchRevocationsRequestSchema));
  const policy = retryPolicy({ sleep: async (ms) => void waits.push(ms) });

  const watch = watched({ call, connect, takeIn: () => undefined, policy, signal: undefined });

  await assert.rejects(watch.next(), ConnectionClosed);
  assert.deepEqual(waits, []);
});
