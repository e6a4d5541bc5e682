/** The RPCs of the contract, read from the generated descriptors, so that a new one is known as soon as it is made. */

import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";

import { AuditService } from "../proto/capability_authority/v1/audit_service_pb.js";
import { CapabilityService } from "../proto/capability_authority/v1/capability_service_pb.js";
import { EvidenceService } from "../proto/capability_authority/v1/evidence_service_pb.js";
import { GrantService } from "../proto/capability_authority/v1/grant_service_pb.js";
import { InteropService } from "../proto/capability_authority/v1/interop_service_pb.js";
import { MemoryService } from "../proto/capability_authority/v1/memory_service_pb.js";
import { PolicyService } from "../proto/capability_authority/v1/policy_service_pb.js";
import { ProposalService } from "../proto/capability_authority/v1/proposal_service_pb.js";

const SERVICES: readonly DescService[] = [
  AuditService,
  CapabilityService,
  EvidenceService,
  GrantService,
  InteropService,
  MemoryService,
  PolicyService,
  ProposalService,
];
const WITHOUT_PROOF: ReadonlySet<string> = new Set(["GetKeySet"]);
const READ = /^(Verify|Get|List|Recall|Export|Read|Watch|Resolve)/;

/** No RPC of the contract has this name; the message names those that there are. */
export class UnknownRpc extends Error {
  override readonly name = "UnknownRpc";
}

/** One RPC of the contract. */
export interface Rpc {
  /** The last part of the path, unique in the contract: "CommitValidated". */
  readonly name: string;
  /** The full RPC name that Invocations bind, "/capability_authority.v1.CapabilityService/CommitValidated". */
  readonly path: string;
  readonly method: DescMethod;
  /** Whether a call is authenticated by an Invocation (semantics §2). */
  readonly needsProof: boolean;
  /** Whether it is a mutation; it then carries an idempotency key (semantics §2). */
  readonly changesState: boolean;
}

function rpcOfMethod(method: DescMethod): Rpc {
  return {
    name: method.name,
    path: pathOf(method),
    method,
    needsProof: !WITHOUT_PROOF.has(method.name),
    changesState: !READ.test(method.name),
  };
}

/** The full name of an RPC, "/package.Service/Method". */
export function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** Every RPC of the contract, by its short name. */
export const RPCS: ReadonlyMap<string, Rpc> = new Map(
  SERVICES.flatMap((service) => service.methods).map((method) => [method.name, rpcOfMethod(method)]),
);

const BY_REQUEST: ReadonlyMap<string, Rpc> = new Map([...RPCS.values()].map((rpc) => [rpc.method.input.typeName, rpc]));

/**
 * The RPC of a name: "CommitValidated", "CapabilityService/CommitValidated" or the full path; a dot may divide too.
 *
 * @throws {UnknownRpc}
 */
export function rpcNamed(name: string): Rpc {
  const asked = name.replaceAll(".", "/").replace(/^\//, "");
  const rpc = RPCS.get(asked.slice(asked.lastIndexOf("/") + 1));
  if (rpc !== undefined && rpc.path.replaceAll(".", "/").endsWith(`/${asked}`)) {
    return rpc;
  }
  throw new UnknownRpc(`no RPC is named ${JSON.stringify(name)}; there are: ${[...RPCS.keys()].sort().join(", ")}`);
}

/**
 * The RPC that takes this request message, for each has its own.
 *
 * @throws {UnknownRpc} for any other message.
 */
export function rpcOf(request: Message): Rpc {
  const rpc = BY_REQUEST.get(request.$typeName);
  if (rpc === undefined) {
    throw new UnknownRpc(`${request.$typeName} is no request message`);
  }
  return rpc;
}
