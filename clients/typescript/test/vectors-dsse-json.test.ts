import assert from "node:assert/strict";

import { fromDsseJson, parseStatement, serializeStatement, toDsseJson } from "../src/offline/index.js";
import { everyVector, wordOf } from "./golden/running.js";
import { hex, toHex } from "./golden/vectors.js";

interface Envelope {
  readonly envelope: string;
  readonly statement: string | null;
  readonly is_written_so: boolean;
}

everyVector<Envelope>(
  "dsse_json",
  { group: [], vector: ["envelope", "is_written_so", "statement"] },
  ({ envelope, statement, is_written_so }) => {
    try {
      assert.equal(toHex(serializeStatement(fromDsseJson(envelope))), statement);
      if (is_written_so) assert.equal(toDsseJson(parseStatement(hex(statement ?? ""))), envelope);
      return null;
    } catch (error) {
      return wordOf(error);
    }
  },
);
