/** The client of the Capability Authority. What needs no server is in `capability-authority-client/offline`. */

export * from "./client/index.js";
export * as offline from "./offline/index.js";
export {
  type AuthorityHooks,
  createAuthorityHooks,
  HOOK_TIMEOUT_MS,
  type HookDecision,
  type HookOptions,
  type InteropClient,
} from "./upstream/hooks.js";
