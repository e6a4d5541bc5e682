import assert from "node:assert/strict";
import { type ServerHttp2Stream, createServer } from "node:http2";
import { after, test } from "node:test";

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";

import { CapabilityAuthority, DeadlineExceeded, type StreamedCommit, TransportError } from "../src/index.js";
import {
  StreamCommitValidatedRequestSchema,
  StreamCommitValidatedResponseSchema,
} from "../src/proto/capability_authority/v1/capability_service_pb.js";
import { KeyPurpose } from "../src/proto/capability_authority/v1/types_pb.js";
import { someCredentials } from "./answering.js";
import { CONTENT, capability, known } from "./authority-keys.js";

const issuing = known(KeyPurpose.CAPABILITY);

/** A commit as it arrived, and the stream that it came by. */
interface Arrival {
  readonly key: string;
  readonly tag: bigint;
  readonly stream: ServerHttp2Stream;
}

/** A server of streams: `script` is told of each commit, with the number of its stream from 1. */
async function streaming(script: (arrival: Arrival, streamNumber: number) => void) {
  const arrived: string[][] = [];
  const server = createServer();
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream) => {
    const number = arrived.push([]);
    stream.on("error", () => undefined);
    stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    let rest = new Uint8Array();
    stream.on("data", (chunk: Buffer) => {
      rest = Uint8Array.from([...rest, ...chunk]);
      for (let size = sizeOf(rest); size !== undefined && rest.length >= size; size = sizeOf(rest)) {
        const { tag, commit } = fromBinary(StreamCommitValidatedRequestSchema, rest.slice(5, size));
        rest = rest.slice(size);
        const key = commit?.presentation?.commitIdempotencyKey ?? "";
        arrived[number - 1]?.push(key);
        script({ key, tag, stream }, number);
      }
    });
    stream.on("end", () => stream.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("the server has no port");
  }
  const client = CapabilityAuthority.connect({
    credentials: someCredentials(),
    target: `127.0.0.1:${address.port}`,
    retries: { firstDelayMs: 1, longestDelayMs: 1 },
    timeoutMs: 30_000,
  });
  after(() => {
    client.close();
    sessions.forEach((session) => session.destroy());
    server.close();
  });
  return { client, arrived };
}

/** The bytes of the first message, with what stands before them; undefined while not even that is there. */
function sizeOf(bytes: Uint8Array): number | undefined {
  return bytes.length < 5 ? undefined : 5 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
}

function settle({ key, tag, stream }: Arrival): void {
  const outcome = { outcome: { case: "result", value: { recordId: `record of ${key}` } } } as const;
  const response = create(StreamCommitValidatedResponseSchema, { tag, outcome });
  const bytes = toBinary(StreamCommitValidatedResponseSchema, response);
  const prefix = new Uint8Array(5);
  new DataView(prefix.buffer).setUint32(1, bytes.length);
  stream.write(prefix);
  stream.write(bytes);
}

function commits(...keys: readonly string[]) {
  return keys.map((key) => ({ capability: capability(issuing, { commitIdempotencyKey: key }), content: CONTENT }));
}

async function all(items: AsyncIterable<StreamedCommit>): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { commitIdempotencyKey, outcome } of items) {
    assert.equal(found[commitIdempotencyKey], undefined, "came out twice");
    found[commitIdempotencyKey] = outcome instanceof Error ? outcome.name : outcome.recordId;
  }
  return found;
}

const DONE = { a: "record of a", b: "record of b", c: "record of c" };

test("what a stream ends without having answered goes over the next, under the same keys", async () => {
  const { client, arrived } = await streaming((arrival, number) => {
    if (number === 1 && arrival.key === "a") {
      settle(arrival);
    } else if (number === 1 && arrival.key === "c") {
      arrival.stream.end();
    } else if (number === 2 && arrival.key === "c") {
      arrival.stream.session?.destroy();
    } else if (number > 2) {
      settle(arrival);
    }
  });

  assert.deepEqual(await all(client.commitStream(commits("a", "b", "c"), { verify: false })), DONE);
  assert.deepEqual(arrived, [
    ["a", "b", "c"],
    ["b", "c"],
    ["b", "c"],
  ]);
});

test("no more are taken than the window has room for", async () => {
  let taken = 0;
  const { client } = await streaming((arrival) => settle(arrival));
  function* counted() {
    for (const commit of commits("a", "b", "c")) {
      taken += 1;
      yield commit;
    }
  }

  for await (const { commitIdempotencyKey } of client.commitStream(counted(), { verify: false, window: 1 })) {
    // With the one that is handed over there is room for one more.
    assert(taken <= "abc".indexOf(commitIdempotencyKey) + 2);
  }
  assert.equal(taken, 3);
});

test("a commit whose time is up comes out in doubt, and after enough attempts, too", async () => {
  const silent = await streaming((arrival) => (arrival.key === "first" ? settle(arrival) : undefined));
  let isOpen = (): void => undefined;
  const open = new Promise<void>((resolve) => (isOpen = resolve));
  async function* onceOpen() {
    yield* commits("first");
    await open;
    yield* commits("a");
  }
  for await (const { commitIdempotencyKey, outcome } of silent.client.commitStream(onceOpen(), {
    verify: false,
    timeoutMs: 1_500,
  })) {
    isOpen();
    if (commitIdempotencyKey === "a") {
      assert(outcome instanceof DeadlineExceeded);
      assert.deepEqual([outcome.outcomeUnknown, outcome.key], [true, "a"]);
    }
  }

  const cutting = await streaming(({ stream }) => stream.session?.destroy());
  for await (const { outcome } of cutting.client.commitStream(commits("a"), { verify: false })) {
    assert(outcome instanceof TransportError);
    assert.deepEqual([outcome.outcomeUnknown, outcome.attempts], [true, 5]);
  }
});

test("what the source throws is told once everything that was taken has come out", async () => {
  const { client } = await streaming((arrival) => settle(arrival));
  const broken = new Error("the source broke");
  async function* breaking() {
    yield* commits("a", "b");
    throw broken;
  }
  const came: string[] = [];

  await assert.rejects(async () => {
    for await (const { commitIdempotencyKey } of client.commitStream(breaking(), { verify: false })) {
      came.push(commitIdempotencyKey);
    }
  }, broken);
  assert.deepEqual(came, ["a", "b"]);
});

test("whoever leaves or gives up is not kept waiting, be the source or the authority silent", async () => {
  const { client } = await streaming((arrival) => (arrival.key === "a" ? settle(arrival) : undefined));
  async function* endless() {
    yield* commits("a", "b");
    await new Promise(() => undefined);
  }

  for await (const { commitIdempotencyKey } of client.commitStream(endless(), { verify: false })) {
    assert.equal(commitIdempotencyKey, "a");
    break;
  }
  const giving = new AbortController();
  const reason = new Error("enough");
  await assert.rejects(async () => {
    for await (const _ of client.commitStream(endless(), { verify: false, signal: giving.signal })) {
      giving.abort(reason);
    }
  }, reason);
});

test("nothing is asked for nothing", async () => {
  const { client, arrived } = await streaming((arrival) => settle(arrival));

  assert.deepEqual(await all(client.commitStream([], { verify: false })), {});
  assert.deepEqual(arrived, []);
  await assert.rejects(all(client.commitStream(commits("a"), { verify: false, window: 0 })), RangeError);
});
