/** Takes the fields of an object one by one and notes what is wrong with them, as upstream's validator does. */

import type { ActionRef, Issue, IssueCode } from "./values.js";

/** What ids that others compare are made of: a full match. */
export const TOKEN = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$/;

const DIGEST = /^sha256:[a-f0-9]{64}$/;
const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/;
const CONTROL = /[\u0000-\u001f\u007f]/;
const ID_LENGTH = 256;
const NAMESPACE_LENGTH = 64;
const DIGEST_LENGTH = 71;
const TIME_LENGTH = 24;

/** The members of an object, as they came. */
export type Members = Readonly<Record<string, unknown>>;

/** What a text has to be. Lengths are in UTF-16 code units; 256 unless told otherwise. */
export interface TextRule {
  readonly longest?: number;
  readonly form?: RegExp;
  readonly optional?: boolean;
}

/**
 * The members of one object, which stands at `path`; whatever is wrong is noted in `issues`, in the order of asking.
 */
export interface Fields {
  readonly members: Members;
  readonly path: string;
  readonly issues: Issue[];
}

/** Whether the value is an object like those of JSON. */
export function isObject(value: unknown): value is Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Something is wrong with one member. */
export function note(fields: Fields, name: string, code: IssueCode): void {
  fields.issues.push({ path: `${fields.path}.${name}`, code });
}

/** Notes every member that a schema does not have. */
export function refuseUnknown(fields: Fields, known: ReadonlySet<string>): void {
  for (const name of Object.keys(fields.members)) {
    if (!known.has(name)) note(fields, name, "unknown_field");
  }
}

/** A text neither empty nor too long, without control characters; undefined when it is absent or wrong. */
export function text(fields: Fields, name: string, rule: TextRule = {}): string | undefined {
  const value = fields.members[name];
  if (value === undefined) {
    if (rule.optional !== true) note(fields, name, "missing");
    return undefined;
  }
  if (typeof value !== "string") {
    note(fields, name, "invalid_type");
    return undefined;
  }
  const isLong = value.length > (rule.longest ?? ID_LENGTH);
  if (value === "" || isLong || CONTROL.test(value) || rule.form?.test(value) === false) {
    note(fields, name, "invalid_format");
    return undefined;
  }
  return value;
}

/** A text that is one of the words; undefined for any other. */
export function word(
  fields: Fields,
  name: string,
  words: { has(word: string): boolean },
  longest = NAMESPACE_LENGTH,
): string | undefined {
  const value = text(fields, name, { longest });
  if (value === undefined || words.has(value)) return value;
  note(fields, name, "unsupported_value");
  return undefined;
}

/** An id as others compare it. */
export function token(fields: Fields, name: string, rule: Omit<TextRule, "form"> = {}): string | undefined {
  return text(fields, name, { ...rule, form: TOKEN });
}

/** A SHA-256 digest: "sha256:" and 64 lowercase hexadecimal digits. */
export function digest(fields: Fields, name: string, rule: Pick<TextRule, "optional"> = {}): string | undefined {
  return text(fields, name, { ...rule, longest: DIGEST_LENGTH, form: DIGEST });
}

/** A time in UTC with exactly three decimals that exists in the calendar. */
export function time(fields: Fields, name: string, rule: Pick<TextRule, "optional"> = {}): string | undefined {
  const value = text(fields, name, { ...rule, longest: TIME_LENGTH });
  if (value === undefined || isTime(value)) return value;
  note(fields, name, "invalid_format");
  return undefined;
}

/** A reference `{namespace, id}`; its namespace is one of those given. */
export function reference(
  fields: Fields,
  name: string,
  namespaces: ReadonlySet<string>,
  longest: number,
): ActionRef | undefined {
  const value = fields.members[name];
  if (!isObject(value)) {
    note(fields, name, "invalid_type");
    return undefined;
  }
  const inner: Fields = { members: value, path: `${fields.path}.${name}`, issues: fields.issues };
  refuseUnknown(inner, REFERENCE_FIELDS);
  const namespace = text(inner, "namespace", { longest: NAMESPACE_LENGTH });
  const id = text(inner, "id", { longest });
  if (namespace !== undefined && !namespaces.has(namespace)) {
    note(inner, "namespace", "identity_namespace_required");
    return undefined;
  }
  return namespace === undefined || id === undefined ? undefined : { namespace, id };
}

const REFERENCE_FIELDS: ReadonlySet<string> = new Set(["namespace", "id"]);

/** Whether the text is exactly how the instant that it names is written: there is no 30th of February. */
function isTime(value: string): boolean {
  const ms = TIME.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isFinite(ms) && new Date(ms).toISOString() === value;
}
