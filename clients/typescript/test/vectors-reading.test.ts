import assert from "node:assert/strict";

import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";

import { encode, readPayload } from "../src/offline/index.js";
import { everyVector, wordOf } from "./golden/running.js";
import { schemaOf } from "./golden/payloads.js";
import { hex, toHex } from "./golden/vectors.js";

interface Payload {
  readonly payload: string;
  readonly message: JsonValue | null;
}

interface Kind {
  readonly payload_type: string;
}

everyVector<Payload, Kind>("reading", { group: ["payload_type"], vector: ["message", "payload"] }, (vector, group) => {
  const schema = schemaOf(group.payload_type);
  try {
    const message = readPayload(group.payload_type, hex(vector.payload), schema);
    assert.deepEqual(toJson(schema, message), vector.message);
    assert.equal(toHex(encode(schema, fromJson(schema, vector.message))), vector.payload);
    return null;
  } catch (error) {
    return wordOf(error);
  }
});
