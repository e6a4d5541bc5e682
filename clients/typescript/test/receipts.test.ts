import assert from "node:assert/strict";
import { test } from "node:test";

import { create } from "@bufbuild/protobuf";

import { ReceiptRejected } from "../src/index.js";
import { KeySetRefused } from "../src/offline/index.js";
import {
  type CommitValidatedResponse,
  CommitValidatedResponseSchema,
  GetKeySetResponseSchema,
} from "../src/proto/capability_authority/v1/capability_service_pb.js";
import type { SignedStatement } from "../src/proto/capability_authority/v1/statements_pb.js";
import { KeyPurpose } from "../src/proto/capability_authority/v1/types_pb.js";
import { type Answering, answer, answering, clientOf } from "./answering.js";
import { CONTENT, capability, type Known, keySetOf, known, receipt } from "./authority-keys.js";

const issuing = known(KeyPurpose.CAPABILITY);
const signing = known(KeyPurpose.RECEIPT);
const newer = known(KeyPurpose.RECEIPT);
const mine = capability(issuing);
const good = receipt(signing, mine);

type Said = Partial<Omit<CommitValidatedResponse, "$typeName" | "$unknown">>;

/** A server that answers commits so, and tells of these keys: the last ones when it is asked more often. */
async function authority(response: Said, ...keys: readonly (readonly Known[])[]): Promise<Answering> {
  let fetched = 0;
  return answering(({ path }) => {
    if (path.endsWith("/GetKeySet")) {
      fetched += 1;
      return answer(GetKeySetResponseSchema, keySetOf(...(keys[Math.min(fetched, keys.length) - 1] ?? [])));
    }
    const said = { receiptId: "receipt", recordId: "record", ...response };
    return answer(CommitValidatedResponseSchema, create(CommitValidatedResponseSchema, said));
  });
}

function fetches({ calls }: Answering): number {
  return calls.filter(({ path }) => path.endsWith("/GetKeySet")).length;
}

test("a receipt is believed when it verifies and is for this commit", async () => {
  const server = await authority({ receipt: good }, [issuing, signing]);
  const { client } = clientOf(server);

  const committed = await client.commit(mine, { content: CONTENT });

  assert.equal(committed.receipt.says?.recordId, "record");
  assert.deepEqual(committed.receipt.statement, good);
});

test("a receipt of something else, by someone else, or altered, is not", async () => {
  const altered: SignedStatement = {
    ...good,
    payload: good.payload.map((byte, at) => (at === 20 ? byte ^ 1 : byte)),
  };
  const others: Record<string, Said> = {
    "no receipt": {},
    altered: { receipt: altered },
    "by a key of another purpose": { receipt: receipt(issuing, mine) },
    "by nobody that is known": { receipt: receipt(newer, mine) },
    "for another key": { receipt: receipt(signing, mine, { commitIdempotencyKey: "other" }) },
    "for another tenant": {
      receipt: receipt(signing, mine, {
        tenant: { $typeName: "capability_authority.v1.TenantRef", namespace: "test", id: "two" },
      }),
    },
    "for another content": { receipt: receipt(signing, mine, { contentDigest: new Uint8Array(32) }) },
    "for another proposal": { receipt: receipt(signing, mine, { proposalId: "other" }) },
    "named otherwise": { receipt: good, receiptId: "other" },
    "of another record": { receipt: good, recordId: "other" },
  };
  for (const [what, response] of Object.entries(others)) {
    const { client } = clientOf(await authority(response, [issuing, signing]));

    const error = await client.commit(mine, { content: CONTENT }).catch((thrown: unknown) => thrown);

    assert(error instanceof ReceiptRejected, what);
    assert.equal(error.key, "key", what);
    assert.deepEqual(error.statement, response.receipt, what);
  }
});

test("unverified, a receipt is handed over as it came, and says nothing", async () => {
  const server = await authority({ receipt: receipt(newer, mine) }, [issuing, signing]);
  const { client } = clientOf(server);

  const committed = await client.commit(mine, { content: CONTENT, verify: false });

  assert.equal(committed.receipt.says, undefined);
  assert.equal(fetches(server), 0);
});

test("keys are fetched once, looked up again for a new one, and kept for five minutes", async () => {
  const server = await authority({ receipt: receipt(newer, mine) }, [issuing, signing], [issuing, signing, newer]);
  const { client, pass } = clientOf(server);

  pass(1);
  await client.commit(mine, { content: CONTENT });
  assert.equal(fetches(server), 2);
  await Promise.all([client.commit(mine, { content: CONTENT }), client.commit(mine, { content: CONTENT })]);
  assert.equal(fetches(server), 2);

  pass(300_001);
  await Promise.all([client.commit(mine, { content: CONTENT }), client.commit(mine, { content: CONTENT })]);
  assert.equal(fetches(server), 3);
  pass(1);
  await client.keySet({ refresh: true });
  assert.equal(fetches(server), 4);
});

test("whoever gives up does not wait for a fetch of somebody else", async () => {
  const server = await answering(() => "hang");
  const { client } = clientOf(server);
  const giving = new AbortController();
  const reason = new Error("enough");

  const first = client.keySet();
  const second = client.keySet({ signal: giving.signal });
  const ended = Promise.all([assert.rejects(second, reason), assert.rejects(first)]);
  giving.abort(reason);
  await assert.rejects(second, reason);
  client.close();
  await ended;
});

test("an authority that is not the pinned issuer is refused before anything is committed", async () => {
  const server = await authority({ receipt: good }, [issuing, signing]);
  const { client } = clientOf(server);
  const { credentials } = client;

  for (const pinned of [
    { credentials: { ...credentials, issuer: "other.test" } },
    { pinnedKeyIds: new Set([newer.key.publicKey.keyId]) },
  ]) {
    const { client: careful } = clientOf(server, pinned);
    await assert.rejects(careful.commit(mine, { content: CONTENT }), KeySetRefused);
  }
  assert.equal(server.calls.filter(({ path }) => path.endsWith("/CommitValidated")).length, 0);
});
