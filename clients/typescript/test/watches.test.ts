import assert from "node:assert/strict";
import { test } from "node:test";

import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";

import { type CapabilityAuthority, CallerUnauthenticated, type RevocationNews } from "../src/index.js";
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
