import assert from "node:assert/strict";

import { KeyRefused, type PublicKey, publicKeyOf } from "../src/offline/index.js";
import { everyVector } from "./golden/running.js";
import { hex } from "./golden/vectors.js";

interface Loaded {
  readonly public_key: string;
  /** Null where loading must fail. */
  readonly key_id: string | null;
  readonly message: string;
  readonly signature: string;
}

/** For which a key is not loaded: of several, any may be found first, so that only the refusal counts. */
const UNLOADABLE: ReadonlySet<string | null> = new Set(["wrong_length", "not_canonical", "small_order"]);

everyVector<Loaded>(
  "public_keys",
  { group: [], vector: ["key_id", "message", "public_key", "signature"] },
  (vector) => {
    let key: PublicKey;
    try {
      key = publicKeyOf(hex(vector.public_key));
    } catch (error) {
      assert.ok(error instanceof KeyRefused);
      assert.equal(vector.key_id, null);
      return UNLOADABLE.has(vector.reason) ? vector.reason : "refused";
    }
    assert.equal(key.keyId, vector.key_id);
    return key.verify(hex(vector.signature), hex(vector.message)) ? null : "signature_invalid";
  },
);
