/**
 * The words of `cognitum.action.v1`: who may say what to whom, and what each action has to name.
 *
 * The facts are those of the published upstream module (npm `claude-flow` 3.43.0), told in our own words.
 */

/** What every envelope says that it is. */
export const SCHEMA_VERSION = "cognitum.action.v1";

/** The action of a commit: the one for which an envelope can stand in for an Invocation. */
export const COMMIT_VALIDATED = "memory.commit-validated";

/** Who can issue an envelope, and whom it can be for. */
export const AUTHORITIES: ReadonlySet<string> = new Set([
  "agentbbs",
  "cognitum.cog",
  "cognitum.control-plane",
  "comms",
  "meta-llm",
  "ruflo.memory",
  "ruflo.policy",
  "ruview.edge",
]);

/** Of subjects and actors. */
export const IDENTITY_NAMESPACES: ReadonlySet<string> = new Set([
  "agentbbs-public-key",
  "cognitum-principal",
  "firebase-subject",
  "legacy-principal",
  "meta-llm-account",
  "ruflo-agent",
  "workload",
]);

/** Of tenants. */
export const TENANT_NAMESPACES: ReadonlySet<string> = new Set([
  "agentbbs-board",
  "cognitum-tenant",
  "comms-tenant",
  "meta-llm-account",
  "meta-llm-sub-tenant",
  "ruview-space",
]);

/** How private an envelope can say that it is. */
export const PRIVACY_CLASSES: ReadonlySet<string> = new Set(["P0", "P1", "P2", "P3"]);

/** An optional field of an envelope that some actions cannot do without. */
export type NeededField =
  "requestDigest" | "contentDigest" | "idempotencyKey" | "expiresAt" | "capabilityId" | "validationReceiptId";

/** What an action asks of its envelope. */
export interface ActionRule {
  /** The authorities in which its outcome can be anchored (`authoritativeSource.authority`). */
  readonly owners: ReadonlySet<string>;
  /** In the order in which they are missed. One that names `capabilityId` goes ahead only under a capability. */
  readonly required: readonly NeededField[];
}

const NOTHING: readonly NeededField[] = [];
const READ: readonly NeededField[] = ["requestDigest", "expiresAt", "capabilityId"];
const CHANGE: readonly NeededField[] = ["requestDigest", "idempotencyKey", "expiresAt", "capabilityId"];
const COMMIT: readonly NeededField[] = [
  "requestDigest",
  "contentDigest",
  "idempotencyKey",
  "expiresAt",
  "capabilityId",
  "validationReceiptId",
];

const PROJECTED = ["agentbbs", "cognitum.cog", "comms", "meta-llm", "ruview.edge"];
const REPORTING = [...AUTHORITIES].filter((authority) => authority !== "ruflo.memory");

const RULES: readonly (readonly [readonly string[], readonly NeededField[], readonly string[]])[] = [
  [["cognitum.control-plane"], NOTHING, ["dashboard.read"]],
  [REPORTING, NOTHING, ["dashboard.status.read"]],
  [["meta-llm"], CHANGE, ["inference.invoke", "inference.stream", "pod.spawn", "benchmark.run"]],
  [["meta-llm"], CHANGE, ["evolution.propose", "evolution.promote"]],
  [["meta-llm"], READ, ["usage.read"]],
  [["agentbbs"], READ, ["comms.thread.read"]],
  [["agentbbs"], CHANGE, ["comms.thread.post"]],
  [PROJECTED, READ, ["comms.projection.read"]],
  [["comms"], CHANGE, ["comms.board.admin"]],
  [["cognitum.cog"], CHANGE, ["cog.proposal.create", "cog.proposal.review", "cog.proposal.approve"]],
  [["cognitum.cog"], CHANGE, ["cog.instance.acquire", "cog.instance.operate", "cog.deploy", "cog.rollback"]],
  [["ruview.edge"], READ, ["ruview.space.read"]],
  [["ruview.edge"], CHANGE, ["ruview.semantic.publish", "ruview.automation.propose", "ruview.automation.approve"]],
  [["ruview.edge"], CHANGE, ["ruview.device.command"]],
  [["ruflo.policy"], CHANGE, ["cognition.route", "cognition.critique"]],
  [["ruflo.memory"], READ, ["memory.recall", "evidence.read"]],
  [["ruflo.memory"], CHANGE, ["memory.propose"]],
  [["ruflo.memory"], COMMIT, [COMMIT_VALIDATED]],
];

/** Every action that an envelope can be about. The authority itself knows six of them (semantics §6). */
export const ACTIONS: ReadonlyMap<string, ActionRule> = new Map(
  RULES.flatMap(([owners, required, actions]) =>
    actions.map((action) => [action, { owners: new Set(owners), required }] as const),
  ),
);
