/**
 * Judges what comes in, line by line, so that other languages can be held to the same verdicts: a line of standard
 * input is `{"kind": …, "data": …}`, data in hexadecimal digits, and a line of standard output is what is said of it.
 */

import { createInterface } from "node:readline";

import { toJson } from "@bufbuild/protobuf";

import * as offline from "../src/offline/index.js";
import { readSignedEnvelopeJson } from "../src/upstream/index.js";
import { wordOf } from "./golden/running.js";
import { schemaOf } from "./golden/payloads.js";
import { hex, toHex } from "./golden/vectors.js";

interface Question {
  /** A payload type, or one of the kinds below. */
  readonly kind: string;
  readonly data: string;
}

/** What is said of data that is taken; a refusal is thrown. */
const KINDS: ReadonlyMap<string, (data: Uint8Array) => string> = new Map([
  ["json", (data) => toHex(offline.sha256(offline.canonicalize(offline.parse(data))))],
  ["content", (data) => toHex(offline.sha256(offline.canonicalize(offline.requireCanonical(data))))],
  ["statement", (data) => toHex(offline.digestOf(offline.parseStatement(data)))],
  ["dsse_json", (data) => toHex(offline.digestOf(offline.fromDsseJson(data)))],
  ["envelope", readEnvelope],
]);

function readEnvelope(data: Uint8Array): string {
  const read = readSignedEnvelopeJson(data);
  if (read.ok) return toHex(offline.sha256(read.canonical ?? new Uint8Array()));
  return [read.code, ...read.issues.map(({ path, code }) => `${path} ${code}`)].join(" ");
}

/** A payload by the reading rule: what it says, as canonical JSON. */
function readPayload(payloadType: string, data: Uint8Array): string {
  const schema = schemaOf(payloadType);
  const message = toJson(schema, offline.readPayload(payloadType, data, schema));
  return toHex(offline.sha256(offline.canonicalize(message)));
}

function judge({ kind, data }: Question): string {
  const read = KINDS.get(kind);
  try {
    return read === undefined ? readPayload(kind, hex(data)) : read(hex(data));
  } catch (error) {
    return error instanceof offline.JsonError && error.path !== undefined
      ? `${error.problem} ${error.path}`
      : `${wordOf(error)} ${pathOf(error)}`.trim();
  }
}

function pathOf(error: unknown): string {
  return error instanceof offline.UnreadableStatement ? error.path : "";
}

for await (const line of createInterface({ input: process.stdin })) {
  // An issue's path may quote anything: a verdict stays on its line.
  process.stdout.write(`${JSON.stringify(judge(JSON.parse(line) as Question))}\n`);
}
