/**
 * Canonical JSON (RFC 8785), and the stricter rule for content.
 *
 * Two rules are kept apart:
 *
 * - `canonicalize` follows RFC 8785 to the letter. It writes the double 1e20 as `100000000000000000000` and a NUL as
 *   `\u0000`, as the published vectors do.
 * - `parse`, `requireCanonical` and `canonicalContent` apply the authority's rule for content (semantics §3), which is
 *   I-JSON (RFC 7493) and less: no NUL, no nesting deeper than `MAX_DEPTH`, no integer literal beyond ±(2^53-1).
 *
 * The number rule follows from both. A document whose canonical form holds an integer literal beyond ±(2^53-1) can be
 * canonicalized and digested, but is no content: no reader could tell 2^53+1 rounded from 2^53 meant. Carry such
 * numbers as decimal strings. Whatever `canonicalContent` returns, `requireCanonical` takes.
 */

import { isWellFormed, sameBytes, utf8 } from "./bytes.js";
import { JsonError, NonCanonicalJson } from "./errors.js";
import { MAX_DEPTH, type JsonValue, parse } from "./json-reader.js";

/**
 * The RFC 8785 bytes of a value made of null, booleans, numbers, bigints, strings, arrays without holes and plain
 * objects. A number is a double and is written as one; a bigint is an integer, and ends at ±(2^53-1) (case D04).
 *
 * @throws {JsonError} integer_out_of_range, number_out_of_range (NaN, infinity), lone_surrogate, too_deep (cyclic, or
 * beyond the stack), unsupported_type (also undefined, anywhere).
 */
export function canonicalize(value: unknown): Uint8Array {
  try {
    return utf8(written(value));
  } catch (error) {
    throw error instanceof RangeError ? new JsonError("too_deep") : error;
  }
}

/**
 * Read a document that must already be exactly its RFC 8785 form, as content must be (semantics §3).
 *
 * @throws {NonCanonicalJson} with any problem of `parse`, or not_canonical.
 */
export function requireCanonical(data: Uint8Array, { maxDepth = MAX_DEPTH } = {}): JsonValue {
  let value: JsonValue;
  let again: Uint8Array;
  try {
    value = parse(data, { maxDepth });
    again = canonicalize(value);
  } catch (error) {
    throw error instanceof JsonError ? new NonCanonicalJson(error.problem, error.path) : error;
  }
  if (!sameBytes(again, data)) throw new NonCanonicalJson("not_canonical");
  return value;
}

/** Whether `requireCanonical` takes `data`. */
export function isCanonical(data: Uint8Array, { maxDepth = MAX_DEPTH } = {}): boolean {
  try {
    requireCanonical(data, { maxDepth });
    return true;
  } catch (error) {
    if (error instanceof NonCanonicalJson) return false;
    throw error;
  }
}

/**
 * The bytes to propose and commit for `value`: its RFC 8785 form, once it is known to be acceptable content.
 *
 * @throws {JsonError} with any problem of `canonicalize` or `parse`.
 */
export function canonicalContent(value: unknown, { maxDepth = MAX_DEPTH } = {}): Uint8Array {
  const data = canonicalize(value);
  parse(data, { maxDepth });
  return data;
}

function written(value: unknown): string {
  switch (typeof value) {
    case "boolean":
      return String(value);
    case "number":
      return writtenNumber(value);
    case "bigint":
      return writtenInteger(value);
    case "string":
      return writtenText(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? writtenArray(value) : writtenObject(value);
    default:
      throw new JsonError("unsupported_type");
  }
}

/** RFC 8785 takes its number format from ECMAScript, so the language's own is the rule. */
function writtenNumber(value: number): string {
  if (!Number.isFinite(value)) throw new JsonError("number_out_of_range");
  return JSON.stringify(value);
}

function writtenInteger(value: bigint): string {
  if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER)) {
    throw new JsonError("integer_out_of_range");
  }
  return value.toString();
}

function writtenText(text: string): string {
  if (!isWellFormed(text)) throw new JsonError("lone_surrogate");
  return JSON.stringify(text);
}

function writtenArray(items: readonly unknown[]): string {
  // `map` would leave holes as holes; iteration reads them as undefined, which is refused.
  return `[${Array.from(items, written).join(",")}]`;
}

function writtenObject(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new JsonError("unsupported_type");
  const members = new Map<string, unknown>(Object.entries(value));
  // Sorting without a comparison is by UTF-16 code units, which is what RFC 8785 asks for.
  const names = [...members.keys()].sort();
  return `{${names.map((name) => `${writtenText(name)}:${written(members.get(name))}`).join(",")}}`;
}
