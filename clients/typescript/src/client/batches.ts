/** Many requests in few calls: divided by the limits of a batch, asked again one by one, answered in their order. */

import { type Message, toBinary } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { Code } from "@connectrpc/connect";

import type { Status } from "../proto/google/rpc/status_pb.js";
import { DeadlineExceeded } from "./errors.js";
import { AuthorityError } from "./failures.js";
import { type RetryPolicy, withRetries } from "./retries.js";
import { type KeyedCall, errorIn, failureOf, transportError } from "./statuses.js";

/** The most commits that the authority takes in one call (semantics §10). */
export const BATCH_ITEMS = 512;
/** The most bytes of them that are sent in one call, below what gRPC takes in a message. */
export const BATCH_BYTES = 3 * 1024 * 1024;
/** Milliseconds: a call that is sent with less time left cannot be answered, and would only leave a doubt. */
const LEAST_MS = 10;

/** What one item of a batch was answered with. */
export interface Outcome<Response extends Message> {
  readonly outcome:
    | { readonly case: "result"; readonly value: Response }
    | { readonly case: "status"; readonly value: Status }
    | { readonly case: undefined; readonly value?: undefined };
}

/** One request of a batch, and what has become of it so far. */
export class BatchItem<Request extends Message, Response extends Message> {
  /** What it adds to the size of a batch: a tag of one byte, its length, itself. */
  readonly bytesInBatch: number;
  answer: Response | AuthorityError | undefined;
  attempts = 0;

  constructor(
    /** What a failure of this item is told as: the batch's RPC with the item's own key. */
    readonly call: KeyedCall,
    schema: GenMessage<Request>,
    readonly request: Request,
  ) {
    const size = toBinary(schema, request).length;
    this.bytesInBatch = 1 + Math.max(1, Math.ceil((32 - Math.clz32(size)) / 7)) + size;
  }

  /** Whether asking once more may give another answer. */
  get isOpen(): boolean {
    return this.answer === undefined || (this.answer instanceof AuthorityError && this.answer.retryable);
  }

  /** The final answer: one whose request was never sent has none, and says so. */
  settled(): Response | AuthorityError {
    return this.answer ?? transportError(this.call, "not sent");
  }

  /** Note the outcome of an attempt. */
  take({ outcome }: Outcome<Response>): void {
    if (outcome.case === "result") {
      this.attempts += 1;
      this.answer = outcome.value;
    } else if (outcome.case === "status" && outcome.value.code !== 0) {
      this.fail(errorIn(this.call, outcome.value));
    } else {
      this.fail(transportError(this.call, "the answer holds neither a result nor a refusal"));
    }
  }

  /** Note that an attempt failed, this item's own or the whole call's. */
  fail(error: AuthorityError): void {
    this.attempts += 1;
    const inDoubt = this.answer instanceof AuthorityError && this.answer.outcomeUnknown;
    const { rpc, keyField, key } = this.call;
    this.answer = error.with({ rpc: rpc.name, keyField, key }).after(this.attempts, inDoubt);
  }
}

/** Sends the items in one call, which may take so many milliseconds: one outcome each, in order. */
export type Ask<Request extends Message, Response extends Message> = (
  items: readonly BatchItem<Request, Response>[],
  ms: number,
) => Promise<readonly Outcome<Response>[]>;

/** The items in their order, in parts that each fit one call; one that fits none goes alone, to be refused alone. */
export function divided<Item extends { readonly bytesInBatch: number }>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = [];
  let size = 0;
  for (const item of items) {
    const part = parts.at(-1);
    if (part === undefined || part.length === BATCH_ITEMS || size + item.bytesInBatch > BATCH_BYTES) {
      parts.push([item]);
      size = item.bytesInBatch;
    } else {
      part.push(item);
      size += item.bytesInBatch;
    }
  }
  return parts;
}

/**
 * Ask for the items of one call until each has its final answer, or enough was tried, or the time is up.
 *
 * A call that fails is tried again as one, with the same bytes; after one that is answered only those items are asked
 * for again whose own status says that it may help, and the wait is the longest that any of them asks for.
 */
export async function settle<Request extends Message, Response extends Message>(
  part: readonly BatchItem<Request, Response>[],
  ask: Ask<Request, Response>,
  options: { readonly ms: number; readonly policy: RetryPolicy; readonly signal: AbortSignal | undefined },
): Promise<void> {
  if (options.ms < LEAST_MS) {
    for (const item of part) {
      const sentence = "not sent: the time for the whole batch ran out before";
      item.answer = new DeadlineExceeded(failureOf(item.call, sentence, { code: Code.DeadlineExceeded }));
    }
    return;
  }
  const { ms, policy, signal } = options;
  try {
    await withRetries(
      (allowed) =>
        askOnce(
          part.filter((item) => item.isOpen),
          ask,
          allowed,
        ),
      { timeoutMs: ms, policy, signal },
    );
  } catch (error) {
    // Each item has been told already, by its own key.
    if (!(error instanceof AuthorityError)) {
      throw error;
    }
  }
}

/** @throws {AuthorityError} the failure that has most to wait for, if anything is worth another attempt. */
async function askOnce<Request extends Message, Response extends Message>(
  items: readonly BatchItem<Request, Response>[],
  ask: Ask<Request, Response>,
  ms: number,
): Promise<void> {
  try {
    const outcomes = await ask(items, ms);
    items.forEach((item, index) => item.take(outcomes[index]!));
  } catch (error) {
    if (error instanceof AuthorityError) {
      items.forEach((item) => item.fail(error));
    }
    throw error;
  }
  const [later] = items
    .filter((item) => item.isOpen)
    .flatMap(({ answer }) => (answer instanceof AuthorityError ? [answer] : []))
    .sort((one, other) => (other.failure.retryDelayMs ?? 0) - (one.failure.retryDelayMs ?? 0));
  if (later !== undefined) {
    throw later;
  }
}
