/** One connection to one authority: sends a call as exactly the bytes that were signed. */

import { randomUUID } from "node:crypto";

import {
  type DescMessage,
  type DescMethod,
  type DescMethodBiDiStreaming,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type Message,
  type MessageShape,
  clone,
  create,
  toBinary,
} from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { Code, type Interceptor, type Transport } from "@connectrpc/connect";
import { Http2SessionManager, createGrpcTransport } from "@connectrpc/connect-node";

import type { Credentials, TlsMaterial } from "../offline/index.js";
import {
  GetKeySetRequestSchema,
  type GetKeySetResponse,
  GetKeySetResponseSchema,
  type StreamCommitValidatedRequest,
  type StreamCommitValidatedResponse,
} from "../proto/capability_authority/v1/capability_service_pb.js";
import { type BatchItem, type Outcome, divided, settle } from "./batches.js";
import type { CallOptions } from "./call-options.js";
import { ConnectionClosed, type TransportError } from "./errors.js";
import { KeySets } from "./key-sets.js";
import { type ProofSources, REAL_SOURCES, provingInterceptor } from "./proofs.js";
import { type RetryPolicy, withRetries } from "./retries.js";
import { type Rpc, pathOf, rpcNamed, rpcOf } from "./rpcs.js";
import { type KeyedCall, errorOf, keyedCall, transportError } from "./statuses.js";
import { type CommitOfStream, type Connect, StreamedItems } from "./streams.js";
import { destinationOf } from "./targets.js";
import { type TraceSource, traceHeaders } from "./tracing.js";
import { userAgent } from "./versions.js";
import { watched } from "./watches.js";

/** A larger request is refused by gRPC on the other side, in a way that leaves it open whether anything happened. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Milliseconds: a call that is sent with less time left cannot be answered. */
const LEAST_TIMEOUT_MS = 1;

/** What a connection is made of. */
export interface ConnectionSettings {
  readonly credentials: Credentials;
  readonly target: string;
  readonly tls: TlsMaterial | undefined;
  readonly retries: RetryPolicy;
  /** For each call, all attempts and waits included. */
  readonly timeoutMs: number;
  readonly pinnedKeyIds: ReadonlySet<string> | undefined;
  readonly trace: TraceSource | undefined;
  /** See every attempt before it is signed; telemetry, for example. */
  readonly interceptors: readonly Interceptor[];
  readonly proofs?: ProofSources;
}

/** The answer of a batch RPC. */
type OutcomesOf<Response extends Message> = Message & { readonly outcomes: readonly Outcome<Response>[] };

/** What the verbs stand on. */
export class Connection {
  /** Who calls, and which authority is believed. */
  readonly credentials: Credentials;
  /** The pinned issuer's keys. */
  protected readonly keySets: KeySets;
  protected readonly retries: RetryPolicy;
  readonly #timeoutMs: number;
  readonly #trace: TraceSource | undefined;
  readonly #sessions: Http2SessionManager;
  readonly #transport: Transport;
  #isClosed = false;

  /** @throws {PlaintextRefused} and {TypeError} as `destinationOf`. */
  constructor(settings: ConnectionSettings) {
    const { credentials, retries } = settings;
    const { baseUrl, nodeOptions } = destinationOf(settings.target, settings.tls);
    this.credentials = credentials;
    this.retries = retries;
    this.#timeoutMs = settings.timeoutMs;
    this.#trace = settings.trace;
    // Pings run only while a call does: a peer that is gone is noticed before the deadline, and idle clients are quiet.
    this.#sessions = new Http2SessionManager(baseUrl, { pingIntervalMs: 20_000, pingTimeoutMs: 5_000 }, nodeOptions);
    this.#transport = createGrpcTransport({
      baseUrl,
      sessionManager: this.#sessions,
      readMaxBytes: MOST_BYTES,
      writeMaxBytes: MOST_BYTES,
      // What the authority does not compress nobody else has to unpack here.
      acceptCompression: [],
      interceptors: [...settings.interceptors, provingInterceptor(credentials, settings.proofs ?? REAL_SOURCES)],
    });
    this.keySets = new KeySets({
      fetch: (options) => this.fetchKeySet(options),
      pinnedIssuer: credentials.issuer,
      pinnedKeyIds: settings.pinnedKeyIds,
      clock: retries.clock,
    });
  }

  /** Close the connection; calls that still run end with `TransportError`. Closing again does nothing. */
  close(): void {
    this.#isClosed = true;
    this.#sessions.abort(new ConnectionClosed());
  }

  /** As `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /**
   * Call any RPC by its method, `CapabilityService.method.getKeySet`, or by its name, "GetKeySet" or longer, with its
   * request message; the response message.
   *
   * An empty `requestId` is filled in, the same for all attempts.
   *
   * @throws {UnknownRpc} for another name.
   * @throws {TypeError} when `request` is not the RPC's request message, and for a stream.
   * @throws {AuthorityError}
   */
  async call<I extends DescMessage, O extends DescMessage>(
    rpc: DescMethodUnary<I, O>,
    request: MessageShape<I>,
    options?: CallOptions,
  ): Promise<MessageShape<O>>;
  async call(rpc: string, request: Message, options?: CallOptions): Promise<Message>;
  async call(rpc: string | DescMethodUnary, request: Message, options: CallOptions = {}): Promise<Message> {
    const known = rpcNamed(typeof rpc === "string" ? rpc : pathOf(rpc));
    if (request.$typeName !== known.method.input.typeName) {
      throw new TypeError(`${known.name} takes ${known.method.input.typeName}, not ${request.$typeName}`);
    }
    return this.#sendAny(known, request, options);
  }

  /** One logical call: the same bytes and key in every attempt, a proof of its own for each. */
  protected async send<O extends Message>(request: Message, output: GenMessage<O>, options: CallOptions): Promise<O> {
    const response = await this.#sendAny(rpcOf(request), request, options);
    if (response.$typeName !== output.typeName) {
      throw new TypeError(`${request.$typeName} is answered by ${response.$typeName}, not by ${output.typeName}`);
    }
    return response as O;
  }

  /** What the authority says of its keys and versions, unjudged. */
  protected async fetchKeySet(options: CallOptions): Promise<GetKeySetResponse> {
    return this.send(create(GetKeySetRequestSchema), GetKeySetResponseSchema, options);
  }

  /** Have every item answered, by as few calls of a batch RPC as its limits allow, one after the other. */
  protected async sendBatch<Request extends Message, Response extends Message, O extends OutcomesOf<Response>>(
    rpc: Rpc,
    items: readonly BatchItem<Request, Response>[],
    requestOf: (requests: readonly Request[]) => Message,
    _output: GenMessage<O>,
    options: CallOptions,
  ): Promise<void> {
    const { signal, timeoutMs = this.#timeoutMs } = options;
    signal?.throwIfAborted();
    const headers = this.#headers(options);
    const deadline = this.now() + timeoutMs;
    const ask = async (some: readonly BatchItem<Request, Response>[], ms: number) => {
      const request = requestOf(some.map((item) => item.request));
      const call = keyedCall(rpc, request);
      const { outcomes } = (await this.#attempt(call, request, headers, ms, signal)) as O;
      if (outcomes.length !== some.length) {
        throw transportError(call, `the answer has ${outcomes.length} outcomes for ${some.length} requests`);
      }
      return outcomes;
    };
    for (const item of items) {
      item.answer = tooLarge(item.call, item.bytesInBatch);
    }
    for (const part of divided(items.filter((item) => item.isOpen))) {
      await settle(part, ask, { ms: deadline - this.now(), policy: this.retries, signal });
    }
  }

  /** Have every commit of the source answered, over streams that each have a proof of their own. */
  protected streamCommits<Item extends CommitOfStream>(
    source: AsyncIterable<Item>,
    options: CallOptions & { readonly window: number },
  ): AsyncGenerator<Item, void, undefined> {
    const { window, signal, timeoutMs = this.#timeoutMs } = options;
    const rpc = rpcNamed("StreamCommitValidated");
    const call: KeyedCall = { rpc, keyField: "", key: "" };
    const headers = this.#headers(options);
    const settings = { window, ms: timeoutMs, policy: this.retries, signal };
    const connect: Connect = (requests, opened, ending) => this.#exchange(rpc, requests, headers, opened, ending);
    return new StreamedItems(call, sized(source), connect, settings).settled();
  }

  /** One stream of requests and answers. */
  async *#exchange(
    { name, method }: Rpc,
    requests: AsyncIterable<StreamCommitValidatedRequest>,
    headers: Readonly<Record<string, string>>,
    opened: () => void,
    signal: AbortSignal,
  ): AsyncGenerator<StreamCommitValidatedResponse, void, undefined> {
    if (this.#isClosed) {
      throw new ConnectionClosed();
    }
    if (!isExchange(method)) {
      throw new TypeError(`${name} takes no stream`);
    }
    const { message } = await this.#transport.stream(method, signal, undefined, headers, requests);
    opened();
    yield* message as AsyncIterable<StreamCommitValidatedResponse>;
  }

  /** What a watch tells, over as many streams as it takes; `takeIn` moves the request on after each message. */
  protected watch<O extends Message>(
    request: Message,
    _output: GenMessage<O>,
    takeIn: (told: O) => void,
    options: CallOptions,
  ): AsyncGenerator<O, void, undefined> {
    const rpc = rpcOf(request);
    const call = keyedCall(rpc, request);
    const { signal } = options;
    const headers = this.#headers(options);
    const connect = (ending: AbortSignal): AsyncIterable<O> => this.#stream(call, request, headers, ending);
    return watched<O>({ call, connect, takeIn, policy: this.retries, signal });
  }

  /** Options for what is left of the time of a verb that starts now and makes several calls. */
  protected started(options: CallOptions): () => CallOptions {
    const deadline = this.now() + (options.timeoutMs ?? this.#timeoutMs);
    return () => ({ ...options, timeoutMs: Math.max(deadline - this.now(), LEAST_TIMEOUT_MS) });
  }

  /** Milliseconds that never go back. */
  protected now(): number {
    return this.retries.clock();
  }

  async #sendAny(rpc: Rpc, asked: Message, options: CallOptions): Promise<Message> {
    const { signal, timeoutMs = this.#timeoutMs } = options;
    signal?.throwIfAborted();
    const request = withRequestId(rpc.method.input, asked);
    const call = keyedCall(rpc, request);
    requireSendable(call, request);
    const headers = this.#headers(options);
    return withRetries((ms) => this.#attempt(call, request, headers, ms, signal), {
      timeoutMs,
      policy: this.retries,
      signal,
    });
  }

  /** One stream of answers to one request, as it is now. */
  async *#stream<O extends Message>(
    { rpc }: KeyedCall,
    request: Message,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): AsyncGenerator<O, void, undefined> {
    if (this.#isClosed) {
      throw new ConnectionClosed();
    }
    if (!isServerStreaming(rpc.method)) {
      throw new TypeError(`${rpc.name} is no watch`);
    }
    const { message } = await this.#transport.stream(rpc.method, signal, undefined, headers, each([request]));
    yield* message as AsyncIterable<O>;
  }

  #headers({ traceparent }: CallOptions): Readonly<Record<string, string>> {
    return { "user-agent": userAgent(), ...traceHeaders(traceparent, this.#trace) };
  }

  async #attempt(
    call: KeyedCall,
    request: Message,
    headers: Readonly<Record<string, string>>,
    ms: number,
    signal: AbortSignal | undefined,
  ): Promise<Message> {
    const { method } = call.rpc;
    if (this.#isClosed) {
      throw new ConnectionClosed();
    }
    if (!isUnary(method)) {
      throw new TypeError(`${call.rpc.name} is a stream, not a call`);
    }
    try {
      // The header that carries it takes whole numbers.
      const timeoutMs = Math.max(Math.floor(ms), LEAST_TIMEOUT_MS);
      const sent = this.#transport.unary(method, signal, timeoutMs, headers, request);
      return (await sent).message;
    } catch (error) {
      // Our own caller gave up: it knows why.
      signal?.throwIfAborted();
      throw errorOf(call, error);
    }
  }
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

function isServerStreaming(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === "server_streaming";
}

function isExchange(method: DescMethod): method is DescMethodBiDiStreaming {
  return method.methodKind === "bidi_streaming";
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

/** The request, or a copy of it with a new id where it has room for one and none is set. */
function withRequestId(schema: DescMessage, request: Message): Message {
  if (schema.field["requestId"] === undefined || (request as { readonly requestId?: string }).requestId) {
    return request;
  }
  return Object.assign(clone(schema, request as MessageShape<typeof schema>), { requestId: randomUUID() });
}

/** The items, with their answer where they are too large to be sent. */
async function* sized<Item extends CommitOfStream>(source: AsyncIterable<Item>): AsyncGenerator<Item, void, undefined> {
  for await (const item of source) {
    item.answer = tooLarge(item.call, item.bytesInBatch);
    yield item;
  }
}

function requireSendable(call: KeyedCall, request: Message): void {
  const refused = tooLarge(call, toBinary(call.rpc.method.input, request).length);
  if (refused !== undefined) {
    throw refused;
  }
}

function tooLarge(call: KeyedCall, size: number): TransportError | undefined {
  if (size <= MOST_BYTES) {
    return undefined;
  }
  const sentence = `not sent: the request has ${size} bytes, ${MOST_BYTES} are the most that gRPC takes`;
  return transportError(call, sentence, Code.ResourceExhausted);
}
