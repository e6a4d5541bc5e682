/** No file of golden vectors goes by unread. */

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { REPOSITORY } from "./golden/vectors.js";

test("every file of golden vectors has a test here", () => {
  const files = readdirSync(new URL("conformance/vectors/", REPOSITORY)).filter((name) => name.endsWith(".json"));
  assert.ok(files.length > 0);
  const unread = files.filter((name) => {
    const test = `vectors-${name.replace(/\.json$/, "").replaceAll("_", "-")}.test.js`;
    return !existsSync(new URL(test, import.meta.url));
  });
  assert.deepEqual(unread, []);
});
