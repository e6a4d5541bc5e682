/** Which versions of client, service and contract meet. */

import { createRequire } from "node:module";

import { ContractRevisionSchema } from "../proto/capability_authority/v1/types_pb.js";

/** The revision of the contract that this client was generated from. */
export const CONTRACT_REVISION = Math.max(...ContractRevisionSchema.values.map(({ number }) => number));

/** The versions of this client and of an authority, and what they have in common. */
export class Versions {
  constructor(
    readonly client: string,
    /** Empty for an authority that is older than its telling. */
    readonly service: string,
    /** A revision of the contract, as every number here. */
    readonly clientContract: number,
    /** 0 for an authority that is older than its telling. */
    readonly serviceContract: number,
  ) {}

  /** What both speak: everything up to this revision works, be the client older or the authority. */
  get contract(): number {
    return Math.min(this.clientContract, this.serviceContract);
  }

  /** Whether this client has fields and RPCs that the authority refuses, with MALFORMED and NOT_IMPLEMENTED. */
  get authorityIsOlder(): boolean {
    return this.serviceContract < this.clientContract;
  }
}

/** Of this package. */
export function clientVersion(): string {
  // From dist/src/client, in the repository and in the package alike.
  const manifest: unknown = createRequire(import.meta.url)("../../../package.json");
  return (manifest as { readonly version: string }).version;
}

/** What calls say of the client. An authority's traces show it. */
export function userAgent(): string {
  return `capability-authority-typescript/${clientVersion()} contract/${CONTRACT_REVISION}`;
}
