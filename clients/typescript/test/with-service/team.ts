/** The members of a tenant at a real service, as tests/typescript/test_with_service.py gives them by environment. */

import { join } from "node:path";
import { after } from "node:test";

import {
  CapabilityAuthority,
  type ConnectOptions,
  type Content,
  type IssuedCapability,
  type Proposal,
} from "../../src/index.js";

/** A setting that whoever runs these tests must give. */
export function setting(name: string): string {
  const value = process.env[name];
  if (!value) {
    throw new Error(`${name} is not set: these tests are run by tests/typescript/test_with_service.py`);
  }
  return value;
}

/** A client of one member, "user" or "service" for example; closed after the tests. */
export function member(name: string, options: ConnectOptions = {}): CapabilityAuthority {
  const credentials = join(setting("AUTHORITY_CREDENTIALS_FOLDER"), `${name}.json`);
  // A busy machine is not taken for a service that does not answer.
  const client = CapabilityAuthority.connect({ credentials, timeoutMs: 30_000, ...options });
  after(() => client.close());
  return client;
}

/** A capability, and what it rests on. */
export interface Ready {
  readonly proposal: Proposal;
  readonly capability: IssuedCapability;
}

/** Proposes by the user what needs no approval, and has it validated, allowed and issued to the service. */
export async function ready(user: CapabilityAuthority, service: CapabilityAuthority, content: Content): Promise<Ready> {
  const proposal = await user.propose({ memoryNamespace: "notes", memoryType: "durable_fact", content });
  const validation = await service.validate(proposal);
  const decision = await service.evaluatePolicy(proposal);
  const capability = await service.issue(proposal, {
    validationReceipt: validation.receipt,
    decisionReceipt: decision.receipt,
  });
  return { proposal, capability };
}
