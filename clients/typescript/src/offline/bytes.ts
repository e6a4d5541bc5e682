/** Bytes: compared whole, joined, and read as UTF-8, hexadecimal and base64. */

/** Whether two byte strings are the same. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

/** The same bytes, and no longer the caller's: `slice` would not do, for that of a Buffer shares what it cuts. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/** One byte string after the other. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Lowercase hexadecimal digits, two a byte. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** The bytes of hexadecimal digits that are known to be well-formed. */
export function fromHex(digits: string): Uint8Array {
  return new Uint8Array(Buffer.from(digits, "hex"));
}

/** The bytes of base64 or base64url text that is known to be well-formed. */
export function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}

/** Base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** Base64 for addresses and names: `-` and `_`, no padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

/**
 * The UTF-8 of a text.
 *
 * @throws {TypeError} for a text that has none (`isWellFormed`), so that no two texts are ever written alike.
 */
export function utf8(text: string): Uint8Array {
  if (!isWellFormed(text)) throw new TypeError("a text with half a surrogate pair has no UTF-8");
  return new TextEncoder().encode(text);
}

/** Whether a text has UTF-8 at all: no surrogate stands alone. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

// A byte order mark is text like any other: dropping it, as decoders do by default, would read two byte strings as one.
const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text that `bytes` are the UTF-8 of, every code point kept; undefined when they are none. */
export function fromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return STRICT.decode(bytes);
  } catch {
    return undefined;
  }
}
