/** A gRPC server for tests that sees each call as the bytes it came in, and answers as it is told. */

import { type IncomingHttpHeaders, type ServerHttp2Stream, createServer } from "node:http2";
import { after } from "node:test";

import { type DescMessage, type MessageShape, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyPack, durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, encodeBinaryHeader } from "@connectrpc/connect";

import { CapabilityAuthority, type ConnectOptions } from "../src/index.js";
import { type Credentials, generatePrivateKey } from "../src/offline/index.js";
import { ErrorInfoSchema, RetryInfoSchema } from "../src/proto/google/rpc/error_details_pb.js";
import { type Status, StatusSchema } from "../src/proto/google/rpc/status_pb.js";

/** A call as it arrived. */
export interface Arrived {
  /** "/package.Service/Method". */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The request message exactly as it was sent. */
  readonly bytes: Uint8Array;
}

/** How a call is answered: with messages, with a status, not at all, or by cutting the connection. */
export type Answer =
  | { readonly bytes: readonly Uint8Array[]; readonly then?: "end" | "hang" | "cut" }
  | { readonly status: Status }
  | "hang"
  | "cut";

/** A server that runs until the tests have ended. */
export interface Answering {
  /** "127.0.0.1:PORT" or "unix:PATH". */
  readonly target: string;
  /** All calls so far, in order. */
  readonly calls: Arrived[];
}

/** Starts a server that answers every call by `script`; at a free port of this machine, or at a Unix socket. */
export async function answering(
  script: (call: Arrived, number: number) => Answer,
  socket?: string,
): Promise<Answering> {
  const calls: Arrived[] = [];
  const server = createServer();
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream, headers) => {
    const chunks: Uint8Array[] = [];
    stream.on("error", () => undefined);
    stream.on("data", (chunk: Buffer) => chunks.push(new Uint8Array(chunk)));
    stream.on("end", () => {
      // One message without compression: a flag and four bytes of length before it.
      const call = { path: String(headers[":path"]), headers, bytes: joined(chunks).slice(5) };
      calls.push(call);
      give(stream, script(call, calls.length));
    });
  });
  const where = socket === undefined ? { port: 0, host: "127.0.0.1" } : { path: socket };
  await new Promise<void>((resolve) => server.listen(where, resolve));
  after(() => {
    sessions.forEach((session) => session.destroy());
    server.close();
  });
  const address = server.address();
  if (address === null) {
    throw new Error("the server has no address");
  }
  return { target: typeof address === "string" ? `unix:${address}` : `127.0.0.1:${address.port}`, calls };
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function give(stream: ServerHttp2Stream, answer: Answer): void {
  // A caller that gave up meanwhile has no use for an answer.
  if (answer === "hang" || stream.destroyed) {
    return;
  }
  if (answer === "cut") {
    stream.session?.destroy();
    return;
  }
  const head = { ":status": 200, "content-type": "application/grpc+proto" };
  if ("status" in answer) {
    const details = encodeBinaryHeader(answer.status, StatusSchema);
    const code = String(answer.status.code);
    stream.respond({ ...head, "grpc-status": code, "grpc-status-details-bin": details }, { endStream: true });
    return;
  }
  stream.respond(head, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  for (const bytes of answer.bytes) {
    const prefix = new Uint8Array(5);
    new DataView(prefix.buffer).setUint32(1, bytes.length);
    stream.write(prefix);
    stream.write(bytes);
  }
  if (answer.then === "cut") {
    // Once what was written is on its way.
    stream.write(Buffer.alloc(0), () => setImmediate(() => stream.session?.destroy()));
  } else if (answer.then !== "hang") {
    stream.end();
  }
}

/** The answer that holds this message. */
export function answer<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): Answer {
  return { bytes: [toBinary(schema, message)] };
}

/** A refusal as the authority makes it. */
export function refusal(
  code: Code,
  reason: string,
  { metadata = {}, retryMs }: { readonly metadata?: Record<string, string>; readonly retryMs?: number } = {},
): Answer {
  const info = create(ErrorInfoSchema, { reason, domain: "capability-authority", metadata });
  const details = [anyPack(ErrorInfoSchema, info)];
  if (retryMs !== undefined) {
    details.push(anyPack(RetryInfoSchema, create(RetryInfoSchema, { retryDelay: durationFromMs(retryMs) })));
  }
  return { status: create(StatusSchema, { code, message: `refused: ${reason}`, details }) };
}

/** The message that arrived. */
export function arrived<Desc extends DescMessage>(schema: Desc, call: Arrived | undefined): MessageShape<Desc> {
  if (call === undefined) {
    throw new Error("no such call arrived");
  }
  return fromBinary(schema, call.bytes);
}

/** Credentials that name no server. */
export function someCredentials(changes: Partial<Credentials> = {}): Credentials {
  return {
    target: "127.0.0.1:1",
    issuer: "authority.test",
    audience: "memory.test",
    tenant: { namespace: "test", id: "one" },
    principal: { namespace: "test", id: "service" },
    privateKey: generatePrivateKey(),
    credentialId: "",
    ...changes,
  };
}

/** A client of the server, closed after the tests. It waits for nothing: `waits` has what it would have waited for. */
export function clientOf(
  server: Answering,
  options: ConnectOptions = {},
): { readonly client: CapabilityAuthority; readonly waits: number[]; readonly pass: (ms: number) => void } {
  const waits: number[] = [];
  let now = 0;
  const client = CapabilityAuthority.connect({
    credentials: someCredentials(),
    target: server.target,
    ...options,
    retries: {
      random: () => 0.5,
      // As a clock does, it never tells the same time twice.
      clock: () => (now += 0.001),
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        waits.push(ms);
        now += ms;
      },
      ...options.retries,
    },
  });
  after(() => client.close());
  return { client, waits, pass: (ms) => void (now += ms) };
}
