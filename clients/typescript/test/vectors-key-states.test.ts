import { parseStatement, verifyReceipt, verifyStatement } from "../src/offline/index.js";
import { everyVector, wordOf } from "./golden/running.js";
import { keySetOfGroup, UNDER_KEYS, type UnderKeys } from "./golden/key-sets.js";
import { hex } from "./golden/vectors.js";

interface Judged {
  readonly statement: string;
  readonly attestation: string | null;
  readonly content: string | null;
}

everyVector<Judged, UnderKeys>(
  "key_states",
  { group: UNDER_KEYS, vector: ["attestation", "content", "statement"] },
  ({ statement, attestation, content }, group) => {
    const signed = parseStatement(hex(statement));
    const keySet = keySetOfGroup(group);
    try {
      if (attestation === null && content === null) {
        verifyStatement(signed, keySet);
      } else {
        verifyReceipt(signed, keySet, {
          attestation: attestation === null ? undefined : parseStatement(hex(attestation)),
          content: content === null ? undefined : hex(content),
        });
      }
      return null;
    } catch (error) {
      return wordOf(error);
    }
  },
);
