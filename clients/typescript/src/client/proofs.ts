/** Makes what each attempt says of its caller: a proof, or the tenant for which its connection or token speaks. */

import { randomBytes } from "node:crypto";

import { type Message, clone, isMessage, toBinary } from "@bufbuild/protobuf";
import { type Interceptor, encodeBinaryHeader } from "@connectrpc/connect";

import { type Credentials, PROOF_METADATA_KEY, makeInvocation } from "../offline/index.js";
import { CommitValidatedRequestSchema } from "../proto/capability_authority/v1/capability_service_pb.js";
import { RPCS, pathOf } from "./rpcs.js";

const NONCE_BYTES = 16;
const TENANT_HEADER = "capability-authority-tenant";
const NOTHING = new Uint8Array();

/** What a proof is made of beside the credentials. */
export interface ProofSources {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** 16 to 32 random bytes, new ones each time. */
  readonly newNonce: () => Uint8Array;
}

/** The clock and the random numbers of this machine. */
export const REAL_SOURCES: ProofSources = { nowMs: Date.now, newNonce: () => new Uint8Array(randomBytes(NONCE_BYTES)) };

/**
 * Signs each attempt over exactly the bytes that it sends, and must be the last interceptor before the transport.
 *
 * The message is copied, the copy is serialized and signed, and the copy goes on: nothing can change it any more, and
 * the transport's own serialization gives the same bytes (protobuf-es writes fields in their order; our messages of
 * requests have no maps). Every attempt passes here anew, for a read's proof works once and both kinds go stale while a
 * caller waits.
 */
export function provingInterceptor(credentials: Credentials, sources: ProofSources = REAL_SOURCES): Interceptor {
  return (next) => async (request) => {
    if (request.stream) {
      // A stream is authenticated before its first message: by an Invocation over nothing (semantics §2), or over the
      // one request of a watch.
      if (request.method.methodKind !== "server_streaming") {
        prove(request.header, credentials, sources, pathOf(request.method), NOTHING);
        return next(request);
      }
      const messages = [];
      for await (const message of request.message) {
        messages.push(clone(request.method.input, message));
      }
      const [only] = messages;
      const bytes = only === undefined ? NOTHING : toBinary(request.method.input, only);
      prove(request.header, credentials, sources, pathOf(request.method), bytes);
      return next({ ...request, message: each(messages) });
    }
    const message = clone(request.method.input, request.message);
    if (provesItself(message)) {
      // Both together are refused (semantics §5).
      speakFor(request.header, credentials);
    } else if (RPCS.get(request.method.name)?.needsProof !== false) {
      prove(request.header, credentials, sources, pathOf(request.method), toBinary(request.method.input, message));
    }
    return next({ ...request, message });
  };
}

/** Adds the headers of one attempt: a proof, or without a key to sign the tenant; and a token where there is one. */
function prove(
  header: Headers,
  credentials: Credentials,
  { nowMs, newNonce }: ProofSources,
  method: string,
  requestBytes: Uint8Array,
): void {
  const { privateKey, tenant, principal, audience } = credentials;
  if (privateKey === undefined) {
    speakFor(header, credentials);
    return;
  }
  const proof = makeInvocation({
    privateKey,
    tenant,
    principal,
    audience,
    method,
    requestBytes,
    nonce: newNonce(),
    issuedMs: nowMs(),
  });
  header.set(PROOF_METADATA_KEY, encodeBinaryHeader(proof));
  showToken(header, credentials);
}

/** Names the tenant: a certificate names none, and a token of another must not pass for one of this. */
function speakFor(header: Headers, credentials: Credentials): void {
  const { namespace, id } = credentials.tenant;
  header.set(TENANT_HEADER, `${namespace}|${id}`);
  showToken(header, credentials);
}

function showToken(header: Headers, { bearerToken }: Credentials): void {
  if (bearerToken !== undefined) {
    header.set("authorization", `Bearer ${bearerToken()}`);
  }
}

/** Whether a request holds what proves its caller: a commit with a signed envelope of upstream. */
function provesItself(message: Message): boolean {
  return isMessage(message, CommitValidatedRequestSchema) && message.upstreamEnvelopeJson !== "";
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
