/** Verbs of AuditService: who changed what, page by page or as it happens. */

import { create } from "@bufbuild/protobuf";

import {
  type AuditEvent as AuditEventMessage,
  AuditFilterSchema,
  ListAuditEventsRequestSchema,
  ListAuditEventsResponseSchema,
  WatchAuditEventsRequestSchema,
  type WatchAuditEventsResponse,
  WatchAuditEventsResponseSchema,
} from "../../proto/capability_authority/v1/audit_service_pb.js";
import { PrincipalRefSchema } from "../../proto/capability_authority/v1/types_pb.js";
import type { CallOptions } from "../call-options.js";
import { dateOf, timeMessage } from "../times.js";
import type { Reference } from "../values.js";
import { RecordVerbs } from "./records.js";

/** Conditions; those that are left out hold for every event. */
export interface AuditFilter {
  /** For example "memory.commit". */
  readonly kind?: string | undefined;
  /** Who did it; operator|cli is whoever runs the server. */
  readonly actor?: Reference | undefined;
  /** The id of what was changed. */
  readonly subject?: string | undefined;
  readonly correlationId?: string | undefined;
}

/** One change of state: who changed what from which state to which. */
export interface AuditEvent {
  /** All of it. */
  readonly message: AuditEventMessage;
  /** Rises in the order of writing, which is not quite that of becoming visible. */
  readonly eventId: bigint;
  readonly kind: string;
  readonly actor: Reference;
  readonly subject: string;
  readonly createTime: Date;
}

/** One message of a watch: events, or none when there was nothing to tell for a while. */
export interface AuditNews {
  readonly events: readonly AuditEvent[];
  /** Keep it once these events are dealt with: a watch with it goes on after them. */
  readonly cursor: string;
  /** Every change that was acknowledged before is told, here or earlier; undefined while more comes at once. */
  readonly asOfTime: Date | undefined;
}

/** The audit log of the tenant, for its admins. */
export class AuditVerbs extends RecordVerbs {
  /**
   * Events of `[startTime, endTime)`, the newest first unless `oldestFirst`; page after page, each page a call of its
   * own.
   *
   * What becomes visible while pages are turned may be missing: `watchAuditEvents` misses nothing.
   *
   * @throws {AuthorityError} `NotAllowed` for whoever is no admin.
   */
  async *listAuditEvents(
    options: CallOptions &
      AuditFilter & {
        readonly startTime?: Date | undefined;
        readonly endTime?: Date | undefined;
        readonly oldestFirst?: boolean | undefined;
        readonly pageSize?: number | undefined;
      } = {},
  ): AsyncGenerator<AuditEvent, void, undefined> {
    const request = create(ListAuditEventsRequestSchema, {
      filter: filterOf(options),
      startTime: timeMessage(options.startTime),
      endTime: timeMessage(options.endTime),
      oldestFirst: options.oldestFirst ?? false,
      pageSize: options.pageSize ?? 0,
    });
    do {
      const page = await this.send(request, ListAuditEventsResponseSchema, options);
      yield* page.events.map(eventOf);
      request.pageToken = page.nextPageToken;
    } while (request.pageToken !== "");
  }

  /**
   * Events as they become visible: each once, none left out, for as long as they are asked for.
   *
   * With the cursor of an earlier message, of the same caller and conditions, it goes on after that; without one it
   * begins now, or `fromBeginning`. A stream that ends or is cut is followed by another, by itself. Without events a
   * message comes about every ten seconds.
   *
   * @throws {AuthorityError} `NotAllowed` for whoever is no admin, `CallerUnauthenticated` once it is revoked,
   *   `Malformed` for a cursor of a database that was restored or failed over since.
   */
  async *watchAuditEvents(
    options: CallOptions &
      AuditFilter & { readonly cursor?: string | undefined; readonly fromBeginning?: boolean | undefined } = {},
  ): AsyncGenerator<AuditNews, void, undefined> {
    const { cursor = "", fromBeginning = false } = options;
    const request = create(WatchAuditEventsRequestSchema, { filter: filterOf(options), cursor, fromBeginning });
    const takeIn = (told: WatchAuditEventsResponse): void => {
      request.cursor = told.cursor;
      request.fromBeginning = false;
    };
    for await (const told of this.watch(request, WatchAuditEventsResponseSchema, takeIn, options)) {
      yield { events: told.events.map(eventOf), cursor: told.cursor, asOfTime: told.asOfTime && dateOf(told.asOfTime) };
    }
  }
}

function filterOf({ kind = "", actor, subject = "", correlationId = "" }: AuditFilter) {
  const by = actor === undefined ? {} : { actor: create(PrincipalRefSchema, actor) };
  return create(AuditFilterSchema, { kind, subject, correlationId, ...by });
}

function eventOf(message: AuditEventMessage): AuditEvent {
  const { eventId, kind, subject, actor } = message;
  const by = { namespace: actor?.namespace ?? "", id: actor?.id ?? "" };
  return { message, eventId, kind, actor: by, subject, createTime: dateOf(message.createTime) };
}
