import assert from "node:assert/strict";

import { canonicalize, parse, sha256, toWire } from "../src/offline/index.js";
import { everyVector, wordOf } from "./golden/running.js";
import { hex, toHex } from "./golden/vectors.js";

interface Document {
  readonly document: string;
  readonly canonical: string | null;
  readonly digest: string | null;
}

everyVector<Document>("canonical_json", { group: [], vector: ["canonical", "digest", "document"] }, (vector) => {
  let written: Uint8Array;
  try {
    written = canonicalize(parse(hex(vector.document)));
  } catch (error) {
    assert.deepEqual([vector.canonical, vector.digest], [null, null]);
    return wordOf(error);
  }
  if (toHex(written) !== vector.canonical) return "not_canonical";
  return toWire(sha256(written)) === vector.digest ? null : "digest_mismatch";
});
