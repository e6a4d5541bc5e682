/**
 * Canonical JSON by the vectors measured of others (`tests/vectors/measured/jcs_extra.json`), and the rule for content.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  canonicalContent,
  canonicalize,
  EnvelopeRefused,
  fromDsseJson,
  isCanonical,
  JsonError,
  pae,
  parse,
  requireCanonical,
} from "../src/offline/index.js";
import { hex, toHex, vectorFile } from "./golden/vectors.js";

const JCS = vectorFile("tests/vectors/measured/jcs_extra.json") as {
  readonly vectors: readonly {
    readonly id: string;
    readonly json_input: string;
    readonly canonical_utf8_hex?: string;
  }[];
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function refusal(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof JsonError)
      return error.path === undefined ? error.problem : `${error.problem} at "${error.path}"`;
    throw error;
  }
  return "taken";
}

for (const vector of JCS.vectors) {
  test(`measured: ${vector.id}`, () => {
    if (vector.canonical_utf8_hex === undefined) {
      assert.notEqual(
        refusal(() => parse(bytes(vector.json_input))),
        "taken",
      );
    } else {
      assert.equal(toHex(canonicalize(JSON.parse(vector.json_input))), vector.canonical_utf8_hex);
    }
  });
}

const REFUSED: readonly (readonly [string, string])[] = [
  ["", "not_json"],
  ["\ufeff{}", "not_json"],
  ["[1,]", "not_json"],
  ['{"a":1,}', "not_json"],
  ["[1] 2", "not_json"],
  ["01", "not_json"],
  ["-", "not_json"],
  ["1.", "not_json"],
  ['"\t"', "not_json"],
  ['"\\x41"', "not_json"],
  ['"\\u12g4"', "not_json"],
  ['"open', "not_json"],
  ['{"a":NaN}', 'not_json at "/a"'],
  ["[-Infinity]", 'not_json at "/0"'],
  ["[[1,1e999]]", 'number_out_of_range at "/0/1"'],
  ["9007199254740992", 'integer_out_of_range at ""'],
  ["-9007199254740993", 'integer_out_of_range at ""'],
  [`[${"9".repeat(400)}]`, 'integer_out_of_range at "/0"'],
  ['{"a/b":{"c":1,"d":2,"c":3}}', 'duplicate_key at "/a~1b/c"'],
  ['{"a":1,"\\u0061":2}', 'duplicate_key at "/a"'],
  ['{"__proto__":1,"__proto__":2}', 'duplicate_key at "/__proto__"'],
  ['["\\u0000"]', 'nul at "/0"'],
  ['{"\\ud800":1}', 'lone_surrogate at "/\\ud800"'],
  ['["\\udc00\\ud800"]', 'lone_surrogate at "/0"'],
  ['{"z":"\\u0000","a":9007199254740992}', 'nul at "/z"'],
  ["[".repeat(33) + "]".repeat(33), "too_deep"],
  ["[".repeat(100_000), "too_deep"],
];

for (const [text, expected] of REFUSED) {
  test(`refused: ${text.slice(0, 40)}`, () => {
    assert.equal(
      refusal(() => parse(bytes(text))),
      expected,
    );
    assert.ok(!isCanonical(bytes(text)));
  });
}

test("bytes that are no UTF-8 are refused", () => {
  for (const digits of ["22ff22", "22eda08022", "22c08022", "22f490808022"]) {
    assert.equal(
      refusal(() => parse(hex(digits))),
      "bad_utf8",
    );
  }
});

test("what is not in canonical form is refused, and what is comes back", () => {
  for (const text of [' {"a":1}', '{"b":1,"a":2}', '"\\u0061"', "1.0", "-0", "1e1", "[1e20]"]) {
    assert.equal(
      refusal(() => requireCanonical(bytes(text))),
      "not_canonical",
    );
  }
  assert.deepEqual(requireCanonical(bytes('{"a":[null,true,1.5,"é"]}')), { a: [null, true, 1.5, "é"] });
  assert.ok(isCanonical(bytes('["\ufeff"]')));
  assert.ok(isCanonical(bytes('{"__proto__":{"a":1}}')));
  assert.ok(isCanonical(bytes("[".repeat(32) + "]".repeat(32))));
});

test("d04 numbers end where no reader could tell them apart any more", () => {
  assert.deepEqual(canonicalize(2n ** 53n - 1n), bytes("9007199254740991"));
  assert.equal(
    refusal(() => canonicalize(2n ** 53n)),
    "integer_out_of_range",
  );
  assert.deepEqual(canonicalize([1e20, -0]), bytes("[100000000000000000000,0]"));
  assert.equal(
    refusal(() => canonicalContent([1e20])),
    'integer_out_of_range at "/0"',
  );
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.equal(
      refusal(() => canonicalize([value])),
      "number_out_of_range",
    );
  }
});

test("half a surrogate pair is never written as something else", () => {
  assert.throws(() => pae("\ud800", new Uint8Array()), TypeError);
  assert.throws(() => fromDsseJson('{"payloadType":"\ud800"}'), EnvelopeRefused);
});

test("what is not JSON is not written", () => {
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const holed: unknown[] = [];
  holed.length = 1;
  const others = [undefined, [undefined], { a: undefined }, holed, new Date(0), new Map(), () => 1, Symbol("a")];
  for (const value of others)
    assert.equal(
      refusal(() => canonicalize(value)),
      "unsupported_type",
    );
  assert.equal(
    refusal(() => canonicalize(cyclic)),
    "too_deep",
  );
  assert.equal(
    refusal(() => canonicalize(["\ud800"])),
    "lone_surrogate",
  );
  assert.equal(
    refusal(() => canonicalize({ "\udfff": 1 })),
    "lone_surrogate",
  );
  assert.equal(
    refusal(() => canonicalContent(["\u0000"])),
    'nul at "/0"',
  );
});
