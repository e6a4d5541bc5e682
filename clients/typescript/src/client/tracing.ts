/** W3C trace context of outgoing calls. */

/** What goes along with a call so that a trace goes on: https://www.w3.org/TR/trace-context/. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/**
 * Gives the trace context of the moment, asked for every call; undefined where there is none.
 *
 * With OpenTelemetry: `() => { const carrier = {}; propagation.inject(context.active(), carrier); return carrier; }`
 * What else it may have written, baggage for example, stays here.
 */
export type TraceSource = () => Partial<TraceContext> | undefined;

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * The headers that carry the caller's trace on: of the `traceparent` given, otherwise of what `source` gives.
 *
 * @throws {TypeError} for a traceparent that is not of the form W3C Trace Context gives it.
 */
export function traceHeaders(
  traceparent: string | undefined,
  source: TraceSource | undefined,
): Readonly<Record<string, string>> {
  const context: Partial<TraceContext> = traceparent === undefined ? (source?.() ?? {}) : { traceparent };
  if (context.traceparent === undefined) {
    return {};
  }
  if (!TRACEPARENT.test(context.traceparent) || context.traceparent.length !== 55) {
    throw new TypeError(`not a traceparent: ${JSON.stringify(context.traceparent)}`);
  }
  const { tracestate } = context;
  return { traceparent: context.traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}
