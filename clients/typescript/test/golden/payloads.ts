/** Payload messages by their payload type. */

import assert from "node:assert/strict";

import type { DescMessage } from "@bufbuild/protobuf";

import { PAYLOAD_SCHEMAS } from "../../src/offline/index.js";

/** The message of a payload type, which must be known. */
export function schemaOf(payloadType: string): DescMessage {
  const schema = PAYLOAD_SCHEMAS.get(payloadType);
  assert.ok(schema, payloadType);
  return schema;
}
