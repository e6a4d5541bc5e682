import { pae, statementDigest, toWire } from "../src/offline/index.js";
import { everyVector } from "./golden/running.js";
import { hex, toHex } from "./golden/vectors.js";

interface SigningInput {
  readonly payload_type: string;
  readonly payload: string;
  readonly signing_input: string;
  readonly statement_digest: string;
}

everyVector<SigningInput>(
  "signing_input",
  { group: [], vector: ["payload", "payload_type", "signing_input", "statement_digest"] },
  (vector) => {
    const payload = hex(vector.payload);
    if (toHex(pae(vector.payload_type, payload)) !== vector.signing_input) return "signing_input_mismatch";
    const digest = toWire(statementDigest(vector.payload_type, payload));
    return digest === vector.statement_digest ? null : "digest_mismatch";
  },
);
