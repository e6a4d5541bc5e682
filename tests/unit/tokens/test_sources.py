"""Where keys may be asked for, and what is taken from there."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from authority.tokens import sources
from authority.tokens.issuers import IssuersWrong, read_issuers
from authority.tokens.sources import MOST_BYTES, SourceAway, SourceWrong, file_source, url_source


@contextlib.contextmanager
def serving(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """An HTTP server on this machine; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with contextlib.suppress(OSError):
                answer(self)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/jwks"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def ending(ends: threading.Event) -> Iterator[None]:
    """Sets it at the end, so that whoever waits for it lets go."""
    try:
        yield
    finally:
        ends.set()


def answers(body: bytes, code: int = 200, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def test_what_a_url_answers_is_read() -> None:
    with serving(answers(b"keys")) as url:
        assert url_source(url).read() == b"keys"


@pytest.mark.parametrize(
    "answer",
    [
        answers(b"", 302, Location="http://127.0.0.1:1/other"),
        answers(b"", 301, Location="file:///etc/hostname"),
        answers(b"keys", 404),
        answers(b"keys", 500),
        answers(b"keys", 203),
        answers(b"x" * (MOST_BYTES + 1)),
        answers(b"", 200, **{"Content-Length": "9"}),
        lambda handler: handler.wfile.write(b"no http at all\r\n\r\n"),
        lambda _: None,
    ],
)
def test_any_other_answer_is_none_and_is_not_quoted(answer: Callable[[BaseHTTPRequestHandler], None]) -> None:
    with serving(answer) as url, pytest.raises(SourceAway) as caught:
        url_source(url).read()
    assert "keys" not in str(caught.value)


def test_a_source_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # given one that goes on and on, byte by byte, and no time at all for the whole
    monkeypatch.setattr(sources, "WITHIN_S", 0.3)
    ends = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not ends.wait(0.02):
            handler.wfile.write(b"x")

    with serving(drip) as url, ending(ends), pytest.raises(SourceAway, match="took more than"):
        url_source(url).read()


def test_nobody_there_is_away() -> None:
    with pytest.raises(SourceAway):
        url_source("http://127.0.0.1:1/jwks").read()


@pytest.mark.parametrize(
    "url",
    [
        "http://login.example/jwks",
        "http://localhost/jwks",
        "http://10.0.0.1/jwks",
        "http://127.0.0.1.evil.example/jwks",
        "http://0.0.0.0/jwks",
        "ftp://login.example/jwks",
        "file:///etc/hostname",
        "https://user:password@login.example/jwks",
        "https://login.example/jwks#x",
        "https:///jwks",
        "https://login.example:99999/jwks",
        "https://[::1/jwks",
        "",
    ],
)
def test_keys_are_asked_for_over_https_or_on_this_machine(url: str) -> None:
    with pytest.raises(SourceWrong):
        url_source(url)


@pytest.mark.parametrize("url", ["https://login.example/jwks", "http://[::1]:8080/jwks", "http://127.9.9.9/jwks"])
def test_such_urls_are_taken(url: str) -> None:
    assert url_source(url).place == url


def test_a_file_is_read_within_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "jwks.json"
    with pytest.raises(SourceAway):
        file_source(file).read()
    file.write_bytes(b"keys")
    assert file_source(file).read() == b"keys"
    file.write_bytes(b"x" * (MOST_BYTES + 1))
    with pytest.raises(SourceAway):
        file_source(file).read()


GOOD = """issuer = "https://login.example"
audience = "memory"
algorithms = ["ES256"]
jwks_url = "https://login.example/k"
"""


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "issuers.toml"
    file.write_text(text)
    return file


def test_issuers_are_read_in_their_order(tmp_path: Path) -> None:
    other = (
        GOOD.replace("login.example", "other.example", 1) + 'tenant = "harbour|docks"\nprincipal_claim = "client_id"\n'
    )
    one, two = read_issuers(written(tmp_path, f"[[issuer]]\n{GOOD}[[issuer]]\n{other}"))
    assert (one.issuer, one.principal_claim, one.tenant_claim, one.tenant) == (
        "https://login.example", "sub", "tenant", None,
    )  # fmt: skip
    assert (two.issuer, str(two.tenant), two.principal_claim) == ("https://other.example", "harbour|docks", "client_id")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "tables"),
        ("issuer = 1", "tables"),
        ("[[issuer]]\n", "issuer must be"),
        (f"[[issuer]]\n{GOOD}[[issuer]]\n{GOOD}", "twice"),
        (f"[[issuer]]\n{GOOD}secret = 1\n", "secret is unknown"),
        (f"[[issuer]]\n{GOOD}jwks_file = 'x'\n", "not both"),
        ("[[issuer]]\n" + GOOD.replace("ES256", "HS256"), "algorithms must be"),
        ("[[issuer]]\n" + GOOD.replace("ES256", "none"), "algorithms must be"),
        ("[[issuer]]\n" + GOOD.replace('["ES256"]', "[]"), "algorithms must be"),
        ("[[issuer]]\n" + GOOD.replace('["ES256"]', '"ES256"'), "algorithms must be"),
        ("[[issuer]]\n" + GOOD.replace('["ES256"]', "[[1]]"), "algorithms must be"),
        ("[[issuer]]\n" + GOOD.replace("https://login.example/k", "http://login.example/k"), "must be https"),
        (f"[[issuer]]\n{GOOD}tenant = 'harbour'\n", "NAMESPACE|ID"),
        (f"[[issuer]]\n{GOOD}tenant = 'a|b'\ntenant_claim = 'org'\n", "exclude"),
        ("\x00", "no TOML"),
    ],
)
def test_a_wrong_file_of_issuers_is_told(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(IssuersWrong) as caught:
        read_issuers(written(tmp_path, text))
    assert told in str(caught.value)
