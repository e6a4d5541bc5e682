/** Verbs of MemoryService: read what was learned, find it, cite it, withdraw and correct it. */

import { create } from "@bufbuild/protobuf";

import {
  type Citation,
  CorrectRecordRequestSchema,
  CorrectRecordResponseSchema,
  GetMemoryRecordRequestSchema,
  GetMemoryRecordResponseSchema,
  ListCitationsRequestSchema,
  ListCitationsResponseSchema,
  ListMemoryRecordsRequestSchema,
  ListMemoryRecordsResponseSchema,
  RecallRecordsRequestSchema,
  RecallRecordsResponseSchema,
  RegisterCitationRequestSchema,
  RegisterCitationResponseSchema,
  RevokeRecordRequestSchema,
  RevokeRecordResponseSchema,
} from "../../proto/capability_authority/v1/memory_service_pb.js";
import { MemoryTypeSchema, ProvenanceSchema } from "../../proto/capability_authority/v1/types_pb.js";
import type { CallOptions } from "../call-options.js";
import { type GrantChainHeld, grantFields } from "../grant-values.js";
import { dateOf, timeMessage } from "../times.js";
import { type Committed, MemoryRecord, Proposal, type RecordRevocation } from "../values.js";
import { type MemoryType, type Provenance, numberOf, wordOf } from "../words.js";
import { CommitVerbs } from "./commits.js";
import { type Said, saidFields } from "./proposals.js";

/** Hits of one answer, at most. */
const RECALL_SIZE = 100;

/** A record that recall found. How well it matches is no measure of how true it is. */
export interface RecallHit {
  readonly record: MemoryRecord;
  readonly recordId: string;
  /** From 0 to 1: more for words that occur more often, less for long content; nothing else enters. */
  readonly score: number;
  /** When the authority took what the record says; it was committed at `record.message.createTime`. */
  readonly observeTime: Date;
}

/** About how many records of one type the tenants of an aggregate committed in one month. */
export interface AggregateCount {
  /** For example "durable_fact". */
  readonly memoryType: string;
  /** Its beginning, in UTC. */
  readonly month: Date;
  /** In whole tens; what rests on too few tenants is not told. */
  readonly records: bigint;
}

/** Where and how recall looks. Every filter that is given narrows; of the values of one a record has at least one. */
export interface RecallOptions extends CallOptions {
  readonly memoryNamespace: string;
  /** Hits at most; 20 unless given. */
  readonly limit?: number | undefined;
  readonly memoryTypes?: readonly MemoryType[] | undefined;
  readonly provenances?: readonly Provenance[] | undefined;
  readonly sourceRefs?: readonly string[] | undefined;
  readonly subjectRefs?: readonly string[] | undefined;
  readonly createdAfterTime?: Date | undefined;
  readonly createdBeforeTime?: Date | undefined;
  /** The `revisionToken` of a commit or a revocation: what was written by then is known to the answer. */
  readonly atLeastAsFreshAs?: string | undefined;
  /** Where the memory namespace enforces, what was written without validation is left out unless it is asked for. */
  readonly includeUnvalidated?: boolean | undefined;
  /** Held by the caller: what its subject is shown is found, by the subject's right. */
  readonly grant?: GrantChainHeld | undefined;
}

/** Learned memory. What is returned is evidence, never a permission. */
export class MemoryVerbs extends CommitVerbs {
  /**
   * Read one record. What was written without validation is absent where the memory namespace enforces, unless asked
   * for.
   *
   * @throws {AuthorityError} `NotFound` when it is absent or not visible to the caller.
   */
  async getRecord(
    recordId: string,
    options: CallOptions & { readonly includeUnvalidated?: boolean | undefined } = {},
  ): Promise<MemoryRecord> {
    const request = create(GetMemoryRecordRequestSchema, {
      recordId,
      includeUnvalidated: options.includeUnvalidated ?? false,
    });
    return new MemoryRecord((await this.send(request, GetMemoryRecordResponseSchema, options)).record!);
  }

  /**
   * Records that are visible to the caller, page after page, each page a call of its own of 50, or `pageSize` up to
   * 200, and fewer where content is long.
   */
  async *listRecords(
    options: CallOptions & {
      readonly memoryNamespace: string;
      readonly pageSize?: number | undefined;
      readonly includeUnvalidated?: boolean | undefined;
    },
  ): AsyncGenerator<MemoryRecord, void, undefined> {
    const { memoryNamespace, pageSize = 0, includeUnvalidated = false } = options;
    const request = create(ListMemoryRecordsRequestSchema, { memoryNamespace, pageSize, includeUnvalidated });
    do {
      const page = await this.send(request, ListMemoryRecordsResponseSchema, options);
      yield* page.records.map((record) => new MemoryRecord(record));
      request.pageToken = page.nextPageToken;
    } while (request.pageToken !== "");
  }

  /**
   * Withdraw a record for ever, named by itself, its commit or its id.
   *
   * By its holder, an admin or a user who decides, or its proposer unless that is an agent or a model. Once this
   * resolves nobody reads it any more, nor anything else there that says exactly the same, and only a new decision lets
   * the same be committed again. Receipts stay. `note` says why, in at most 1,024 bytes.
   *
   * @throws {AuthorityError} `NotFound` for what is not there or not yours; `IdempotencyConflict`.
   */
  async revokeRecord(
    record: MemoryRecord | Committed | string,
    options: CallOptions & { readonly note?: string | undefined; readonly requestId?: string | undefined } = {},
  ): Promise<RecordRevocation> {
    const { note = "", requestId = "" } = options;
    const request = create(RevokeRecordRequestSchema, { requestId, recordId: idOf(record), note });
    const { revokeTime, sequence, replayed, revisionToken } = await this.send(
      request,
      RevokeRecordResponseSchema,
      options,
    );
    return { time: dateOf(revokeTime), sequence, replayed, revisionToken };
  }

  /**
   * Open a proposal whose commit takes the place of a record, named by itself, its commit or its id.
   *
   * What is said is as for `propose`; the memory namespace is the record's, and so are type and visibility unless
   * given. Nothing changes before the proposal is validated, decided, issued and committed like any other. Of several
   * corrections of one record the first that is committed wins, the others are `NotValidated`.
   *
   * @throws {JsonError} and {TypeError} for content that cannot be sent.
   * @throws {AuthorityError} `NotAllowed` without the rights `propose` and `read`, `NotFound` for a record that is not
   *   there or not visible to the caller.
   */
  async correct(
    record: MemoryRecord | Committed | string,
    said: Said & { readonly memoryType?: MemoryType | undefined },
  ): Promise<Proposal> {
    const request = create(CorrectRecordRequestSchema, {
      ...saidFields(said),
      recordId: idOf(record),
      memoryType: numberOf(MemoryTypeSchema, said.memoryType),
    });
    return new Proposal((await this.send(request, CorrectRecordResponseSchema, said)).proposal!);
  }

  /**
   * Find records by the words of their content, the best match first.
   *
   * All words of the query are wanted, `or` between two wants either, "quotes" want a phrase, a minus sign before a
   * word excludes it. Long answers come page by page, each page a call of its own.
   *
   * @throws {AuthorityError} `Malformed`, `NotAllowed` without the right `read`, `Unavailable`; under a grant also
   *   `GrantExceeded` with its `dimension`, `Expired`, `Revoked`, `HolderMismatch`.
   */
  async *recall(query: string, options: RecallOptions): AsyncGenerator<RecallHit, void, undefined> {
    const request = create(RecallRecordsRequestSchema, {
      memoryNamespace: options.memoryNamespace,
      query,
      memoryTypes: (options.memoryTypes ?? []).map((word) => numberOf(MemoryTypeSchema, word)),
      provenances: (options.provenances ?? []).map((word) => numberOf(ProvenanceSchema, word)),
      sourceRefs: [...(options.sourceRefs ?? [])],
      subjectRefs: [...(options.subjectRefs ?? [])],
      createdAfterTime: timeMessage(options.createdAfterTime),
      createdBeforeTime: timeMessage(options.createdBeforeTime),
      atLeastAsFreshAs: options.atLeastAsFreshAs ?? "",
      includeUnvalidated: options.includeUnvalidated ?? false,
      ...grantFields(options.grant),
    });
    for (let limit = options.limit ?? 20; limit > 0;) {
      request.pageSize = Math.min(limit, RECALL_SIZE);
      const page = await this.send(request, RecallRecordsResponseSchema, options);
      for (const hit of page.hits) {
        const record = new MemoryRecord(hit.record!);
        const score = hit.scoreMillionths / 1_000_000;
        yield { record, recordId: record.recordId, score, observeTime: dateOf(hit.observeTime) };
      }
      limit -= page.hits.length;
      if (page.nextPageToken === "") {
        return;
      }
      request.pageToken = page.nextPageToken;
    }
  }

  /**
   * Figures of other tenants' memory, by month and type, by a grant for the resource `aggregate/NAME` alone.
   *
   * @throws {AuthorityError} `NotAllowed`, `NotFound` for an aggregate that no operator made for this tenant and memory
   *   namespace, and what the grant is refused for.
   */
  async recallAggregate(
    name: string,
    options: CallOptions & { readonly memoryNamespace: string; readonly grant: GrantChainHeld },
  ): Promise<readonly AggregateCount[]> {
    const { memoryNamespace, grant } = options;
    const request = create(RecallRecordsRequestSchema, { memoryNamespace, aggregate: name, ...grantFields(grant) });
    const { aggregateCounts } = await this.send(request, RecallRecordsResponseSchema, options);
    return aggregateCounts.map(({ memoryType, month, records }) => ({
      memoryType: wordOf(MemoryTypeSchema, memoryType),
      month: dateOf(month),
      records,
    }));
  }

  /**
   * Say that something of yours rests on a record: it is found when the record is revoked.
   *
   * `citingKind` is a word such as "answer"; `citingRef` says which one, in at most 512 bytes. The same thing cites a
   * record once: told again, the first citation is returned.
   *
   * @throws {AuthorityError} `NotFound` when the record is absent or not visible to the caller.
   */
  async cite(
    recordId: string,
    options: CallOptions & {
      readonly citingKind: string;
      readonly citingRef: string;
      readonly requestId?: string | undefined;
    },
  ): Promise<Citation> {
    const { citingKind, citingRef, requestId = "" } = options;
    const request = create(RegisterCitationRequestSchema, { requestId, recordId, citingKind, citingRef });
    return (await this.send(request, RegisterCitationResponseSchema, options)).citation!;
  }

  /**
   * What cites a record or every record with some content, in the order in which it was told, also of what is revoked
   * since; page after page, each page a call of its own of 50, or `pageSize` up to 200.
   *
   * @throws {AuthorityError}
   */
  async *citations(
    cited: { readonly recordId: string } | { readonly memoryNamespace: string; readonly contentDigest: string },
    options: CallOptions & { readonly pageSize?: number | undefined } = {},
  ): AsyncGenerator<Citation, void, undefined> {
    const request = create(ListCitationsRequestSchema, {
      pageSize: options.pageSize ?? 0,
      cited: "recordId" in cited ? { case: "recordId", value: cited.recordId } : { case: "content", value: cited },
    });
    do {
      const page = await this.send(request, ListCitationsResponseSchema, options);
      yield* page.citations;
      request.pageToken = page.nextPageToken;
    } while (request.pageToken !== "");
  }
}

function idOf(record: MemoryRecord | Committed | string): string {
  return typeof record === "string" ? record : record.recordId;
}
