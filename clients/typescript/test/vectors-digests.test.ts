import { fromWire, sha256, toWire } from "../src/offline/index.js";
import { everyVector, wordOf } from "./golden/running.js";
import { hex } from "./golden/vectors.js";

interface Digested {
  readonly content: string;
  readonly digest: string;
}

everyVector<Digested>("digests", { group: [], vector: ["content", "digest"] }, (vector) => {
  try {
    return toWire(fromWire(vector.digest)) === toWire(sha256(hex(vector.content))) ? null : "mismatch";
  } catch (error) {
    return wordOf(error);
  }
});
