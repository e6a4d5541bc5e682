/** Verbs of CapabilityService that commit, and read what was committed. */

import { create } from "@bufbuild/protobuf";

import {
  BatchCommitValidatedRequestSchema,
  BatchCommitValidatedResponseSchema,
  type CommitValidatedRequest,
  CommitValidatedRequestSchema,
  type CommitValidatedResponse,
  CommitValidatedResponseSchema,
  GetCommitReceiptRequestSchema,
  type GetCommitReceiptResponse,
  GetCommitReceiptResponseSchema,
  ListCommitReceiptsRequestSchema,
  ListCommitReceiptsResponseSchema,
} from "../../proto/capability_authority/v1/capability_service_pb.js";
import type { CommitReceipt, SignedStatement } from "../../proto/capability_authority/v1/statements_pb.js";
import { verifyReceipt } from "../../offline/index.js";
import { BatchItem } from "../batches.js";
import type { CallOptions } from "../call-options.js";
import { BindingMismatch, ReceiptRejected } from "../errors.js";
import { AuthorityError } from "../failures.js";
import { type CommitItem, PreparedCommit, type Presented } from "../presentations.js";
import { type ExpectedTerms, believed, nameOfTenant } from "../receipts.js";
import { rpcNamed } from "../rpcs.js";
import { type KeyedCall, failureOf, keyedCall } from "../statuses.js";
import { STREAM_WINDOW } from "../streams.js";
import type { Committed, IssuedCapability, Receipt } from "../values.js";
import { CapabilityVerbs } from "./capabilities.js";

/** Whether a receipt is verified before it is handed over; it is unless `verify` is false. */
export interface VerifyOption {
  readonly verify?: boolean | undefined;
}

/** What may prove the holder in place of the credentials. */
export interface EnvelopeOption {
  /**
   * A signed envelope `cognitum.action.v1` for exactly this commit, as JSON text: it proves the holder, and the
   * credentials sign nothing. It is good for five minutes; a later retry brings a fresh one.
   */
  readonly upstreamEnvelope?: string | undefined;
}

/** One commit of a stream, and what came of it. */
export interface StreamedCommit {
  /** What was asked for. */
  readonly item: CommitItem;
  /** The key under which it was presented. */
  readonly commitIdempotencyKey: string;
  /** What `commit` would have given, or the error that it would have thrown. */
  readonly outcome: Committed | AuthorityError;
}

/** Names a receipt, by exactly one of its id, its record and a commit key of the caller. */
export type ReceiptName =
  { readonly receiptId: string } | { readonly recordId: string } | { readonly commitIdempotencyKey: string };

/** Commits and their receipts. */
export class CommitVerbs extends CapabilityVerbs {
  /**
   * Consume the capability and write the memory, once; a retry with the same key gives the first result.
   *
   * What is not given is taken from the capability; bytes have its media type unless told otherwise. The receipt is
   * verified before it is returned, against the pinned issuer's keys (fetched before the commit, within its
   * `timeoutMs`, and kept for a while); with `verify: false` it is handed over as it came.
   *
   * Aborting gives the call up, but a commit that has reached the database may still land: the same key finds it out.
   * So it is with every error whose `outcomeUnknown` is true.
   *
   * @throws {AuthorityError} above all `BindingMismatch`, `IdempotencyConflict`, `Expired`, `Revoked`,
   *   `AlreadyCommitted`, `ReceiptRejected`.
   * @throws {KeySetRefused} (of `offline`) before anything is sent, when the authority is not the pinned issuer.
   */
  async commit(
    capability: IssuedCapability | SignedStatement,
    options: CallOptions & VerifyOption & Presented & EnvelopeOption,
  ): Promise<Committed> {
    const prepared = PreparedCommit.of({ ...options, capability }, options.upstreamEnvelope);
    const call = keyedCall(rpcNamed("CommitValidated"), prepared.request);
    const verify = options.verify ?? true;
    const remaining = this.started(options);
    if (verify) {
      await this.keySets.current(remaining());
    }
    try {
      const response = await this.send(prepared.request, CommitValidatedResponseSchema, remaining());
      return await this.#committed(call, prepared, response, verify, options);
    } catch (error) {
      throw error instanceof BindingMismatch ? prepared.explain(error, this.credentials) : error;
    }
  }

  /**
   * Commit many: for each, in order, what `commit` would give, or the error that it would throw.
   *
   * They go in as few calls as fit (512 commits and 3 MiB each), one call after the other; in a call the first of those
   * that contend wins. A call that fails is tried again as a whole, a commit refused for now by itself. `timeoutMs` is
   * for all of it, so give many commits more. One that was not sent before the time was up is a `DeadlineExceeded`
   * whose `outcomeUnknown` is false. Aborting gives up the call under way and those that would follow; the same keys
   * tell.
   *
   * @throws {JsonError}, {StatementError} (of `offline`) and {TypeError} for what is wrong with any of the requests,
   *   and {KeySetRefused} or {AuthorityError} when the keys cannot be had by which receipts are verified: before
   *   anything is sent.
   */
  async commitBatch(
    commits: readonly CommitItem[],
    options: CallOptions & VerifyOption = {},
  ): Promise<readonly (Committed | AuthorityError)[]> {
    const rpc = rpcNamed("BatchCommitValidated");
    const all = commits.map((commit) => {
      const prepared = PreparedCommit.of(commit);
      const call = { rpc, keyField: "commit_idempotency_key", key: prepared.idempotencyKey };
      const item = new BatchItem<CommitValidatedRequest, CommitValidatedResponse>(
        call,
        CommitValidatedRequestSchema,
        prepared.request,
      );
      return { prepared, item };
    });
    const verify = options.verify ?? true;
    const remaining = this.started(options);
    if (verify && all.length > 0) {
      await this.keySets.current(remaining());
    }
    await this.sendBatch(
      rpc,
      all.map(({ item }) => item),
      (requests) => create(BatchCommitValidatedRequestSchema, { requests: [...requests] }),
      BatchCommitValidatedResponseSchema,
      remaining(),
    );
    const arrived = this.now();
    const outcomes = [];
    for (const { prepared, item } of all) {
      outcomes.push(await this.#outcome(item.call, prepared, item.settled(), verify, options, arrived));
    }
    return outcomes;
  }

  /**
   * Commit what comes, for as long as it comes: each with what `commit` would give or throw, as it is settled.
   *
   * Outcomes come in the order in which they are settled, not in that of `commits`. At most `window` commits are taken
   * before the first of them is handed over, so whoever is slow to read is slow to send. They go over one stream after
   * the other, for none lives longer than five minutes, and whatever has no outcome when one ends is sent again, with
   * the same key. `timeoutMs` is for each commit, from when it is taken.
   *
   * Leaving the loop early, or aborting, gives up what is under way; the same keys tell what happened.
   *
   * @throws once everything that was taken has come out: what `commits` threw, what is wrong with one of them, or the
   *   `AuthorityError` with which the stream itself was refused, such as `CallerUnauthenticated`; and at once
   *   {KeySetRefused} (of `offline`) or {AuthorityError} when the keys cannot be had by which receipts are verified.
   */
  async *commitStream(
    commits: AsyncIterable<CommitItem> | Iterable<CommitItem>,
    options: CallOptions & VerifyOption & { readonly window?: number | undefined } = {},
  ): AsyncGenerator<StreamedCommit, void, undefined> {
    const verify = options.verify ?? true;
    if (verify) {
      await this.keySets.current(options);
    }
    const { window = STREAM_WINDOW } = options;
    for await (const item of this.streamCommits(preparedItems(commits), { ...options, window })) {
      const arrived = this.now();
      const outcome = await this.#outcome(item.call, item.prepared, item.settled(), verify, options, arrived);
      yield { item: item.asked, commitIdempotencyKey: item.prepared.idempotencyKey, outcome };
    }
  }

  /**
   * Read one receipt. It is verified as `commit` does; when `content` is given, it must be for exactly these bytes.
   *
   * @throws {AuthorityError} `NotFound`, `ReceiptRejected`.
   */
  async getReceipt(
    name: ReceiptName,
    options: CallOptions & VerifyOption & { readonly content?: Uint8Array | undefined } = {},
  ): Promise<Receipt> {
    const request = create(GetCommitReceiptRequestSchema, { by: byOf(name) });
    const response = await this.send(request, GetCommitReceiptResponseSchema, options);
    if (options.verify === false) {
      return receipt(response, undefined);
    }
    const call = keyedCall(rpcNamed("GetCommitReceipt"), request);
    const expected: ExpectedTerms =
      "commitIdempotencyKey" in name ? { commit_idempotency_key: name.commitIdempotencyKey } : {};
    const asked =
      "receiptId" in name ? { receipt_id: name.receiptId } : "recordId" in name ? { record_id: name.recordId } : {};
    return receipt(response, await this.#believed(call, response, { ...expected, ...asked }, options.content, options));
  }

  /**
   * Receipts as they are listed, page after page, each page a call of its own of 50, or `pageSize` up to 200.
   *
   * They are not verified, for a list brings no attestations: `getReceipt` verifies one.
   */
  async *listReceipts(
    options: CallOptions & { readonly memoryNamespace: string; readonly pageSize?: number | undefined },
  ): AsyncGenerator<Receipt, void, undefined> {
    const { memoryNamespace, pageSize } = options;
    const request = create(ListCommitReceiptsRequestSchema, { memoryNamespace, pageSize: pageSize ?? 0 });
    do {
      const page = await this.send(request, ListCommitReceiptsResponseSchema, options);
      for (const { receiptId, recordId, receipt: statement } of page.receipts) {
        yield { receiptId, recordId, statement, attestation: undefined, says: undefined };
      }
      request.pageToken = page.nextPageToken;
    } while (request.pageToken !== "");
  }

  /**
   * What a receipt says, verified with the pinned issuer's keys as `commit` does.
   *
   * @throws {StatementError} (of `offline`) when it proves nothing.
   * @throws {KeySetRefused} (of `offline`) and {AuthorityError} when the keys cannot be had.
   */
  async verifyReceipt(
    statement: SignedStatement,
    options: CallOptions & {
      readonly attestation?: SignedStatement | undefined;
      readonly content?: Uint8Array | undefined;
    } = {},
  ): Promise<CommitReceipt> {
    const { attestation, content } = options;
    return this.keySets.verified((keySet) => verifyReceipt(statement, keySet, { attestation, content }), options);
  }

  async #outcome(
    call: KeyedCall,
    prepared: PreparedCommit,
    answer: CommitValidatedResponse | AuthorityError,
    verify: boolean,
    options: CallOptions,
    arrived: number,
  ): Promise<Committed | AuthorityError> {
    if (answer instanceof AuthorityError) {
      return answer instanceof BindingMismatch ? prepared.explain(answer, this.credentials) : answer;
    }
    try {
      return await this.#committed(call, prepared, answer, verify, options, arrived);
    } catch (error) {
      if (error instanceof ReceiptRejected) {
        return error;
      }
      throw error;
    }
  }

  /** The result, once its receipt is believed. @throws {ReceiptRejected} */
  async #committed(
    call: KeyedCall,
    prepared: PreparedCommit,
    response: CommitValidatedResponse,
    verify: boolean,
    options: CallOptions,
    arrived?: number,
  ): Promise<Committed> {
    const expected = { commit_idempotency_key: prepared.idempotencyKey, request_fingerprint: prepared.fingerprint };
    const { content } = prepared.presentation;
    const says = verify ? await this.#believed(call, response, expected, content, options, arrived) : undefined;
    const { receiptId, recordId, replayed, revisionToken } = response;
    return { receipt: receipt(response, says), receiptId, recordId, replayed, revisionToken };
  }

  async #believed(
    call: KeyedCall,
    response: CommitValidatedResponse | GetCommitReceiptResponse,
    expected: ExpectedTerms,
    content: Uint8Array | undefined,
    options: CallOptions,
    arrived?: number,
  ): Promise<CommitReceipt> {
    const { receipt: statement, attestation, receiptId, recordId } = response;
    // What stands beside the receipt is signed by nobody: it must agree with the receipt.
    const beside = { receipt_id: receiptId, record_id: recordId, tenant: nameOfTenant(this.credentials.tenant) };
    const claim = { statement, attestation, content, expected: { ...beside, ...expected }, arrived };
    return believed(this.keySets, failureOf(call, ""), claim, options);
  }
}

/** An item of a stream, and what it was made from. */
class StreamedItem extends BatchItem<CommitValidatedRequest, CommitValidatedResponse> {
  constructor(
    readonly asked: CommitItem,
    readonly prepared: PreparedCommit,
  ) {
    const rpc = rpcNamed("StreamCommitValidated");
    const call = { rpc, keyField: "commit_idempotency_key", key: prepared.idempotencyKey };
    super(call, CommitValidatedRequestSchema, prepared.request);
  }
}

async function* preparedItems(
  commits: AsyncIterable<CommitItem> | Iterable<CommitItem>,
): AsyncGenerator<StreamedItem, void, undefined> {
  for await (const asked of commits) {
    yield new StreamedItem(asked, PreparedCommit.of(asked));
  }
}

function byOf(name: ReceiptName) {
  if ("receiptId" in name) {
    return { case: "receiptId", value: name.receiptId } as const;
  }
  if ("recordId" in name) {
    return { case: "recordId", value: name.recordId } as const;
  }
  return { case: "commitIdempotencyKey", value: name.commitIdempotencyKey } as const;
}

function receipt(
  response: CommitValidatedResponse | GetCommitReceiptResponse,
  says: CommitReceipt | undefined,
): Receipt {
  const { receiptId, recordId, receipt: statement, attestation } = response;
  return { receiptId, recordId, statement, attestation, says };
}
