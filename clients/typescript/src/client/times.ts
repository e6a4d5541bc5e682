/** Times of JavaScript as the contract's: whole milliseconds (semantics §3). */

import { create } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, type Timestamp, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";

/** The instant; undefined stays undefined. @throws {RangeError} for an invalid Date. */
export function timeMessage(time: Date | undefined): Timestamp | undefined {
  if (time === undefined) {
    return undefined;
  }
  if (Number.isNaN(time.getTime())) {
    throw new RangeError("an invalid Date is no time");
  }
  return timestampFromMs(time.getTime());
}

/** When; the epoch where a message has no time. */
export function dateOf(time: Timestamp | undefined): Date {
  return new Date(time === undefined ? 0 : timestampMs(time));
}

/**
 * The duration of so many milliseconds; undefined stays undefined.
 *
 * @throws {RangeError} for what is no whole number.
 */
export function durationMessage(ms: number | undefined): Duration | undefined {
  if (ms === undefined) {
    return undefined;
  }
  if (!Number.isSafeInteger(ms)) {
    throw new RangeError(`a lifetime is a whole number of milliseconds, not ${ms}`);
  }
  return create(DurationSchema, { seconds: BigInt(Math.trunc(ms / 1_000)), nanos: (ms % 1_000) * 1_000_000 });
}
