import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULT_RETRIES } from "../src/client/retries.js";

test("a wait that is longer than any timer of Node.js is long, not over at once", async () => {
  const giveUp = new AbortController();
  let over = false;
  const waits = DEFAULT_RETRIES.sleep(2 ** 40, giveUp.signal).then(() => {
    over = true;
  });
  // Node.js would make one millisecond of it.
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(over, false);
  giveUp.abort(new Error("given up"));
  await assert.rejects(waits, /given up/);
});
