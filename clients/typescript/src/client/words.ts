/** Enum values of the contract as the lowercase words that people write: MEMORY_TYPE_DURABLE_FACT is "durable_fact". */

import type { DescEnum } from "@bufbuild/protobuf";

/** What a memory is, as its proposer says. */
export type MemoryType = "durable_fact" | "preference" | "procedure" | "snapshot" | "critique";
/** Where a memory comes from, as the authority stamps it; in falling trust (semantics §7). */
export type Provenance = "system_observation" | "tool_result" | "user_claim" | "agent_output" | "unknown";
/** Who may see a record. */
export type Visibility = "private" | "channel" | "team" | "workspace";
/** What a person says of a revision. */
export type ReviewVerdict = "approve" | "reject" | "request_changes" | "revoke" | "adopt";
/** How much of a record is handed over. */
export type ExportForm = "compact" | "audit";
/** How far a proposal has come. */
export type ProposalState =
  | "proposed"
  | "validating"
  | "validated"
  | "rejected"
  | "changes_requested"
  | "approved"
  | "superseded"
  | "committed"
  | "withdrawn"
  | "expired";

/** The word of an enum value; "unknown_7" for one that this version of the client does not know. */
export function wordOf(descriptor: DescEnum, number: number): string {
  const name = descriptor.value[number]?.name;
  return name === undefined ? `unknown_${number}` : name.slice(prefixOf(descriptor).length).toLowerCase();
}

/**
 * The number of the enum value that `word` stands for; 0, unspecified, for undefined.
 *
 * @throws {RangeError} for a word that names none.
 */
export function numberOf(descriptor: DescEnum, word: string | undefined): number {
  if (word === undefined) {
    return 0;
  }
  const found = descriptor.values.find(({ number }) => number !== 0 && wordOf(descriptor, number) === word);
  if (found === undefined) {
    const known = descriptor.values
      .filter(({ number }) => number !== 0)
      .map(({ number }) => wordOf(descriptor, number));
    throw new RangeError(`${JSON.stringify(word)} is none of: ${known.join(", ")}`);
  }
  return found.number;
}

function prefixOf(descriptor: DescEnum): string {
  // buf's STANDARD lint: the zero value is the prefix and UNSPECIFIED.
  return (descriptor.value[0]?.name ?? "").replace(/UNSPECIFIED$/, "");
}
