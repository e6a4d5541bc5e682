import { isCanonical, requireCanonical } from "../src/offline/index.js";
import { everyVector, wordOf } from "./golden/running.js";
import { hex } from "./golden/vectors.js";

everyVector<{ readonly content: string }>("content", { group: [], vector: ["content"] }, (vector) => {
  try {
    requireCanonical(hex(vector.content));
    return isCanonical(hex(vector.content)) ? null : "only sometimes canonical";
  } catch (error) {
    return wordOf(error);
  }
});
