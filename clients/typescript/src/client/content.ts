/** Content as JavaScript has it, as the bytes and media type that are proposed and committed (semantics §3). */

import { canonicalContent } from "../offline/index.js";

/** An object or array is JSON, a string is plain text, bytes are themselves. */
export type Content = string | Uint8Array | readonly unknown[] | { readonly [name: string]: unknown };

const JSON_TYPE = "application/json";
const TEXT_TYPE = "text/plain";

/** Content as it is sent. */
export interface ContentBytes {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/**
 * The exact bytes to send, and their media type.
 *
 * An object or array is sent as application/json in its RFC 8785 form, so that equal content has one digest. A string
 * is sent as UTF-8, text/plain unless told otherwise. Bytes are sent as they are and need a media type. Size is not
 * judged.
 *
 * @throws {JsonError} (of `offline`) for JSON that the authority would not take.
 * @throws {TypeError} for a media type that does not fit or is missing, and for a string that has no UTF-8 form.
 */
export function contentBytes(content: Content, mediaType?: string): ContentBytes {
  if (typeof content === "string") {
    return textBytes(content, mediaType);
  }
  if (content instanceof Uint8Array) {
    if (!mediaType) {
      throw new TypeError("bytes need a mediaType");
    }
    return { bytes: content, mediaType };
  }
  if (mediaType !== undefined && mediaType !== JSON_TYPE) {
    throw new TypeError(`an object or array is sent as ${JSON_TYPE}, not as ${mediaType}`);
  }
  return { bytes: canonicalContent(content), mediaType: JSON_TYPE };
}

function textBytes(text: string, mediaType: string | undefined): ContentBytes {
  if (mediaType === JSON_TYPE) {
    throw new TypeError(`${JSON_TYPE} is given as an object or array, or as canonical bytes, not as a string`);
  }
  const bytes = new TextEncoder().encode(text);
  // The encoder writes U+FFFD for a lone surrogate, which is another text.
  if (new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) !== text) {
    throw new TypeError("the text holds a lone surrogate, which has no UTF-8 form");
  }
  return { bytes, mediaType: mediaType || TEXT_TYPE };
}
