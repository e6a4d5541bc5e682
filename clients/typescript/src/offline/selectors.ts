/** Selectors of a grant: names made of whole segments, exact or everything below a prefix (semantics §6). */

const ID_CHARACTERS = 256;
const ID = /^[A-Za-z0-9][A-Za-z0-9._:@+/-]*$/;
const NO_SEGMENTS: ReadonlySet<string> = new Set(["", ".", ".."]);
const BELOW = "/*";

/** Whether `text` is an id, namespace or name: compared byte for byte, nothing trimmed or folded (semantics §2). */
export function isId(text: string): boolean {
  return text.length <= ID_CHARACTERS && ID.test(text);
}

/**
 * Whether `text` is a selector: whole segments, or a prefix of them and `/*`. Segments that are empty, `.` or `..`
 * select nothing and are none, and `*` stands for nothing but whole segments.
 */
export function isSelector(text: string): boolean {
  const name = text.endsWith(BELOW) ? text.slice(0, -BELOW.length) : text;
  return text.length <= ID_CHARACTERS && isId(name) && !name.split("/").some((segment) => NO_SEGMENTS.has(segment));
}

/**
 * Whether one of the selectors reaches everything that `selector` reaches: equal or wider, by whole segments. `t/*`
 * covers `t/a`, `t/a/b` and `t/a/*`, and neither `t` nor `t1`.
 */
export function covers(selectors: Iterable<string>, selector: string): boolean {
  return isSelector(selector) && [...selectors].some((wider) => reaches(wider, selector));
}

/** Whether one of the selectors selects exactly this name; a name that ends in `/*` is selected by none. */
export function selects(selectors: Iterable<string>, name: string): boolean {
  return !name.endsWith(BELOW) && covers(selectors, name);
}

/** What is no selector reaches nothing: none begins with it. */
function reaches(wider: string, selector: string): boolean {
  return selector === wider || (wider.endsWith(BELOW) && selector.startsWith(wider.slice(0, -1)));
}
