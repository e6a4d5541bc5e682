/** The vector files, which Python and TypeScript read alike. */

import { readFileSync } from "node:fs";

/** The folder of the repository. */
export const REPOSITORY = new URL("../../../../../", import.meta.url);

/** A JSON file of the repository, by its path from there. */
export function vectorFile(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, REPOSITORY), "utf8"));
}

/** The bytes of hexadecimal digits. */
export function hex(digits: string): Uint8Array {
  return new Uint8Array(Buffer.from(digits, "hex"));
}

/** The hexadecimal digits of bytes. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
