import * as offline from "../src/offline/index.js";
import { everyVector, wordOf } from "./golden/running.js";
import { keySetOfGroup, UNDER_KEYS, type UnderKeys } from "./golden/key-sets.js";
import { hex } from "./golden/vectors.js";

interface Told {
  readonly feed: readonly string[];
  readonly statement: string;
  readonly now_ms: number;
  readonly maximum_age_ms: number;
}

interface Whose extends UnderKeys {
  readonly tenant: offline.Reference;
}

everyVector<Told, Whose>(
  "revocation_feeds",
  { group: [...UNDER_KEYS, "tenant"], vector: ["feed", "maximum_age_ms", "now_ms", "statement"] },
  ({ feed: told, statement, now_ms: nowMs, maximum_age_ms: maximumAgeMs }, group) => {
    const keySet = keySetOfGroup(group);
    const feed = new offline.RevocationFeed(group.tenant);
    try {
      for (const each of told.map((digits) => offline.parseStatement(hex(digits)))) {
        if (each.payloadType === offline.REVOCATION) feed.take(each, keySet);
        else feed.hear(each, keySet);
      }
      const revocations = feed.view({ nowMs, maximumAgeMs });
      offline.verifyStatement(offline.parseStatement(hex(statement)), keySet, { revocations });
      return null;
    } catch (error) {
      return wordOf(error);
    }
  },
);
