/**
 * Reading JSON strictly: JSON.parse keeps the last of two equal names, rounds integers and says not where it failed.
 */

import { fromUtf8, isWellFormed } from "./bytes.js";
import { JsonError, type JsonProblem } from "./errors.js";

/** What JSON can say. Objects that were read hold their members as own properties, whatever they are called. */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/** Arrays and objects inside one another, the outermost counted: `[]` has depth 1 (semantics §10). */
export const MAX_DEPTH = 32;

/**
 * Read a JSON document that could be content, canonical or not; time and memory grow linearly with `data`.
 *
 * @throws {JsonError} bad_utf8; not_json (also a byte order mark, NaN, trailing text, nothing at all); too_deep;
 * duplicate_key (after unescaping, case D06); integer_out_of_range (a literal without fraction and exponent beyond
 * ±(2^53-1), case D04); number_out_of_range (a literal that overflows to infinity); nul; lone_surrogate. Of several,
 * the first in document order is named.
 */
export function parse(data: Uint8Array, { maxDepth = MAX_DEPTH } = {}): JsonValue {
  const text = fromUtf8(data);
  if (text === undefined) throw new JsonError("bad_utf8");
  if (depthOf(data) > maxDepth) throw new JsonError("too_deep");
  const found = readDocument(text);
  if (found instanceof Refused) throw new JsonError(found.problem, found.path);
  return found;
}

/** Stands in for a value that is refused, or that holds one, until the whole text is known to be JSON. */
class Refused {
  constructor(
    readonly problem: JsonProblem,
    /** JSON pointer from the value to what is wrong in it. */
    readonly path: string = "",
  ) {}

  under(name: string): Refused {
    return new Refused(this.problem, `/${shownName(name)}${this.path}`);
  }
}

type Read = JsonValue | Refused;

/** A place in the text; everything that reads moves it on. */
interface Cursor {
  readonly text: string;
  at: number;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const WHITESPACE = /[ \t\n\r]*/y;
const HEXADECIMAL = /^[0-9a-fA-F]{4}$/;
const WORDS: readonly (readonly [string, Read])[] = [
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", new Refused("not_json")],
  ["Infinity", new Refused("not_json")],
  ["-Infinity", new Refused("not_json")],
];
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

function readDocument(text: string): Read {
  const cursor: Cursor = { text, at: 0 };
  skip(WHITESPACE, cursor);
  const value = readGuarded(cursor);
  skip(WHITESPACE, cursor);
  if (cursor.at !== text.length) throw new JsonError("not_json");
  return value;
}

/** Recursion is bounded by the depth that was asked for, unless that is more than the stack can follow. */
function readGuarded(cursor: Cursor): Read {
  try {
    return readValue(cursor);
  } catch (error) {
    throw error instanceof RangeError ? new JsonError("too_deep") : error;
  }
}

function readValue(cursor: Cursor): Read {
  switch (cursor.text[cursor.at]) {
    case '"':
      return judgedText(readText(cursor));
    case "[":
      return readArray(cursor);
    case "{":
      return readObject(cursor);
    default:
      return readWord(cursor);
  }
}

function readArray(cursor: Cursor): Read {
  const items: JsonValue[] = [];
  let refused: Refused | undefined;
  let count = 0;
  for (const _ of betweenCommas(cursor, "]")) {
    const item = readValue(cursor);
    if (item instanceof Refused) refused ??= item.under(String(count));
    else items.push(item);
    count += 1;
  }
  return refused ?? items;
}

function readObject(cursor: Cursor): Read {
  const members = new Map<string, JsonValue>();
  const names = new Map<string, number>();
  let refused: Refused | undefined;
  for (const _ of betweenCommas(cursor, "}")) {
    const name = readText(cursor);
    skip(WHITESPACE, cursor);
    take(":", cursor);
    skip(WHITESPACE, cursor);
    const value = readValue(cursor);
    names.set(name, (names.get(name) ?? 0) + 1);
    const badName = judgedText(name);
    if (badName instanceof Refused) refused ??= badName.under(name);
    else if (value instanceof Refused) refused ??= value.under(name);
    else members.set(name, value);
  }
  for (const [name, count] of names) {
    if (count > 1) return new Refused("duplicate_key").under(name);
  }
  // Own properties, also `__proto__`, which an assignment would not make one.
  return refused ?? Object.fromEntries(members);
}

/** Enters brackets, stops before each of what they hold, and leaves them at `end`. */
function* betweenCommas(cursor: Cursor, end: string): Generator<void> {
  cursor.at += 1;
  skip(WHITESPACE, cursor);
  if (cursor.text[cursor.at] === end) {
    cursor.at += 1;
    return;
  }
  for (;;) {
    yield;
    skip(WHITESPACE, cursor);
    if (cursor.text[cursor.at] === end) break;
    take(",", cursor);
    skip(WHITESPACE, cursor);
  }
  cursor.at += 1;
}

function readWord(cursor: Cursor): Read {
  for (const [word, value] of WORDS) {
    if (cursor.text.startsWith(word, cursor.at)) {
      cursor.at += word.length;
      return value;
    }
  }
  NUMBER.lastIndex = cursor.at;
  const literal = NUMBER.exec(cursor.text);
  if (literal === null) throw new JsonError("not_json");
  cursor.at += literal[0].length;
  const isInteger = literal[1] === undefined && literal[2] === undefined;
  return isInteger ? judgedInteger(literal[0]) : judgedNumber(literal[0]);
}

function judgedInteger(literal: string): Read {
  const value = Number(literal);
  // A literal just beyond 2^53-1 may round, but never to a safe integer.
  return Number.isSafeInteger(value) ? value + 0 : new Refused("integer_out_of_range");
}

function judgedNumber(literal: string): Read {
  const value = Number(literal);
  return Number.isFinite(value) ? value : new Refused("number_out_of_range");
}

function judgedText(text: string): string | Refused {
  if (text.includes("\u0000")) return new Refused("nul");
  return isWellFormed(text) ? text : new Refused("lone_surrogate");
}

function readText(cursor: Cursor): string {
  take('"', cursor);
  const parts: string[] = [];
  for (;;) {
    parts.push(skip(PLAIN, cursor));
    const unit = cursor.text[cursor.at];
    if (unit === '"') break;
    if (unit !== "\\") throw new JsonError("not_json");
    parts.push(readEscape(cursor));
  }
  cursor.at += 1;
  return parts.join("");
}

function readEscape(cursor: Cursor): string {
  const letter = cursor.text[cursor.at + 1] ?? "";
  if (letter === "u") {
    const digits = cursor.text.slice(cursor.at + 2, cursor.at + 6);
    if (!HEXADECIMAL.test(digits)) throw new JsonError("not_json");
    cursor.at += 6;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }
  const meant = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
  if (meant === undefined) throw new JsonError("not_json");
  cursor.at += 2;
  return meant;
}

function take(unit: string, cursor: Cursor): void {
  if (cursor.text[cursor.at] !== unit) throw new JsonError("not_json");
  cursor.at += 1;
}

/** Moves over all that matches here, which can be nothing, and returns it. */
function skip(pattern: RegExp, cursor: Cursor): string {
  pattern.lastIndex = cursor.at;
  const matched = pattern.exec(cursor.text)?.[0] ?? "";
  cursor.at += matched.length;
  return matched;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** How deep a reader would get, told from the brackets outside strings before anything recurses. */
function depthOf(data: Uint8Array): number {
  let deepest = 0;
  let depth = 0;
  let inText = false;
  for (let at = 0; at < data.length; at += 1) {
    const byte = data[at] as number;
    if (inText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) {
      inText = true;
    } else if (OPENING.has(byte)) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (CLOSING.has(byte)) {
      depth -= 1;
    }
  }
  return deepest;
}

const SHOWN_NAME_CHARACTERS = 64;

/** A name as a segment of a JSON pointer (RFC 6901), printable and cut short. */
function shownName(name: string): string {
  const characters = [...name];
  const cut =
    characters.length <= SHOWN_NAME_CHARACTERS ? name : `${characters.slice(0, SHOWN_NAME_CHARACTERS).join("")}…`;
  return cut
    .replace(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`)
    .replaceAll("~", "~0")
    .replaceAll("/", "~1");
}
