/** Many requests over a stream: sent as there is room, answered as they are settled, sent again when a stream ends. */

import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";

import {
  type CommitValidatedRequest,
  type CommitValidatedResponse,
  type StreamCommitValidatedRequest,
  StreamCommitValidatedRequestSchema,
  type StreamCommitValidatedResponse,
} from "../proto/capability_authority/v1/capability_service_pb.js";
import type { BatchItem } from "./batches.js";
import { ConnectionClosed, DeadlineExceeded } from "./errors.js";
import { AuthorityError } from "./failures.js";
import { type RetryPolicy, delayAfter } from "./retries.js";
import { type KeyedCall, errorOf, failureOf, transportError } from "./statuses.js";

/** As many as the authority reads before it has answered the first of them (semantics §10). */
export const STREAM_WINDOW = 256;
/** Of requests that are not settled: no more are taken while there are so many. */
const WINDOW_BYTES = 16 * 1024 * 1024;
/** Milliseconds: what a stream waits before it sends, for each stream before it that brought nothing. */
const CAUTION_MS = 100;
/** Milliseconds that the last stream may take to end in order. */
const CLOSES_WITHIN_MS = 1_000;

/** One commit of a stream. */
export type CommitOfStream = BatchItem<CommitValidatedRequest, CommitValidatedResponse>;

/** Opens a stream with a proof of its own. `opened` is called once the authority has answered that it is open. */
export type Connect = (
  requests: AsyncIterable<StreamCommitValidatedRequest>,
  opened: () => void,
  signal: AbortSignal,
) => AsyncIterable<StreamCommitValidatedResponse>;

/** `window` items are taken before the first of them is handed over, and each has `ms` milliseconds from then on. */
export interface StreamSettings {
  readonly window: number;
  readonly ms: number;
  readonly policy: RetryPolicy;
  readonly signal: AbortSignal | undefined;
}

/** An item without its final answer, and until when it may be asked for. */
interface Waiting<Item> {
  readonly item: Item;
  readonly request: StreamCommitValidatedRequest;
  readonly deadline: number;
  /** Sent on the stream that is open, and not answered. */
  isUnderWay: boolean;
  /** Refused for now: it is sent again after a while. */
  isPaused: boolean;
}

/**
 * Has the items of a source answered, over as many streams, one after the other, as it takes.
 *
 * Three tasks: one takes from the source, one opens streams and reads from them (with one that writes to each), one
 * minds the time. Every item that was taken comes out once, whatever happens to a stream: it is sent again under the
 * same key until it is answered, enough was tried, or its time is up. Leaving early gives up what is under way: what
 * was sent may have happened, and the same keys tell.
 */
export class StreamedItems<Item extends CommitOfStream> {
  /** By tag, in the order in which they were taken: the first has least time left. */
  readonly #waiting = new Map<bigint, Waiting<Item>>();
  #waitingBytes = 0;
  #toSend: bigint[] = [];
  readonly #settled: Item[] = [];
  #isTaken = false;
  /** What is thrown once everything that was taken has come out. */
  #failure: unknown;
  readonly #stopping = new AbortController();
  #changed = new Change();

  /**
   * `call` is what a failure of the stream itself is told as.
   *
   * @throws {RangeError} for what could never send anything.
   */
  constructor(
    private readonly call: KeyedCall,
    private readonly source: AsyncIterator<Item>,
    private readonly connect: Connect,
    private readonly settings: StreamSettings,
  ) {
    if (!(settings.window >= 1) || !(settings.ms > 0)) {
      throw new RangeError("a stream needs a window of at least 1 and a positive timeout");
    }
  }

  /**
   * The items as they get their final answers.
   *
   * @throws once every item that was taken has come out: what the source threw, or the `AuthorityError` with which the
   *   authority refused the stream itself. At once: the reason of an aborted signal, and {ConnectionClosed}.
   */
  async *settled(): AsyncGenerator<Item, void, undefined> {
    const { signal } = this.settings;
    const giveUp = (): void => this.#stop(signal?.reason);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", giveUp);
    const serving = this.#begin(this.#serve());
    const minding = this.#begin(this.#mindTheTime());
    void this.#begin(this.#take());
    try {
      while (!this.#isOver || this.#settled.length > 0) {
        for (let item = this.#settled.shift(); item !== undefined; item = this.#settled.shift()) {
          yield item;
          this.#tell();
        }
        await this.#change(() => this.#settled.length > 0 || this.#isOver);
      }
      await this.#inOrder(serving);
    } finally {
      signal?.removeEventListener("abort", giveUp);
      this.#stop(new Stopped());
      // Whatever it waits for, it is not waited for: nothing that it gives now is sent.
      Promise.resolve(this.source.return?.()).catch(() => undefined);
      await Promise.all([serving, minding]);
    }
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  // --- what is taken, and given back ---------------------------------------------------------------------------------

  /** Takes items while there is room. What the source throws is told at the end. */
  async #take(): Promise<void> {
    try {
      for (let tag = 1n; await this.#room(); tag += 1n) {
        const next = await this.source.next();
        if (next.done) {
          break;
        }
        this.#admit(tag, next.value);
      }
    } catch (error) {
      this.#failure ??= error;
    }
    this.#isTaken = true;
    this.#tell();
  }

  /** Resolves when another item may be taken; to false when none is to be. */
  async #room(): Promise<boolean> {
    await this.#change(() => {
      const count = this.#waiting.size + this.#settled.length;
      return this.#isTaken || (count < this.settings.window && this.#waitingBytes < WINDOW_BYTES);
    });
    return !this.#isTaken;
  }

  #admit(tag: bigint, item: Item): void {
    if (item.answer !== undefined) {
      // Refused before it could be sent.
      this.#settled.push(item);
    } else {
      const request = create(StreamCommitValidatedRequestSchema, { tag, commit: item.request });
      const deadline = this.settings.policy.clock() + this.settings.ms;
      this.#waiting.set(tag, { item, request, deadline, isUnderWay: false, isPaused: false });
      this.#waitingBytes += item.bytesInBatch;
      this.#toSend.push(tag);
    }
    this.#tell();
  }

  #settle(tag: bigint, { item }: Waiting<Item>): void {
    this.#waiting.delete(tag);
    this.#waitingBytes -= item.bytesInBatch;
    this.#settled.push(item);
    this.#tell();
  }

  // --- streams, one after the other ----------------------------------------------------------------------------------

  /** Keeps a stream open while anything waits; pauses longer after each that brought nothing. */
  async #serve(): Promise<void> {
    const { policy } = this.settings;
    let fruitless = 0;
    while (await this.#work()) {
      const { answered, failed } = await this.#oneStream(fruitless * CAUTION_MS);
      fruitless = answered > 0 ? 0 : fruitless + 1;
      if (failed !== undefined) {
        this.#tellAll(failed);
        if (!failed.retryable) {
          this.#failure ??= failed;
          this.#isTaken = true;
          this.#tell();
          return;
        }
      }
      if (failed !== undefined || fruitless > 0) {
        await this.#sleep(delayAfter(policy, Math.max(fruitless, 1), failed?.failure.retryDelayMs));
      }
    }
  }

  /** Resolves when there is something to send; to false once there never will be. */
  async #work(): Promise<boolean> {
    await this.#change(() => this.#waiting.size > 0 || this.#isOver);
    return this.#waiting.size > 0;
  }

  /** A stream that failed is a failed attempt of each that waits: its outcome may have been lost on the way. */
  #tellAll(failed: AuthorityError): void {
    for (const [tag, waiting] of [...this.#waiting]) {
      waiting.item.fail(failed);
      if (!failed.retryable || waiting.item.attempts >= this.settings.policy.attempts) {
        this.#settle(tag, waiting);
      }
    }
  }

  /** How many outcomes one stream brought, and why it failed; not when it ended well, as an old one does. */
  async #oneStream(cautionMs: number): Promise<{ readonly answered: number; readonly failed?: AuthorityError }> {
    const ending = new AbortController();
    const end = (): void => ending.abort();
    this.#stopping.signal.addEventListener("abort", end);
    const open = new Change();
    let answered = 0;
    // What was not answered by the last stream goes first, in the order in which it was taken.
    this.#toSend = [...this.#waiting].filter(([, { isPaused }]) => !isPaused).map(([tag]) => tag);
    try {
      this.#stopping.signal.throwIfAborted();
      const requests = this.#outgoing(open, cautionMs, ending.signal);
      for await (const response of this.connect(requests, () => open.tell(), ending.signal)) {
        this.#note(response);
        answered += 1;
      }
      return { answered };
    } catch (error) {
      this.#stopping.signal.throwIfAborted();
      if (error instanceof ConnectionClosed) {
        this.#stop(error);
        throw error;
      }
      return { answered, failed: errorOf(this.call, error) };
    } finally {
      this.#stopping.signal.removeEventListener("abort", end);
      ending.abort();
      open.tell();
      this.#tell();
      for (const waiting of this.#waiting.values()) {
        waiting.isUnderWay = false;
      }
    }
  }

  /**
   * Gives what waits, and what comes, until there is no more; whoever reads learns why a stream ends.
   *
   * Nothing is sent before the stream is open. When the last one brought nothing, some caution lets the status of this
   * one come first.
   */
  async *#outgoing(open: Change, cautionMs: number, ending: AbortSignal): AsyncGenerator<StreamCommitValidatedRequest> {
    await open.told;
    if (cautionMs > 0 && !ending.aborted) {
      await this.#sleep(cautionMs);
    }
    while (!ending.aborted) {
      const tag = this.#toSend.shift();
      const waiting = tag === undefined ? undefined : this.#waiting.get(tag);
      if (waiting !== undefined) {
        waiting.isUnderWay = true;
        yield waiting.request;
      } else if (tag === undefined && this.#isOver) {
        return;
      } else if (tag === undefined) {
        await this.#change(() => this.#toSend.length > 0 || this.#isOver || ending.aborted);
      }
    }
  }

  /** Takes an outcome in. One for an item that has come out, because its time was up, says nothing new. */
  #note({ tag, outcome }: StreamCommitValidatedResponse): void {
    const waiting = this.#waiting.get(tag);
    if (waiting === undefined) {
      return;
    }
    const { item, deadline } = waiting;
    const { policy } = this.settings;
    waiting.isUnderWay = false;
    if (outcome === undefined) {
      item.fail(transportError(item.call, "the answer holds neither a result nor a refusal"));
    } else {
      item.take(outcome);
    }
    const refused = item.answer instanceof AuthorityError && item.isOpen ? item.answer : undefined;
    const delay =
      refused === undefined || item.attempts >= policy.attempts
        ? undefined
        : delayAfter(policy, item.attempts, refused.failure.retryDelayMs);
    if (delay === undefined || policy.clock() + delay >= deadline) {
      this.#settle(tag, waiting);
    } else {
      void this.#begin(this.#sendAgain(tag, waiting, delay));
    }
  }

  async #sendAgain(tag: bigint, waiting: Waiting<Item>, delay: number): Promise<void> {
    waiting.isPaused = true;
    await this.#sleep(delay);
    waiting.isPaused = false;
    this.#toSend.push(tag);
    this.#tell();
  }

  // --- time ----------------------------------------------------------------------------------------------------------

  /** Lets out, one after the other, items whose time is up. */
  async #mindTheTime(): Promise<void> {
    for (;;) {
      await this.#change(() => this.#waiting.size > 0);
      const [first] = this.#waiting;
      if (first === undefined) {
        continue;
      }
      const [tag, waiting] = first;
      const left = waiting.deadline - this.settings.policy.clock();
      if (left > 0) {
        await this.#sleep(left);
      } else {
        this.#giveUp(waiting);
        this.#settle(tag, waiting);
      }
    }
  }

  /** What an item was refused for before says more than that its time is up, unless it was sent again since. */
  #giveUp({ item, isUnderWay }: Waiting<Item>): void {
    const failure = (sentence: string): DeadlineExceeded =>
      new DeadlineExceeded(failureOf(item.call, sentence, { code: Code.DeadlineExceeded }));
    if (isUnderWay) {
      item.fail(failure("no outcome in time"));
    } else if (item.answer === undefined) {
      item.answer = failure("not sent: its time ran out before");
    }
  }

  // --- together ------------------------------------------------------------------------------------------------------

  get #isOver(): boolean {
    return this.#isTaken && this.#waiting.size === 0;
  }

  /** The work, which ends with everything; what it throws otherwise ends everything. */
  async #begin(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#stop(error);
    }
  }

  /** Ends everything; the first reason is what is thrown. */
  #stop(reason: unknown): void {
    this.#stopping.abort(reason);
    this.#tell();
  }

  /** Lets the last stream end in order, unless that takes its time. */
  async #inOrder(serving: Promise<void>): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => (late = setTimeout(resolve, CLOSES_WITHIN_MS)));
    await Promise.race([serving, enough]);
    clearTimeout(late);
  }

  async #sleep(ms: number): Promise<void> {
    await this.settings.policy.sleep(ms, this.#stopping.signal);
  }

  /** Wakes whoever waits for a change. */
  #tell(): void {
    const changed = this.#changed;
    this.#changed = new Change();
    changed.tell();
  }

  /** Resolves once the condition holds; rejects when everything ends. */
  async #change(condition: () => boolean): Promise<void> {
    this.#stopping.signal.throwIfAborted();
    while (!condition()) {
      await this.#changed.told;
      this.#stopping.signal.throwIfAborted();
    }
  }
}

/** Something that happens once, to be waited for. */
class Change {
  tell: () => void = () => undefined;
  readonly told = new Promise<void>((resolve) => (this.tell = resolve));
}

/** Why work ends that nobody waits for any more. */
class Stopped extends Error {
  override readonly name = "Stopped";
}
