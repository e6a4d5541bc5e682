/** The protobuf wire format, read byte by byte; whatever is not well-formed throws `NotParsable`. */

import { copyOf } from "./bytes.js";

/** The bytes are not a well-formed message. */
export class NotParsable extends Error {}

/** A place in the bytes; everything that reads moves it on, and nothing reads beyond the end. */
export interface WireCursor {
  readonly bytes: Uint8Array;
  at: number;
  readonly end: number;
}

/** The wire types of protobuf. */
export const VARINT = 0;
export const FIXED64 = 1;
export const DELIMITED = 2;
const START_GROUP = 3;
const END_GROUP = 4;
export const FIXED32 = 5;

const MOST_VARINT_BYTES = 10;
const MOST_TAG_BYTES = 5;
const LARGEST_LENGTH = 2 ** 31 - 1;

/** The 64 bits of a varint, as two unsigned halves. */
export interface Bits {
  readonly low: number;
  readonly high: number;
}

/** A field's number and how its value is written. */
export interface Tag {
  readonly number: number;
  readonly wireType: number;
}

/** A varint of at most ten bytes; bits beyond the 64th are dropped, as every parser does. */
export function readVarint(cursor: WireCursor): Bits {
  return varintOf(cursor, MOST_VARINT_BYTES);
}

/** The tag before a value. Field 0 and the two wire types that mean nothing are not parsable. */
export function readTag(cursor: WireCursor): Tag {
  const tag = anyTag(cursor);
  if (tag.number === 0) throw new NotParsable();
  return tag;
}

function anyTag(cursor: WireCursor): Tag {
  const { low, high } = varintOf(cursor, MOST_TAG_BYTES);
  const tag = { number: low >>> 3, wireType: low & 7 };
  if (high !== 0 || tag.wireType > FIXED32) throw new NotParsable();
  return tag;
}

/** The place of a value that is written after its length; the cursor is moved behind it. */
export function readDelimited(cursor: WireCursor): WireCursor {
  const { low, high } = varintOf(cursor, MOST_TAG_BYTES);
  if (high !== 0 || low > LARGEST_LENGTH || low > cursor.end - cursor.at) throw new NotParsable();
  const value = { bytes: cursor.bytes, at: cursor.at, end: cursor.at + low };
  cursor.at += low;
  return value;
}

/** A copy of what is left to read. */
export function restOf(cursor: WireCursor): Uint8Array {
  return copyOf(cursor.bytes.subarray(cursor.at, cursor.end));
}

/** Moves over a value that nothing is known of. `depth` is how many groups may be inside one another in it. */
export function skipValue(cursor: WireCursor, { number, wireType }: Tag, depth: number): void {
  switch (wireType) {
    case VARINT:
      readVarint(cursor);
      break;
    case FIXED64:
      move(cursor, 8);
      break;
    case DELIMITED:
      readDelimited(cursor);
      break;
    case START_GROUP:
      skipGroup(cursor, number, depth);
      break;
    case FIXED32:
      move(cursor, 4);
      break;
    default:
      // The end of a group that did not begin.
      throw new NotParsable();
  }
}

function skipGroup(cursor: WireCursor, number: number, depth: number): void {
  if (depth <= 0) throw new NotParsable();
  for (;;) {
    // Within what is skipped, other parsers do not look at the numbers either.
    const tag = anyTag(cursor);
    if (tag.wireType !== END_GROUP) skipValue(cursor, tag, depth - 1);
    else if (tag.number === number) return;
    else throw new NotParsable();
  }
}

function move(cursor: WireCursor, bytes: number): void {
  if (bytes > cursor.end - cursor.at) throw new NotParsable();
  cursor.at += bytes;
}

function varintOf(cursor: WireCursor, mostBytes: number): Bits {
  let low = 0;
  let high = 0;
  for (let index = 0; index < mostBytes && cursor.at < cursor.end; index += 1) {
    const byte = cursor.bytes[cursor.at] as number;
    cursor.at += 1;
    const bits = byte & 0x7f;
    // The fifth byte lies in both halves.
    if (index < 5) low |= bits << (7 * index);
    if (index === 4) high |= bits >> 4;
    if (index > 4) high |= bits << (7 * index - 32);
    if ((byte & 0x80) === 0) return { low: low >>> 0, high: high >>> 0 };
  }
  throw new NotParsable();
}
