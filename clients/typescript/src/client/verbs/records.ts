/** Verbs of MemoryService that hand a record over with its proofs, and that write one without validation. */

import { create } from "@bufbuild/protobuf";

import { type Check, checkExport } from "../../offline/index.js";
import { ErrorReasonSchema } from "../../proto/capability_authority/v1/errors_pb.js";
import {
  ExportRecordRequestSchema,
  ExportRecordRequest_FormSchema,
  ExportRecordResponseSchema,
  type RecordExport as RecordExportMessage,
  RecordStateSchema,
  WriteUnvalidatedRecordRequestSchema,
  WriteUnvalidatedRecordResponseSchema,
} from "../../proto/capability_authority/v1/memory_service_pb.js";
import { MemoryTypeSchema, TenantRefSchema } from "../../proto/capability_authority/v1/types_pb.js";
import type { CallOptions } from "../call-options.js";
import { AuthorityError, type Failure } from "../failures.js";
import { rpcNamed } from "../rpcs.js";
import { failureOf, keyedCall } from "../statuses.js";
import { MemoryRecord, type Reference } from "../values.js";
import { type ExportForm, type MemoryType, numberOf, wordOf } from "../words.js";
import type { VerifyOption } from "./commits.js";
import { EvidenceVerbs } from "./evidence.js";
import { type Said, saidFields } from "./proposals.js";

/** A record with what proves it, and what came of checking that. */
export class RecordExport {
  constructor(
    /** All of it: its binary form is what to keep as a file. */
    readonly message: RecordExportMessage,
    /** Each part of it, in the order in which one rests on the other. */
    readonly checks: readonly Check[],
  ) {}

  get record(): MemoryRecord {
    return new MemoryRecord(this.message.record!);
  }

  /** What the authority said of it then: "live", "not_yet_valid", "expired", "superseded" or "revoked". */
  get state(): string {
    return wordOf(RecordStateSchema, this.message.state);
  }

  /** The checks that failed: none for an export that is proved. */
  get broken(): readonly Check[] {
    return this.checks.filter(({ verdict }) => verdict === "broken");
  }
}

/** The authority handed a record over that a check of `checkExport` does not believe. `export` is what came. */
export class ExportRejected extends AuthorityError {
  readonly export: RecordExport;

  constructor(failure: Failure, options: ErrorOptions & { readonly export: RecordExport }) {
    super(failure, options);
    this.export = options.export;
  }
}

/** What would become of a record if its memory namespace enforced. */
export interface Observation {
  /** Empty when it would be committed; else "POLICY_DENIED", "NOT_VALIDATED" or "APPROVAL_REQUIRED". */
  readonly wouldRefuse: string;
  /** "name:reason" of each validator that did not pass it. */
  readonly validators: readonly string[];
  /** That determined the decision, by name. */
  readonly policies: readonly string[];
  /** The digest of the bundle that was asked. */
  readonly policyVersion: string;
}

/** A record that was written without validation. */
export interface UnvalidatedWrite {
  /** Says that it is not `validated`. */
  readonly record: MemoryRecord;
  readonly recordId: string;
  /** Whether the same request wrote it before. */
  readonly replayed: boolean;
  /** What enforcement would say, where the memory namespace is observed. */
  readonly observation: Observation | undefined;
}

/** Records with everything that proves them, and records that nothing proves. */
export class RecordVerbs extends EvidenceVerbs {
  /**
   * A record with its receipt and, in the form "audit", with all that its commit stood on and what became of it.
   *
   * The compact form proves content, evidence, place and parties; provenance, references and costs need "audit". Every
   * signature and digest is checked against the keys of the pinned issuer, fetched anew.
   *
   * @throws {AuthorityError} `NotFound` when the record is absent or not visible to the caller (admins have what is
   *   revoked, expired or superseded too, in the form "audit"); `ExportRejected` when a check fails, unless `verify` is
   *   false: then `checks` alone tell.
   * @throws {KeySetRefused} (of `offline`) when the authority is not the pinned issuer.
   */
  async export(
    recordId: string,
    options: CallOptions & VerifyOption & { readonly form?: ExportForm | undefined } = {},
  ): Promise<RecordExport> {
    const form = numberOf(ExportRecordRequest_FormSchema, options.form ?? "compact");
    const request = create(ExportRecordRequestSchema, { recordId, form });
    const remaining = this.started(options);
    const message = (await this.send(request, ExportRecordResponseSchema, remaining())).export!;
    const keySet = await this.keySets.current(remaining(), this.now());
    const checks = checkExport(message, keySet, this.credentials.tenant);
    const found = new RecordExport(message, [...otherRecord(message, recordId), ...checks]);
    if (options.verify !== false && found.broken.length > 0) {
      const because = found.broken.map((check) => `${check.part}: ${check.because}`).join("; ");
      const call = keyedCall(rpcNamed("ExportRecord"), request);
      throw new ExportRejected(failureOf(call, `the export is not believed: ${because}`), { export: found });
    }
    return found;
  }

  /**
   * Write a record that nobody validates, where an operator lets the memory namespace take it.
   *
   * The record is marked wherever it is read. Where the memory namespace is observed, the answer says what would become
   * of it under enforcement. `tenant` is whom the program means to write for: not the caller's own, it is refused.
   *
   * @throws {JsonError} and {TypeError} for content that cannot be sent.
   * @throws {AuthorityError} `NotValidated` where the memory namespace enforces, `PolicyDenied` where it is privileged,
   *   `NotAllowed` without the right `commit`, `HolderMismatch` for another tenant, `Revoked` for content that was
   *   revoked there.
   */
  async writeUnvalidated(
    said: Omit<Said, "evidenceDigests" | "validatorProfile"> & {
      readonly memoryNamespace: string;
      readonly memoryType: MemoryType;
      readonly tenant?: Reference | undefined;
    },
  ): Promise<UnvalidatedWrite> {
    const { evidenceDigests: _, validatorProfile: __, ...fields } = saidFields(said);
    const request = create(WriteUnvalidatedRecordRequestSchema, {
      ...fields,
      memoryNamespace: said.memoryNamespace,
      memoryType: numberOf(MemoryTypeSchema, said.memoryType),
      ...(said.tenant === undefined ? {} : { tenant: create(TenantRefSchema, said.tenant) }),
    });
    const response = await this.send(request, WriteUnvalidatedRecordResponseSchema, said);
    const record = new MemoryRecord(response.record!);
    const told = response.observation;
    const observation = told && {
      wouldRefuse: told.wouldBeAllowed ? "" : wordOf(ErrorReasonSchema, told.wouldRefuse).toUpperCase(),
      validators: told.validators,
      policies: told.policies,
      policyVersion: told.policyVersion,
    };
    return { record, recordId: record.recordId, replayed: response.replayed, observation };
  }
}

/** An export of another record than the one that was asked for proves itself, and not what was asked. */
function otherRecord({ record }: RecordExportMessage, asked: string): readonly Check[] {
  const presented = record?.recordId ?? "";
  const because = `expected record ${asked}, presented ${presented}`;
  return presented === asked ? [] : [{ part: "record", verdict: "broken", because }];
}
