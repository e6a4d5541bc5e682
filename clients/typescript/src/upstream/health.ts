/**
 * Health of an integration: five dimensions, each known by itself, and what they come to.
 *
 * An authorization says nothing of reachability, and a healthy service authorizes nobody (ADR-328 section 3).
 */

/** What is known of one dimension. */
export type Check = "yes" | "no" | "unknown";

/** What is known of who it is. ADR-328 itself has no `invalid`; where its words are asked for, that is `unverified`. */
export type IdentityCheck = "verified" | "unverified" | "invalid" | "unknown";

/** What the dimensions come to. */
export type Availability = "blocked" | "unavailable" | "available" | "degraded";

/** The dimensions; none follows from another. */
export interface Health {
  readonly identity: IdentityCheck;
  readonly configured: Check;
  readonly reachable: Check;
  readonly healthy: Check;
  readonly authorized: Check;
}

/**
 * What the dimensions come to, for whoever wants one word: `blocked` when it is unauthorized or its identity is
 * invalid; then `unavailable` when it is not configured, reachable or healthy; `available` when all is known to be
 * good; else `degraded`.
 */
export function availability(health: Health): Availability {
  if (health.authorized === "no" || health.identity === "invalid") return "blocked";
  const service = [health.configured, health.reachable, health.healthy];
  if (service.includes("no")) return "unavailable";
  const isGood = health.identity === "verified" && [...service, health.authorized].every((check) => check === "yes");
  return isGood ? "available" : "degraded";
}
