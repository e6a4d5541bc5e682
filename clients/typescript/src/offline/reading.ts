/**
 * The reading rule: bytes are read in exactly one way, or refused (semantics §3).
 *
 * A message is taken only if no unknown field exists at any depth, every enum value is known, every instant is a whole
 * millisecond in range, and encoding it again gives the same bytes. Protobuf promises none of this by itself. The
 * parser of protobuf-es in particular reads values without asking how they are written, and drops a byte order mark, so
 * that it would refuse what other languages take: bytes are read here by the descriptors, and only written by
 * protobuf-es (cases D13, E11, I14).
 */

import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

import { fromUtf8, sameBytes } from "./bytes.js";
import { InstantError, PayloadRefused, type ReadingProblem, type UnreadableStatement } from "./errors.js";
import { instantMs } from "./instants.js";
import {
  type Bits,
  DELIMITED,
  NotParsable,
  readDelimited,
  readTag,
  readVarint,
  restOf,
  skipValue,
  VARINT,
  type WireCursor,
} from "./wire.js";

/** Messages and groups inside one another; parsers of all languages stop there. */
const MOST_DEPTH = 100;

/**
 * The message that `data` is the deterministic encoding of.
 *
 * @throws {refusal} with a problem: not_parsable (also text that is not UTF-8), unknown_field, not_deterministic,
 * unknown_enum_value, instant_out_of_range.
 */
export function readExactly<Desc extends DescMessage>(
  data: Uint8Array,
  schema: Desc,
  Refusal: new (problem: ReadingProblem, path?: string) => UnreadableStatement = PayloadRefused,
): MessageShape<Desc> {
  const findings = { unknownField: false };
  const message = create(schema);
  try {
    const cursor = { bytes: data, at: 0, end: data.length };
    readFields(message, schema, { cursor, depth: MOST_DEPTH, findings });
  } catch (error) {
    throw error instanceof NotParsable ? new Refusal("not_parsable") : error;
  }
  if (findings.unknownField) throw new Refusal("unknown_field");
  if (!sameBytes(toBinary(schema, message), data)) throw new Refusal("not_deterministic");
  const problem = problemOf(message, schema);
  if (problem !== undefined) throw new Refusal(problem.word, problem.path);
  return message;
}

/** A message whose fields are set by what its descriptor says, which the types of generated messages cannot follow. */
type Fields = Message & Record<string, unknown>;

/** Where a message is read from, and what is noted on the way. */
interface Reading {
  readonly cursor: WireCursor;
  /** How many messages and groups may still be inside one another. */
  readonly depth: number;
  /** What was found that does not stop the reading. */
  readonly findings: { unknownField: boolean };
}

function readFields(message: Message, schema: DescMessage, reading: Reading): void {
  const { cursor, depth, findings } = reading;
  if (depth < 0) throw new NotParsable();
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    const field = fieldOf(schema, tag.number);
    if (field === undefined || !readField(message as Fields, field, tag.wireType, reading)) {
      findings.unknownField = true;
      skipValue(cursor, tag, depth);
    }
  }
}

/** Reads one field into the message; false, and nothing read, when it is written in a way that it never is. */
function readField(message: Fields, field: DescField, wireType: number, reading: Reading): boolean {
  const isDelimited =
    field.message !== undefined || field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES;
  if (wireType !== (isDelimited ? DELIMITED : VARINT)) return false;
  if (field.fieldKind === "list") {
    (message[field.localName] as unknown[]).push(readValue(undefined, field, reading));
  } else {
    message[field.localName] = readValue(message[field.localName], field, reading);
  }
  return true;
}

/** A message that comes twice is merged into the earlier, as every parser does; the encoding then differs. */
function readValue(earlier: unknown, field: DescField, { cursor, depth, findings }: Reading): unknown {
  if (field.message === undefined) return readScalar(field, cursor);
  const message = (earlier as Message | undefined) ?? create(field.message);
  readFields(message, field.message, { cursor: readDelimited(cursor), depth: depth - 1, findings });
  return message;
}

function readScalar(field: DescField, cursor: WireCursor): unknown {
  switch (field.scalar) {
    case ScalarType.STRING:
      return readText(cursor);
    case ScalarType.BYTES:
      return restOf(readDelimited(cursor));
    case ScalarType.BOOL: {
      const { low, high } = readVarint(cursor);
      return low !== 0 || high !== 0;
    }
    case ScalarType.INT64:
      return BigInt.asIntN(64, bitsOf(readVarint(cursor)));
    case ScalarType.UINT64:
      return bitsOf(readVarint(cursor));
    case ScalarType.UINT32:
      return readVarint(cursor).low;
    default:
      // An int32 or an enum.
      return readVarint(cursor).low | 0;
  }
}

function readText(cursor: WireCursor): string {
  const text = fromUtf8(restOf(readDelimited(cursor)));
  if (text === undefined) throw new NotParsable();
  return text;
}

function bitsOf({ low, high }: Bits): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}

const READABLE_SCALARS: ReadonlySet<ScalarType | undefined> = new Set([
  undefined,
  ScalarType.STRING,
  ScalarType.BYTES,
  ScalarType.BOOL,
  ScalarType.INT32,
  ScalarType.INT64,
  ScalarType.UINT32,
  ScalarType.UINT64,
]);
const FIELDS = new Map<DescMessage, ReadonlyMap<number, DescField>>();

/** What payloads do not hold could not be read exactly, and is not read at all: maps, choices, lists of numbers. */
function fieldOf(schema: DescMessage, number: number): DescField | undefined {
  let fields = FIELDS.get(schema);
  if (fields === undefined) {
    const odd = schema.fields.find((field) => !isReadable(field));
    if (odd !== undefined) throw new TypeError(`${odd} cannot be read exactly`);
    fields = new Map(schema.fields.map((field) => [field.number, field]));
    FIELDS.set(schema, fields);
  }
  return fields.get(number);
}

function isReadable(field: DescField): boolean {
  const isOfNumbers = field.fieldKind === "list" && field.packed;
  return field.fieldKind !== "map" && field.oneof === undefined && !isOfNumbers && READABLE_SCALARS.has(field.scalar);
}

interface Problem {
  readonly word: ReadingProblem;
  readonly path: string;
}

/** The first enum value that is not known, or instant out of range, in the order of the fields. */
function problemOf(message: Message, schema: DescMessage): Problem | undefined {
  if (schema.typeName === TimestampSchema.typeName) return instantProblem(message as Timestamp);
  for (const field of schema.fields) {
    if (field.enum === undefined && field.message === undefined) continue;
    const value = (message as Fields)[field.localName];
    const values: readonly unknown[] = field.fieldKind === "list" ? (value as unknown[]) : [value];
    for (const each of values) {
      const problem = valueProblem(each, field.enum, field.message);
      if (problem !== undefined) return { word: problem.word, path: joined(field.name, problem.path) };
    }
  }
  return undefined;
}

function valueProblem(
  value: unknown,
  known: DescEnum | undefined,
  schema: DescMessage | undefined,
): Problem | undefined {
  if (known !== undefined) {
    return known.value[value as number] === undefined ? { word: "unknown_enum_value", path: "" } : undefined;
  }
  return schema === undefined || value === undefined ? undefined : problemOf(value as Message, schema);
}

function instantProblem(instant: Timestamp): Problem | undefined {
  try {
    instantMs(instant);
    return undefined;
  } catch (error) {
    if (error instanceof InstantError) return { word: "instant_out_of_range", path: "" };
    throw error;
  }
}

function joined(name: string, below: string): string {
  return below ? `${name}.${below}` : name;
}
