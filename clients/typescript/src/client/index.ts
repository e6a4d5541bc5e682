/** The client that calls: what `capability-authority-client` itself exports beside `offline`. */

export { type ConnectOptions, CapabilityAuthority, DEFAULT_TIMEOUT_MS } from "./authority.js";
export type { CallOptions } from "./call-options.js";
export type { Content } from "./content.js";
export * from "./errors.js";
export {
  type GrantChainHeld,
  type GrantStatus,
  type GrantUse,
  type GrantedDimensions,
  HeldGrant,
  grantTerms,
} from "./grant-values.js";
export type { CommitItem, Presented } from "./presentations.js";
export { DEFAULT_RETRIES, type RetryPolicy } from "./retries.js";
export { UnknownRpc } from "./rpcs.js";
export { PlaintextRefused, type TlsFiles, tlsFromFiles } from "./targets.js";
export type { TraceContext, TraceSource } from "./tracing.js";
export * from "./values.js";
export { Versions } from "./versions.js";
export type { AuditEvent, AuditFilter, AuditNews } from "./verbs/audit.js";
export type { EnvelopeOption, ReceiptName, StreamedCommit, VerifyOption } from "./verbs/commits.js";
export { Evidence, type EvidenceKept } from "./verbs/evidence.js";
export type { NewHolder } from "./verbs/grants.js";
export type { ActionVerdict, EnvelopeVerdicts, ReplayReservation, ResolvedKey } from "./verbs/interop.js";
export type { IssueItem, IssueTerms } from "./verbs/issuing.js";
export type { AggregateCount, RecallHit, RecallOptions } from "./verbs/memory.js";
export type { PolicyBundle } from "./verbs/policies.js";
export type { ProposeOptions, Said } from "./verbs/proposals.js";
export type { AwaitedReview, Decision, DecisionTerms } from "./verbs/reviews.js";
export { ExportRejected, type Observation, RecordExport, type UnvalidatedWrite } from "./verbs/records.js";
export type * from "./words.js";
