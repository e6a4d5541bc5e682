/**
 * The golden vectors (`conformance/vectors/`), which Python and TypeScript run alike, as tests of node:test.
 *
 * A file, group or vector with a member that is not known here fails: whoever skips what it does not understand shows
 * nothing.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { JsonError, OfflineError, UnreadableStatement } from "../../src/offline/index.js";
import { vectorFile } from "./vectors.js";

/** What every vector has. */
export interface Vector {
  readonly id: string;
  readonly comment: string;
  readonly flags: readonly string[];
  readonly result: "valid" | "invalid";
  /** Null in a valid vector. */
  readonly reason: string | null;
}

interface GroupOf<Test> {
  readonly about: string;
  readonly tests: readonly Test[];
}

interface FileOf<Group> {
  readonly schema: string;
  readonly about: string;
  readonly number_of_tests: number;
  readonly notes: Readonly<Record<string, object>>;
  readonly groups: readonly Group[];
}

/** A vector with the group whose members it shares. */
export interface Grouped<Test, Shared> {
  readonly vector: Test & Vector;
  readonly group: Shared;
}

/** The names of what groups share, and of what vectors give beside what every one has. */
export interface Members<Test, Shared> {
  readonly group: readonly (keyof Shared & string)[];
  readonly vector: readonly (keyof Test & string)[];
}

const FILE = ["about", "groups", "notes", "number_of_tests", "schema"];
const NOTE = ["bugType", "description", "effect"];
const GROUP = ["about", "tests"];
const VECTOR = ["comment", "flags", "id", "reason", "result"];

/** Every vector of a file, once its form is known throughout. */
export function vectorsOf<Test, Shared = object>(
  name: string,
  members: Members<Test, Shared>,
): readonly Grouped<Test, Shared>[] {
  const file = vectorFile(`conformance/vectors/${name}.json`) as FileOf<GroupOf<Test & Vector> & Shared>;
  requireMembers(file, FILE, name);
  for (const [flag, note] of Object.entries(file.notes)) requireMembers(note, NOTE, `${name} ${flag}`);
  const found = file.groups.flatMap((group) => {
    requireMembers(group, [...GROUP, ...members.group], `${name} ${group.about}`);
    return group.tests.map((vector) => ({ vector, group }));
  });
  for (const { vector } of found) {
    requireMembers(vector, [...VECTOR, ...members.vector], `${name} ${vector.id}`);
    for (const flag of vector.flags) assert.ok(Object.hasOwn(file.notes, flag), `${name} ${vector.id}: flag ${flag}`);
    assert.ok(
      vector.result === (vector.reason === null ? "valid" : "invalid"),
      `${name} ${vector.id}: ${vector.result}`,
    );
  }
  assert.equal(found.length, file.number_of_tests);
  return found;
}

/** A test for each vector of a file: `judge` gives the reason for which it is refused, or null. */
export function everyVector<Test, Shared = object>(
  name: string,
  members: Members<Test, Shared>,
  judge: (vector: Test & Vector, group: Shared) => string | null,
): void {
  for (const { vector, group } of vectorsOf<Test, Shared>(name, members)) {
    test(`${name}: ${vector.id}`, () => {
      assert.equal(judge(vector, group), vector.reason, vector.comment);
    });
  }
}

/**
 * The reason word of a refusal: the error's own, or the name of its class. Anything else than a refusal is thrown
 * again.
 */
export function wordOf(error: unknown): string {
  if (error instanceof JsonError || error instanceof UnreadableStatement) return error.problem;
  if (!(error instanceof OfflineError)) throw error;
  const word = error.name.replace(/(?<!^)[A-Z]/g, "_$&").toLowerCase();
  return CLASS_WORDS.get(word) ?? word;
}

const CLASS_WORDS: ReadonlyMap<string, string> = new Map([["digest_error", "malformed"]]);

function requireMembers(value: object, names: readonly string[], place: string): void {
  assert.deepEqual(Object.keys(value).sort(), [...names].sort(), `members of ${place}`);
}
