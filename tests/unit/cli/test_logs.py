"""Logs in the form that the operator chose, on standard error alone."""

import json
import logging

import pytest
import structlog

from authority.cli.logs import log_as
from authority.config import load_settings


def logging_as(**chosen: object) -> None:
    log_as(load_settings(database_url="postgresql://", redis_url="redis://", **chosen))


def test_json_logs_are_one_object_a_line_of_ours_and_of_libraries(capsys: pytest.CaptureFixture[str]) -> None:
    logging_as(log_format="json")

    structlog.get_logger("ours").warning("cannot sign", fault="no key")
    logging.getLogger("theirs").error("odd: %s", "x")

    out, err = capsys.readouterr()
    ours, theirs = map(json.loads, err.splitlines())
    assert out == ""
    assert (ours["event"], ours["fault"], ours["level"], ours["logger"]) == ("cannot sign", "no key", "warning", "ours")
    assert (theirs["event"], theirs["level"], theirs["logger"]) == ("odd: x", "error", "theirs")
    assert ours["timestamp"].endswith("Z")


def test_an_exception_in_json_logs_keeps_its_trace(capsys: pytest.CaptureFixture[str]) -> None:
    logging_as(log_format="json")

    try:
        raise KeyError("x")  # noqa: TRY301 - to be logged
    except KeyError:
        structlog.get_logger("ours").exception("failed")

    assert "KeyError: 'x'" in json.loads(capsys.readouterr().err)["exception"]


def test_console_logs_are_readable(capsys: pytest.CaptureFixture[str]) -> None:
    logging_as(log_format="console")

    structlog.get_logger("ours").warning("cannot sign", fault="no key")

    err = capsys.readouterr().err
    assert "cannot sign" in err
    assert "fault='no key'" in err
    assert "\x1b" not in err


def test_less_than_the_chosen_level_is_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    logging_as(log_level="error")

    structlog.get_logger("ours").warning("quiet")
    logging.getLogger("theirs").warning("quiet")
    structlog.get_logger("ours").error("loud")

    assert "quiet" not in (err := capsys.readouterr().err)
    assert "loud" in err
