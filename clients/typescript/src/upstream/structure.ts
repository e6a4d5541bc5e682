/** The closed schema of an envelope, judged whole: every issue is found, in upstream's order. */

import {
  digest,
  type Fields,
  isObject,
  note,
  reference,
  refuseUnknown,
  text,
  time,
  token,
  TOKEN,
  word,
} from "./fields.js";
import type { ActionEnvelope, ActionRef, AuthoritativeSource, Issue } from "./values.js";
import {
  ACTIONS,
  AUTHORITIES,
  IDENTITY_NAMESPACES,
  PRIVACY_CLASSES,
  SCHEMA_VERSION,
  TENANT_NAMESPACES,
} from "./vocabulary.js";

const MOST_RESOURCES = 32;

const ENVELOPE_FIELDS: ReadonlySet<string> = new Set([
  "action",
  "actor",
  "audience",
  "authoritativeSource",
  "capabilityId",
  "causationId",
  "contentDigest",
  "correlationId",
  "eventId",
  "expiresAt",
  "idempotencyKey",
  "issuer",
  "occurredAt",
  "policyReceiptId",
  "privacyClass",
  "requestDigest",
  "resourceRefs",
  "schemaVersion",
  "sequence",
  "subject",
  "tenantRef",
  "validationReceiptId",
]);
const SOURCE_FIELDS: ReadonlySet<string> = new Set([
  "authority",
  "sourceDigest",
  "sourceId",
  "sourceType",
  "sourceVersion",
  "tenantRef",
]);
const SOURCE_TYPE = /^[a-z][a-z0-9.-]{1,63}\/[a-z][a-z0-9.-]{0,63}$/;
const SEQUENCE = /^(?:0|[1-9][0-9]*)$/;
const SEQUENCE_LENGTH = 40;
const REFERENCE_LENGTH = 512;
const TENANT_LENGTH = 256;
const ACTION_LENGTH = 128;
const PARTY_LENGTH = 64;
const CLASS_LENGTH = 2;
/** What is seen in a room is told of at the higher privacy classes alone. */
const SPACE_ACTION = "ruview.semantic.publish";
const SPACE_CLASSES: ReadonlySet<string> = new Set(["P2", "P3"]);

/** The envelope, or everything that is wrong with its structure. */
export function readActionEnvelope(value: unknown): ActionEnvelope | readonly Issue[] {
  if (!isObject(value)) return [{ path: "$", code: "invalid_type" }];
  const fields: Fields = { members: value, path: "$", issues: [] };
  refuseUnknown(fields, ENVELOPE_FIELDS);
  // The order of asking is the order of the issues.
  const found = {
    schemaVersion: word(fields, "schemaVersion", new Set([SCHEMA_VERSION])),
    eventId: token(fields, "eventId"),
    ...parties(fields),
    subject: reference(fields, "subject", IDENTITY_NAMESPACES, REFERENCE_LENGTH),
    actor: value["actor"] === undefined ? undefined : reference(fields, "actor", IDENTITY_NAMESPACES, REFERENCE_LENGTH),
    tenantRef: reference(fields, "tenantRef", TENANT_NAMESPACES, TENANT_LENGTH),
    action: word(fields, "action", ACTIONS, ACTION_LENGTH),
    resourceRefs: resourceRefs(fields),
    requestDigest: digest(fields, "requestDigest", { optional: true }),
    contentDigest: digest(fields, "contentDigest", { optional: true }),
    idempotencyKey: token(fields, "idempotencyKey", { optional: true }),
    correlationId: token(fields, "correlationId"),
    causationId: token(fields, "causationId", { optional: true }),
    sequence: text(fields, "sequence", { longest: SEQUENCE_LENGTH, form: SEQUENCE, optional: true }),
    policyReceiptId: token(fields, "policyReceiptId"),
    capabilityId: token(fields, "capabilityId", { optional: true }),
    validationReceiptId: token(fields, "validationReceiptId", { optional: true }),
    ...times(fields),
    privacyClass: text(fields, "privacyClass", { longest: CLASS_LENGTH }),
  };
  judgePrivacyClass(fields, found.privacyClass, found.action);
  missWhatTheActionNeeds(fields, found.action);
  const authoritativeSource = readSource(fields, found.action, found.tenantRef);
  if (fields.issues.length > 0) return fields.issues;
  // Nothing is wrong, so that what is required is there; what is absent is left out.
  const members = Object.entries({ ...found, authoritativeSource }).filter(([, member]) => member !== undefined);
  return Object.freeze(Object.fromEntries(members)) as unknown as ActionEnvelope;
}

/** Issuer and audience; upstream judges the words once it has both texts. */
function parties(fields: Fields): { readonly issuer: string | undefined; readonly audience: string | undefined } {
  const issuer = text(fields, "issuer", { longest: PARTY_LENGTH });
  const audience = text(fields, "audience", { longest: PARTY_LENGTH });
  if (issuer !== undefined && !AUTHORITIES.has(issuer)) note(fields, "issuer", "invalid_authority");
  if (audience !== undefined && !AUTHORITIES.has(audience)) note(fields, "audience", "invalid_authority");
  return { issuer, audience };
}

function resourceRefs(fields: Fields): readonly string[] {
  const value = fields.members["resourceRefs"];
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_RESOURCES) {
    note(fields, "resourceRefs", "invalid_type");
    return [];
  }
  const found: string[] = [];
  for (const [index, resource] of (value as readonly unknown[]).entries()) {
    if (typeof resource !== "string" || resource.length > REFERENCE_LENGTH || !TOKEN.test(resource)) {
      note(fields, `resourceRefs[${index}]`, "invalid_format");
    } else if (found.includes(resource)) {
      note(fields, `resourceRefs[${index}]`, "unsupported_value");
    } else {
      found.push(resource);
    }
  }
  return found;
}

function times(fields: Fields): { readonly occurredAt: string | undefined; readonly expiresAt: string | undefined } {
  const occurredAt = time(fields, "occurredAt");
  const expiresAt = time(fields, "expiresAt", { optional: true });
  if (occurredAt !== undefined && expiresAt !== undefined && Date.parse(expiresAt) <= Date.parse(occurredAt)) {
    note(fields, "expiresAt", "unsupported_value");
  }
  return { occurredAt, expiresAt };
}

function judgePrivacyClass(fields: Fields, found: string | undefined, action: string | undefined): void {
  if (found === undefined) return;
  if (!PRIVACY_CLASSES.has(found)) note(fields, "privacyClass", "unsupported_value");
  if (action === SPACE_ACTION && !SPACE_CLASSES.has(found)) note(fields, "privacyClass", "privacy_ceiling_exceeded");
}

function missWhatTheActionNeeds(fields: Fields, action: string | undefined): void {
  const { required } = ACTIONS.get(action ?? "") ?? { required: [] };
  for (const name of required) {
    if (fields.members[name] === undefined) note(fields, name, "missing");
  }
}

function readSource(
  envelope: Fields,
  action: string | undefined,
  tenant: ActionRef | undefined,
): Partial<Record<keyof AuthoritativeSource, unknown>> {
  const value = envelope.members["authoritativeSource"];
  if (!isObject(value)) {
    note(envelope, "authoritativeSource", "invalid_type");
    return {};
  }
  const fields: Fields = { members: value, path: `${envelope.path}.authoritativeSource`, issues: envelope.issues };
  refuseUnknown(fields, SOURCE_FIELDS);
  const source = {
    authority: text(fields, "authority", { longest: PARTY_LENGTH }),
    tenantRef: reference(fields, "tenantRef", TENANT_NAMESPACES, TENANT_LENGTH),
    sourceType: text(fields, "sourceType", { longest: 128, form: SOURCE_TYPE }),
    sourceId: text(fields, "sourceId", { longest: REFERENCE_LENGTH }),
    sourceVersion: token(fields, "sourceVersion", { longest: 128 }),
    sourceDigest: digest(fields, "sourceDigest"),
  };
  judgeOwner(fields, source.authority, source.sourceType, action);
  const { tenantRef } = source;
  const differs = tenantRef?.namespace !== tenant?.namespace || tenantRef?.id !== tenant?.id;
  if (tenant !== undefined && tenantRef !== undefined && differs) note(fields, "tenantRef", "tenant_mismatch");
  return source;
}

function judgeOwner(
  fields: Fields,
  authority: string | undefined,
  sourceType: string | undefined,
  action: string | undefined,
): void {
  if (authority === undefined) return;
  if (!AUTHORITIES.has(authority)) {
    note(fields, "authority", "invalid_authority");
    return;
  }
  if (sourceType !== undefined && !sourceType.startsWith(`${authority}/`)) {
    note(fields, "sourceType", "invalid_authority");
  }
  if (ACTIONS.get(action ?? "")?.owners.has(authority) === false) note(fields, "authority", "invalid_authority");
}
