import assert from "node:assert/strict";

import * as offline from "../src/offline/index.js";
import { CommitCapabilitySchema } from "../src/proto/capability_authority/v1/statements_pb.js";
import { everyVector, wordOf } from "./golden/running.js";
import { keySetOfGroup, UNDER_KEYS, type UnderKeys } from "./golden/key-sets.js";
import { hex } from "./golden/vectors.js";

interface Timed {
  readonly statement: string;
  readonly now_ms: number;
}

interface Kind extends UnderKeys {
  readonly payload_type: string;
}

/** Of a grant the client judges the time; of a capability its caller does, by what the statement says. */
everyVector<Timed, Kind>(
  "times",
  { group: [...UNDER_KEYS, "payload_type"], vector: ["now_ms", "statement"] },
  ({ statement, now_ms: nowMs }, group) => {
    const signed = offline.parseStatement(hex(statement));
    const keySet = keySetOfGroup(group);
    try {
      if (group.payload_type === offline.GRANT) {
        offline.verifyGrantChain([signed], keySet, { nowMs });
        return null;
      }
      assert.equal(group.payload_type, offline.COMMIT_CAPABILITY);
      const capability = offline.verifyAs(signed, keySet, CommitCapabilitySchema);
      if (nowMs < offline.instantMs(capability.notBeforeTime) - offline.NOT_BEFORE_SKEW_MS) return "not_yet_valid";
      return nowMs >= offline.instantMs(capability.expireTime) ? "expired" : null;
    } catch (error) {
      return wordOf(error).replace(/^grant_/, "");
    }
  },
);
