/** Files that only their owner can read (semantics §2). */

import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** Why a file is not read: `exposed` when its mode gives its group or others some right on it. */
export interface FileProblem {
  readonly exposed: boolean;
  /** For people, with the remedy where there is one. */
  readonly because: string;
}

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/**
 * The bytes of a regular file on which only its owner has rights; symbolic links are followed, as mounted secrets need.
 * What is wrong with the file is answered, not thrown. An `Error` of node:fs is thrown when it cannot be read.
 */
export function readPrivateFile(path: string, mostBytes: number): Uint8Array | FileProblem {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    // Judged on the open file, so that it cannot be exchanged in between.
    const status = fstatSync(descriptor);
    if (!status.isFile()) return { exposed: false, because: `${path} is not a regular file` };
    const mode = status.mode & 0o7777;
    if ((mode & OTHERS) !== 0) {
      const shown = mode.toString(8).padStart(4, "0");
      const rights = `has mode ${shown}, which gives others rights on a private key`;
      return { exposed: true, because: `${path} ${rights}; remedy: chmod 600 ${path}` };
    }
    const data = readAtMost(descriptor, mostBytes + 1);
    return data.length > mostBytes ? { exposed: false, because: `${path} is larger than ${mostBytes} bytes` } : data;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Write a new file of mode 0600: whole and durable, or not at all. An `Error` of node:fs is thrown when it cannot be
 * written, with the code `EEXIST` when `path` exists, whatever it is: nothing is ever overwritten.
 */
export function writePrivateFile(path: string, data: Uint8Array): void {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(8).toString("hex")}`);
  const descriptor = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, OWNER_ONLY);
  try {
    try {
      fchmodSync(descriptor, OWNER_ONLY);
      writeFileSync(descriptor, data);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    // A link, unlike a rename, fails when the target exists.
    linkSync(draft, path);
  } finally {
    unlinkSync(draft);
  }
  syncFolder(dirname(path));
}

function readAtMost(descriptor: number, bytes: number): Uint8Array {
  const buffer = new Uint8Array(bytes);
  let length = 0;
  while (length < bytes) {
    const count = readSync(descriptor, buffer, length, bytes - length, null);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
