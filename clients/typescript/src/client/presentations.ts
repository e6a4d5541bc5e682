/** What a holder presents with its capability, and how it differs from what the capability binds. */

import { create } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";

import { type Credentials, capabilityFingerprint, readPayload, sha256, toWire } from "../offline/index.js";
import {
  type CommitValidatedRequest,
  CommitValidatedRequestSchema,
  type Presentation,
  PresentationSchema,
} from "../proto/capability_authority/v1/capability_service_pb.js";
import {
  type CommitCapability,
  CommitCapabilitySchema,
  type SignedStatement,
} from "../proto/capability_authority/v1/statements_pb.js";
import { type Content, contentBytes } from "./content.js";
import type { BindingMismatch } from "./errors.js";
import { IssuedCapability } from "./values.js";

/** What is presented with a capability. What is not given is taken from the capability. */
export interface Presented {
  /** Bytes have the capability's media type unless told otherwise. */
  readonly content: Content;
  readonly mediaType?: string | undefined;
  readonly evidenceDigests?: readonly string[] | undefined;
  readonly commitIdempotencyKey?: string | undefined;
}

/** One commit of many: what `commit` takes. */
export interface CommitItem extends Presented {
  readonly capability: IssuedCapability | SignedStatement;
}

/** A commit as it is sent, and what is needed to judge its answer. */
export class PreparedCommit {
  private constructor(
    readonly terms: CommitCapability,
    readonly request: CommitValidatedRequest,
    readonly presentation: Presentation,
  ) {}

  /** With a signed envelope of upstream, as JSON text, or none. @throws as `termsOf` and `contentBytes`. */
  static of(item: CommitItem, upstreamEnvelope = ""): PreparedCommit {
    const { statement, terms } = termsOf(item.capability);
    const presentation = present(terms, item);
    const request = create(CommitValidatedRequestSchema, {
      capability: statement,
      presentation,
      upstreamEnvelopeJson: upstreamEnvelope,
    });
    return new PreparedCommit(terms, request, presentation);
  }

  /** The key under which it is presented. */
  get idempotencyKey(): string {
    return this.presentation.commitIdempotencyKey;
  }

  /** The request fingerprint, in wire form. @throws {DigestError} (of `offline`) for a digest of another form. */
  get fingerprint(): string {
    return fingerprintOf(this.terms, this.presentation);
  }

  /** The refusal with what the capability binds and what was presented, as far as either is known here. */
  explain(error: BindingMismatch, credentials: Credentials): BindingMismatch {
    return explain(error, this.terms, this.presentation, credentials);
  }
}

/** A capability's statement and what it binds. */
export interface Terms {
  readonly statement: SignedStatement;
  readonly terms: CommitCapability;
}

/**
 * The statement of a capability and what it binds, unverified: judging it is the authority's.
 *
 * @throws {StatementError} (of `offline`) for a statement of another kind or one that cannot be read.
 */
export function termsOf(capability: IssuedCapability | SignedStatement): Terms {
  if (capability instanceof IssuedCapability) {
    return capability;
  }
  const { payloadType, payload } = capability;
  return { statement: capability, terms: readPayload(payloadType, payload, CommitCapabilitySchema) };
}

/** The presentation; what is not given is taken from the capability. @throws as `contentBytes`. */
export function present(terms: CommitCapability, presented: Presented): Presentation {
  const { content, mediaType, evidenceDigests, commitIdempotencyKey } = presented;
  const known = content instanceof Uint8Array ? mediaType || terms.mediaType : mediaType;
  const { bytes, mediaType: kind } = contentBytes(content, known);
  return create(PresentationSchema, {
    content: bytes,
    mediaType: kind,
    evidenceDigests: [...(evidenceDigests ?? terms.evidenceDigests.map(toWire))],
    commitIdempotencyKey: commitIdempotencyKey ?? terms.commitIdempotencyKey,
  });
}

/** The request fingerprint of the commit, in wire form. @throws {DigestError} (of `offline`). */
export function fingerprintOf(terms: CommitCapability, presentation: Presentation): string {
  const { content, mediaType, evidenceDigests } = presentation;
  return toWire(capabilityFingerprint(terms, { contentDigest: toWire(sha256(content)), mediaType, evidenceDigests }));
}

function explain(
  error: BindingMismatch,
  terms: CommitCapability,
  presentation: Presentation,
  credentials: Credentials,
): BindingMismatch {
  const field = CommitCapabilitySchema.fields.find(({ name }) => name === error.term);
  if (field === undefined) {
    return error;
  }
  const presented: Readonly<Record<string, string>> = {
    audience: credentials.audience,
    ...(credentials.privateKey === undefined ? {} : { holder_key: credentials.privateKey.publicKey.keyId }),
    content_digest: toWire(sha256(presentation.content)),
    media_type: presentation.mediaType,
    evidence_digests: listed(presentation.evidenceDigests),
    commit_idempotency_key: presentation.commitIdempotencyKey,
  };
  const bound: unknown =
    field.fieldKind === "list" ? terms.evidenceDigests : reflect(CommitCapabilitySchema, terms).get(field);
  return error.explained(written(bound), presented[error.term]);
}

function written(value: unknown): string {
  if (value instanceof Uint8Array) {
    return value.length === 0 ? "none" : toWire(value);
  }
  if (Array.isArray(value)) {
    return listed(value.map(written));
  }
  if (typeof value === "object" && value !== null && "message" in value) {
    const { namespace, id } = value.message as { readonly namespace?: string; readonly id?: string };
    return namespace === undefined ? JSON.stringify(value.message) : `${namespace} ${id}`;
  }
  return String(value);
}

function listed(texts: readonly string[]): string {
  return texts.join(", ") || "none";
}
