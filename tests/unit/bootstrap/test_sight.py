"""Which settings have spans and metrics exported, and what is said of wrong ones."""

import socket

import pytest

from authority.bootstrap.sight import seen
from authority.config import SettingsError, load_settings
from authority.telemetry import metrics, spans

SERVERS = {"database_url": "postgresql://", "redis_url": "redis://"}


def test_without_settings_nobody_listens() -> None:
    with seen(load_settings(**SERVERS)) as url:
        assert (url, metrics.are_heard(), spans.are_heard()) == ("", False, False)


def test_an_address_for_metrics_has_them_shown_there() -> None:
    with seen(load_settings(**SERVERS, metrics_listen="127.0.0.1:0")) as url:
        assert url.startswith("http://127.0.0.1:")
        assert (metrics.are_heard(), spans.are_heard()) == (True, False)
    assert not metrics.are_heard()


def test_an_address_that_is_taken_is_a_setting_that_is_wrong() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        sentence = f"AUTHORITY_METRICS_LISTEN: cannot listen on {listen} .*: choose another address"
        with pytest.raises(SettingsError, match=sentence), seen(load_settings(**SERVERS, metrics_listen=listen)):
            pass


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("metrics_listen", "9464", "AUTHORITY_METRICS_LISTEN: must be HOST:PORT, with a port of at most 65535"),
        ("metrics_listen", "unix:/run/m", "AUTHORITY_METRICS_LISTEN: must be HOST:PORT"),
        ("metrics_listen", "0.0.0.0:99999", "AUTHORITY_METRICS_LISTEN: must be HOST:PORT"),
        ("otlp_endpoint", "collector:4317", "AUTHORITY_OTLP_ENDPOINT: must be http://HOST:PORT or https://HOST:PORT"),
        ("otlp_endpoint", "http://collector:4318/v1/traces", "AUTHORITY_OTLP_ENDPOINT: .*, without a path"),
    ],
)
def test_a_wrong_setting_is_named_with_what_would_be_right(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(f"AUTHORITY_{name.upper()}", value)

    with pytest.raises(SettingsError, match=sentence):
        load_settings(**SERVERS)
