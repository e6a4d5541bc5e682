"""The text of a bundle before Cedar reads it: where its policies begin, and how intricate they are.

Cedar's parser names no line, and deep nesting overflows its stack and ends the process, so both are found here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

BUNDLE_BYTES = 64 * 1024
NESTING = 64
"""Brackets open at once. Measured with cedarpy 4.12 on a stack of 8 MiB: 400 are read, 800 end the process."""
OPERATORS = 256
"""Operators that nest, in one policy. Measured likewise: 800 are read, 1,600 end the process."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|//[^\n]*|\w+|&&|\|\||[^\s\w]', re.DOTALL)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_OPERATORS = frozenset({"&&", "||", ".", "[", "+", "-", "*", "if"})


@dataclass(slots=True)
class PolicyText:
    """One policy as it is written, from its first annotation to its semicolon."""

    line: int
    """Where it begins, counted from 1."""
    text: str = ""
    nesting: int = 0
    operators: int = 0


def policy_texts(source: str) -> list[PolicyText]:
    """The policies of a bundle in their order. What stands behind the last semicolon counts as one more policy."""
    texts: list[PolicyText] = []
    begin, depth, is_open = 0, 0, False
    for token in _code(source):
        if not is_open:
            begin, is_open = token.start(), True
            texts.append(PolicyText(source.count("\n", 0, begin) + 1))
        policy, depth = texts[-1], depth + _deepening(token[0])
        policy.text = source[begin : token.end()] if token[0] == ";" else policy.text
        policy.nesting = max(policy.nesting, depth)
        policy.operators += token[0] in _OPERATORS
        is_open = token[0] != ";"
    if is_open:
        texts[-1].text = source[begin:]
    return texts


def unsafe(source: str, texts: list[PolicyText]) -> Iterator[str]:
    """Why the text must not reach Cedar's parser at all."""
    if (size := len(source.encode(errors="surrogatepass"))) > BUNDLE_BYTES:
        yield f"the bundle has {size:,} bytes; at most {BUNDLE_BYTES:,} are read"
    if "\0" in source:
        yield "the bundle holds a NUL character"
    for policy in texts:
        if policy.nesting > NESTING:
            yield f"line {policy.line}: brackets nest {policy.nesting} deep; at most {NESTING} are read"
        if policy.operators > OPERATORS:
            yield f"line {policy.line}: {policy.operators} operators in one policy; at most {OPERATORS} are read"


def _deepening(token: str) -> int:
    return (token in _OPENING) - (token in _CLOSING)


def _code(source: str) -> Iterator[re.Match[str]]:
    """The tokens that are no comments."""
    return (token for token in _TOKEN.finditer(source) if not token[0].startswith("//"))
