/** From the status of a failed RPC to the error that says it (architecture, Errors). */

import { type DescMessage, type Message, fromBinary } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { reflect } from "@bufbuild/protobuf/reflect";
import { Code, ConnectError } from "@connectrpc/connect";

import { ErrorInfoSchema, RetryInfoSchema } from "../proto/google/rpc/error_details_pb.js";
import type { Status } from "../proto/google/rpc/status_pb.js";
import { type AuthorityError, BY_REASON, DeadlineExceeded, TransportError, UnknownReason } from "./errors.js";
import type { Failure } from "./failures.js";
import type { Rpc } from "./rpcs.js";

/** `google.rpc.ErrorInfo.domain` of every refusal that is the authority's own. */
const DOMAIN = "capability-authority";

/** A call, and the key that makes another try of it the same request. */
export interface KeyedCall {
  readonly rpc: Rpc;
  /** The request field that holds the key; empty for a read. */
  readonly keyField: string;
  readonly key: string;
}

/** The call of `request`; without a key for a read. In a batch each of its requests has its own. */
export function keyedCall(rpc: Rpc, request: Message): KeyedCall {
  if (!rpc.changesState) {
    return { rpc, keyField: "", key: "" };
  }
  const fields = rpc.method.input.field;
  if ("requests" in fields) {
    return { rpc, keyField: "requests", key: "" };
  }
  if ("presentation" in fields) {
    const presentation = reflect(rpc.method.input, request).get(fields["presentation"]!);
    const key = (presentation as { readonly message?: { readonly commitIdempotencyKey?: string } }).message;
    return { rpc, keyField: "commit_idempotency_key", key: key?.commitIdempotencyKey ?? "" };
  }
  return { rpc, keyField: "request_id", key: (request as { readonly requestId?: string }).requestId ?? "" };
}

/** What is known when this call fails so. */
export function failureOf(call: KeyedCall, sentence: string, more: Partial<Failure> = {}): Failure {
  return {
    rpc: call.rpc.name,
    sentence,
    reason: "",
    metadata: {},
    keyField: call.keyField,
    key: call.key,
    attempts: 1,
    outcomeUnknown: false,
    ...more,
  };
}

/** An error of the transport, with the code that gRPC has for it. */
export function transportError(call: KeyedCall, sentence: string, code?: Code, cause?: unknown): TransportError {
  return new TransportError(failureOf(call, sentence, { code }), { cause });
}

/**
 * The error for what a transport threw: by the reason in its ErrorInfo, or `TransportError` when the authority gave
 * none.
 *
 * A reason that this version does not know gives `UnknownReason`.
 */
export function errorOf(call: KeyedCall, thrown: unknown): AuthorityError {
  const error = ConnectError.from(thrown);
  return failed(call, codeOf(error), error.rawMessage, error.details.filter(isIncoming), error);
}

/** The error for the status that one item of a batch was answered with, by the same rule. */
export function errorIn(call: KeyedCall, status: Status): AuthorityError {
  const details = status.details.map(({ typeUrl, value }) => ({
    type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1),
    value,
  }));
  return failed(call, status.code in Code ? status.code : Code.Unknown, status.message, details);
}

interface Detail {
  /** The full name of a message. */
  readonly type: string;
  readonly value: Uint8Array;
}

function failed(
  call: KeyedCall,
  code: Code,
  text: string,
  details: readonly Detail[],
  cause?: unknown,
): AuthorityError {
  const info = unpacked(details, ErrorInfoSchema);
  const delay = unpacked(details, RetryInfoSchema)?.retryDelay;
  const retryDelayMs = delay && Math.max(Number(delay.seconds) * 1_000 + delay.nanos / 1_000_000, 0);
  if (info === undefined || info.domain !== DOMAIN || info.reason === "") {
    const kind = code === Code.DeadlineExceeded ? DeadlineExceeded : TransportError;
    return new kind(failureOf(call, `${Code[code]}: ${text || "no details"}`, { code, retryDelayMs }), { cause });
  }
  const metadata = Object.freeze({ ...info.metadata });
  const failure = failureOf(call, text || info.reason, { code, reason: info.reason, metadata, retryDelayMs });
  return new (BY_REASON.get(info.reason) ?? UnknownReason)(failure, { cause });
}

/**
 * The gRPC code of an error.
 *
 * What Node.js itself reports of a connection (refused, reset, not trusted, closed below the call) has codes of
 * connect's own choice; by gRPC's it is UNAVAILABLE. The authority's own answers have no Node.js error behind them.
 */
function codeOf(error: ConnectError): Code {
  const isOfNode = error.cause instanceof Error && "code" in error.cause && typeof error.cause.code === "string";
  const isTimed = error.code === Code.DeadlineExceeded || error.code === Code.Canceled;
  return isOfNode && !isTimed ? Code.Unavailable : error.code;
}

function isIncoming(detail: object): detail is Detail {
  return "type" in detail && "value" in detail && detail.value instanceof Uint8Array;
}

/** The first detail of the message's type; undefined when there is none that can be read. */
function unpacked<Shape extends Message>(details: readonly Detail[], schema: GenMessage<Shape>): Shape | undefined {
  const found = details.find(({ type }) => type === (schema as DescMessage).typeName);
  try {
    return found && fromBinary(schema, found.value);
  } catch {
    return undefined;
  }
}
