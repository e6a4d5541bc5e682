/** The client of the Capability Authority. What needs no server is in `capability-authority-client/offline`. */

export * as offline from "./offline/index.js";
