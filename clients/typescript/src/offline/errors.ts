/**
 * Every error this package throws on purpose.
 *
 *     Error
 *     └── OfflineError
 *         ├── DigestError                 not "sha256:" and 64 lowercase hexadecimal digits
 *         ├── InstantError                not a whole millisecond between the years 1 and 9999
 *         ├── JsonError                   not JSON that the authority takes
 *         │   └── NonCanonicalJson        not, byte for byte, the RFC 8785 form
 *         ├── KeyRefused                  not a key that can be trusted with anything
 *         │   └── KeyFileExposed          a private key file that others can read or change
 *         ├── KeySetRefused               a key set that is not the pinned issuer's, or contradicts itself
 *         ├── CredentialsRefused          credentials that cannot be used
 *         │   └── CredentialsExposed      a credentials file that others can read or change
 *         ├── InvocationRefused           a call for which no proof can be made
 *         └── StatementError              a statement that proves nothing; says what was expected and presented
 *             ├── UnreadableStatement     bytes that have no single reading
 *             │   ├── EnvelopeRefused     … those around the payload
 *             │   └── PayloadRefused      … those of the payload itself, however well signed
 *             ├── PayloadTypeMismatch     a statement of another kind
 *             ├── KeyUnknown              signed by a key that is not known
 *             ├── SignatureInvalid        not signed by the key it names
 *             ├── KeyPurposeMismatch      signed by a key that has another purpose
 *             ├── KeyScopeMismatch        signed by a key of another tenant or memory namespace
 *             ├── KeyRevoked              signed by a key that was revoked, and nobody vouches for it
 *             ├── IssuerMismatch          made by another issuer
 *             ├── ContentMismatch         a receipt for other content
 *             ├── AttestationInvalid      an attestation that vouches for something else
 *             ├── GrantMalformed          a grant that says what none can say, or no chain of grants at all
 *             ├── GrantExceeded           a grant that is wider than its parent, or is used for more than it says
 *             ├── GrantNotYetValid        a grant before its time
 *             ├── GrantExpired            a grant after its time
 *             ├── Withdrawn               what it rests on was withdrawn since, as the feed of revocations tells
 *             ├── FeedBroken              an item that does not follow what the feed has told before
 *             └── FeedStale               a feed that has not been heard of for too long
 *
 * `error.name` is the name of the class. Messages quote what was presented cut short and escaped, so that they can be
 * logged; they never hold content or keys.
 */

/** Base of every error here: what was given cannot be accepted, and asking again will not change that. */
export class OfflineError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** A digest is not "sha256:" and 64 lowercase hexadecimal digits, or not 32 raw bytes (semantics §3). */
export class DigestError extends OfflineError {}

/** An instant is outside the years 1 to 9999, or finer than a millisecond (semantics §3). */
export class InstantError extends OfflineError {}

/** What is wrong with a JSON text, or with a value that should become one: a stable machine word. */
export type JsonProblem =
  | "bad_utf8"
  | "duplicate_key"
  | "integer_out_of_range"
  | "lone_surrogate"
  | "not_canonical"
  | "not_json"
  | "nul"
  | "number_out_of_range"
  | "too_deep"
  | "unsupported_type";

/** What to know of the problems that a program's own values have. */
const JSON_RULES: Partial<Readonly<Record<JsonProblem, string>>> = {
  integer_out_of_range: "integers end at ±(2^53-1), larger ones are sent as text",
  number_out_of_range: "neither NaN nor infinity is a number of JSON",
  unsupported_type: "only null, booleans, numbers, bigints, strings, arrays and plain objects are JSON",
};

/** JSON text, or a value to be written as JSON, that the authority does not take. */
export class JsonError extends OfflineError {
  constructor(
    /** A stable machine word. */
    readonly problem: JsonProblem,
    /**
     * A JSON pointer (RFC 6901) to the first offending value, long names cut short; empty for the document itself,
     * undefined when it has no place.
     */
    readonly path?: string,
  ) {
    const rule = JSON_RULES[problem];
    super(`JSON refused: ${problem}${path ? ` at ${shown(path)}` : ""}${rule === undefined ? "" : `; ${rule}`}`);
  }
}

/** Bytes that are not exactly the RFC 8785 form of a document the authority takes. */
export class NonCanonicalJson extends JsonError {}

/** Bytes or a file that do not hold a usable Ed25519 key; the message says why. */
export class KeyRefused extends OfflineError {}

/** A private key file whose mode lets its group or others read or change it (semantics §2). */
export class KeyFileExposed extends KeyRefused {}

/** A key set that is not the pinned issuer's, holds no pinned key, or contradicts itself. */
export class KeySetRefused extends OfflineError {}

/** Credentials that cannot be used. The message says what is wrong with which file and never quotes the key. */
export class CredentialsRefused extends OfflineError {}

/** A credentials file that its group or others have rights on; the message names the remedy. */
export class CredentialsExposed extends CredentialsRefused {}

/** A method or nonce of another form, or a proof that would be larger than metadata may be (semantics §10). */
export class InvocationRefused extends OfflineError {}

/** What was wanted of a statement and what was there, in words. */
export interface Difference {
  readonly expected: string;
  readonly presented: string;
}

/** A statement that proves nothing. `expected` and `presented` say in words what was wanted and what was there. */
export class StatementError extends OfflineError implements Difference {
  /** What is wrong, as the beginning of a sentence. */
  static readonly sentence: string = "the statement is refused";
  readonly expected: string;
  readonly presented: string;

  constructor({ expected, presented }: Difference) {
    super(`${new.target.sentence}: expected ${shown(expected)}, presented ${shown(presented)}`);
    this.expected = expected;
    this.presented = presented;
  }
}

/** The statement is of another kind than the one asked for, or of no known kind. */
export class PayloadTypeMismatch extends StatementError {
  static override readonly sentence = "the statement is of another kind";
}

/** No known key has the id that the statement names. */
export class KeyUnknown extends StatementError {
  static override readonly sentence = "the signing key is not known";
}

/** The signature was not made by the named key over exactly this payload type and payload. */
export class SignatureInvalid extends StatementError {
  static override readonly sentence = "the signature is not valid";
}

/** The key has another purpose than the payload type calls for: no statement passes for another (semantics §3). */
export class KeyPurposeMismatch extends StatementError {
  static override readonly sentence = "the signing key has another purpose";
}

/** The key may not sign for this tenant or memory namespace. */
export class KeyScopeMismatch extends StatementError {
  static override readonly sentence = "the signing key has another scope";
}

/** The key was revoked, and no attestation of a current receipt key was given. */
export class KeyRevoked extends StatementError {
  static override readonly sentence = "the signing key was revoked";
}

/** The statement names another issuer than the pinned one. */
export class IssuerMismatch extends StatementError {
  static override readonly sentence = "the statement is of another issuer";
}

/** The content given is not the content that the receipt is for. */
export class ContentMismatch extends StatementError {
  static override readonly sentence = "the receipt is for other content";
}

/** The attestation does not vouch for exactly this statement. */
export class AttestationInvalid extends StatementError {
  static override readonly sentence = "the attestation vouches for something else";
}

/** The grant says what no grant can say, in `path`, whoever signed it; or there is no chain of grants. */
export class GrantMalformed extends StatementError {
  static override readonly sentence = "the grant is malformed";

  constructor(
    /** A field of Grant, or `chain`. */
    readonly path: string,
    difference: Difference,
  ) {
    super(difference);
  }
}

/** The grant is wider than its parent, or used for more than it says. */
export class GrantExceeded extends StatementError {
  static override readonly sentence = "the grant does not reach as far";

  constructor(
    /** A field of Grant, as the proto names it: `usd_micros`. */
    readonly dimension: string,
    difference: Difference,
  ) {
    super(difference);
  }
}

/** A block of the chain is not valid yet, by the clock of whoever verifies. */
export class GrantNotYetValid extends StatementError {
  static override readonly sentence = "the grant is not valid yet";
}

/** A block of the chain has expired. */
export class GrantExpired extends StatementError {
  static override readonly sentence = "the grant has expired";
}

/** What the statement says is true and counts no more: something that it rests on was withdrawn for ever. */
export class Withdrawn extends StatementError {
  static override readonly sentence = "what the statement rests on was withdrawn";
}

/** The feed of revocations leaves something out, repeats, goes back, or is another's: trust nothing of it. */
export class FeedBroken extends StatementError {
  static override readonly sentence = "the feed of revocations is broken";
}

/** Nothing recent enough says that there are no other revocations: whether something was withdrawn is not known. */
export class FeedStale extends StatementError {
  static override readonly sentence = "the feed of revocations is too old";
}

const READING_RULES = {
  not_parsable: "a well-formed message",
  unknown_field: "only known fields, at every depth",
  not_deterministic: "the deterministic encoding of what it says",
  unknown_enum_value: "only known enum values, at every depth",
  instant_out_of_range: "whole milliseconds between the years 1 and 9999",
  not_dsse_json: "a DSSE JSON envelope with one signature",
} as const;
/** Why bytes have no single reading: a stable machine word. */
export type ReadingProblem = keyof typeof READING_RULES;

/** Bytes that have no single reading. */
export class UnreadableStatement extends StatementError {
  constructor(
    /** A stable machine word. */
    readonly problem: ReadingProblem,
    /** The field it was found at, as the proto names it; empty when it has no place. */
    readonly path: string = "",
  ) {
    super({ expected: READING_RULES[problem], presented: path ? `${problem} at ${path}` : problem });
  }
}

/** A payload that breaks the reading rule (semantics §3). */
export class PayloadRefused extends UnreadableStatement {
  static override readonly sentence = "the payload is refused";
}

/** Bytes or text that are not exactly one signed statement. */
export class EnvelopeRefused extends UnreadableStatement {
  static override readonly sentence = "the signed statement is refused";
}

const SHOWN_CHARACTERS = 160;

/** `text` fit for one line of a log: escaped, and cut short. */
function shown(text: string): string {
  const escaped = text
    .slice(0, SHOWN_CHARACTERS)
    .replace(/[^ -~]|\\/g, (unit) =>
      unit === "\\" ? "\\\\" : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  return text.length <= SHOWN_CHARACTERS ? escaped : `${escaped}…`;
}
