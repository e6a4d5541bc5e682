import assert from "node:assert/strict";
import { test } from "node:test";

import { sha256 } from "../src/offline/index.js";

test("a digest is SHA-256 over the exact bytes", () => {
  const digest = Buffer.from(sha256(new TextEncoder().encode("abc"))).toString("hex");
  assert.equal(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
