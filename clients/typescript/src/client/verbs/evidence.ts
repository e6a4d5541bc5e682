/** Verbs of EvidenceService: put what proposals rest on, and read it by digest. */

import { create } from "@bufbuild/protobuf";

import { sha256, sign, timestamp } from "../../offline/index.js";
import {
  type Evidence as EvidenceMessage,
  EvidenceStateSchema,
  PutEvidenceRequestSchema,
  PutEvidenceResponseSchema,
  ReadEvidenceRequestSchema,
  ReadEvidenceResponseSchema,
} from "../../proto/capability_authority/v1/evidence_service_pb.js";
import { EvidenceClaimSchema, type SignedStatement } from "../../proto/capability_authority/v1/statements_pb.js";
import { PrincipalRefSchema, TenantRefSchema, VisibilitySchema } from "../../proto/capability_authority/v1/types_pb.js";
import type { CallOptions } from "../call-options.js";
import { type Content, contentBytes } from "../content.js";
import { type GrantChainHeld, grantFields } from "../grant-values.js";
import { signingKeyOf } from "../holders.js";
import { dateOf } from "../times.js";
import { type Reference, reference } from "../values.js";
import { type Visibility, numberOf, wordOf } from "../words.js";
import { InteropVerbs } from "./interop.js";

/** A piece of evidence as the authority keeps it; proposals name it by `digest`. */
export class Evidence {
  constructor(
    /** All of it. */
    readonly message: EvidenceMessage,
  ) {}

  /** Of the bytes, wherever they are kept. */
  get digest(): string {
    return this.message.digest;
  }

  get mediaType(): string {
    return this.message.mediaType;
  }

  /** The bytes; undefined where they are only referred to, and in the answer to `putEvidence`. */
  get content(): Uint8Array | undefined {
    return this.message.kept.case === "content" ? this.message.kept.value : undefined;
  }

  /** URI of where the bytes are kept; undefined where that is the authority. */
  get reference(): string | undefined {
    return this.message.kept.case === "reference" ? this.message.kept.value : undefined;
  }

  /** What a person said of it: "pending", "approved" or "rejected". */
  get state(): string {
    return wordOf(EvidenceStateSchema, this.message.state);
  }

  /** Who may know of it; the words of `Visibility`. */
  get visibility(): string {
    return wordOf(VisibilitySchema, this.message.visibility);
  }

  /** Who put it. */
  get putBy(): Reference {
    return reference(this.message.putBy);
  }

  /** Who vouched for it; undefined when nobody did. */
  get signedBy(): Reference | undefined {
    return this.message.signedBy && reference(this.message.signedBy);
  }

  get putTime(): Date {
    return dateOf(this.message.putTime);
  }
}

/** What is put: the bytes, or where they are kept and the digest of what is there. */
export type EvidenceKept =
  | { readonly content: Content; readonly mediaType?: string | undefined }
  | { readonly reference: string; readonly digest: string; readonly mediaType?: string | undefined };

/** Evidence by digest. An operator enters what a person decides on it: no verb does. */
export class EvidenceVerbs extends InteropVerbs {
  /**
   * Put evidence: its content, or the `reference` (a URI) and `digest` of bytes that are kept elsewhere.
   *
   * Without `visibility` it is private. `claim` vouches for it: `vouchFor` makes the caller's own. The same put again
   * is answered with the first, so is a retry.
   *
   * @throws {AuthorityError} `NotAllowed` without the right `propose` and for what holds a secret,
   *   `IdempotencyConflict` when something else stands under the digest, `BindingMismatch`, `SignatureInvalid` and
   *   `IssuerUnknown` for a claim that does not hold.
   */
  async putEvidence(
    kept: EvidenceKept,
    options: CallOptions & {
      readonly visibility?: Visibility | undefined;
      readonly visibilityScope?: string | undefined;
      readonly claim?: SignedStatement | undefined;
      readonly requestId?: string | undefined;
    } = {},
  ): Promise<Evidence> {
    const { visibility, visibilityScope = "", claim, requestId = "" } = options;
    const request = create(PutEvidenceRequestSchema, {
      requestId,
      ...keptFields(kept),
      visibility: numberOf(VisibilitySchema, visibility),
      visibilityScope,
      ...(claim === undefined ? {} : { claim }),
    });
    return new Evidence((await this.send(request, PutEvidenceResponseSchema, options)).evidence!);
  }

  /**
   * Read evidence with its content or reference; under a grant for `evidence.read` what its subject may read.
   *
   * @throws {AuthorityError} `NotFound` for what is absent, not visible to the caller, or not approved yet unless the
   *   caller put it or may decide.
   */
  async readEvidence(
    digest: string,
    options: CallOptions & { readonly grant?: GrantChainHeld | undefined } = {},
  ): Promise<Evidence> {
    const request = create(ReadEvidenceRequestSchema, { digest, ...grantFields(options.grant) });
    return new Evidence((await this.send(request, ReadEvidenceResponseSchema, options)).evidence!);
  }

  /**
   * The caller's own claim, signed with its key at `nowMs`, that it made exactly these bytes; calls nobody.
   *
   * A tool whose approved evidence is vouched for by itself proposes tool results.
   *
   * @throws as `contentBytes`, and {CredentialsRefused} (of `offline`) for credentials without a key.
   */
  vouchFor(
    content: Content,
    { mediaType, nowMs = Date.now() }: { mediaType?: string; nowMs?: number } = {},
  ): SignedStatement {
    const { bytes, mediaType: kind } = contentBytes(content, mediaType);
    const claim = create(EvidenceClaimSchema, {
      tenant: create(TenantRefSchema, this.credentials.tenant),
      signer: create(PrincipalRefSchema, this.credentials.principal),
      contentDigest: sha256(bytes),
      mediaType: kind,
      createTime: timestamp(nowMs),
    });
    return sign(EvidenceClaimSchema, claim, signingKeyOf(this.credentials));
  }
}

function keptFields(kept: EvidenceKept) {
  if ("reference" in kept) {
    const { reference: uri, digest, mediaType = "" } = kept;
    return { mediaType, kept: { case: "reference", value: { uri, digest } } } as const;
  }
  const { bytes, mediaType } = contentBytes(kept.content, kept.mediaType);
  return { mediaType, kept: { case: "content", value: bytes } } as const;
}
