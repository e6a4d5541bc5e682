/** What needs no server and imports nothing of the network: digests, canonical JSON, statements and their verification. */

export { sha256 } from "./digests.js";
