/** Instants: UTC, whole milliseconds, years 1 to 9999 (semantics §3). Here a number, on the wire a Timestamp. */

import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

import { InstantError } from "./errors.js";

/** 0001-01-01T00:00:00.000Z, in milliseconds since 1970. */
export const FIRST_INSTANT_MS = -62_135_596_800_000;
/** 9999-12-31T23:59:59.999Z, in milliseconds since 1970. */
export const LAST_INSTANT_MS = 253_402_300_799_999;

const NANOS_PER_MS = 1_000_000;
const NANOS_PER_SECOND = 1_000_000_000;

/**
 * Milliseconds since 1970-01-01T00:00:00Z. An absent timestamp is the one of value 0, as everywhere in protobuf.
 *
 * @throws {InstantError} for a part of a millisecond, nanoseconds outside [0, 10^9), or a year outside 1 to 9999.
 */
export function instantMs(value: Timestamp | undefined): number {
  const { seconds, nanos } = value ?? { seconds: 0n, nanos: 0 };
  if (nanos < 0 || nanos >= NANOS_PER_SECOND || nanos % NANOS_PER_MS !== 0) {
    throw new InstantError("an instant has whole milliseconds");
  }
  // Beyond 2^53 the number is not exact, and out of range either way.
  return inRange(Number(seconds) * 1_000 + nanos / NANOS_PER_MS);
}

/**
 * The Timestamp of an instant in milliseconds since 1970.
 *
 * @throws {InstantError} outside the years 1 to 9999, and for a part of a millisecond.
 */
export function timestamp(ms: number): Timestamp {
  const seconds = Math.floor(inRange(ms) / 1_000);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: (ms - seconds * 1_000) * NANOS_PER_MS });
}

function inRange(ms: number): number {
  if (!(ms >= FIRST_INSTANT_MS && ms <= LAST_INSTANT_MS)) {
    throw new InstantError("an instant lies between the years 1 and 9999");
  }
  if (!Number.isInteger(ms)) {
    throw new InstantError("an instant has whole milliseconds");
  }
  return ms;
}
