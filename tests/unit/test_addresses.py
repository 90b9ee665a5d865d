"""No password of an address is printed, whatever it looks like and wherever it is given."""

import contextlib
import io
import json
from urllib.parse import quote as escaped

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.errors import (
    DataError,
    FairgaugeError,
    display,
    hide_secrets,
    is_clear,
    quote,
    shown_address,
)

SIGNS = "/#?@:;[]%&=+'\" \\,()\u2100\t"
WORDS = st.lists(st.sampled_from(["QXAZ", "WVJK", "ZZTOP", "9182734"]), min_size=1, max_size=4)


@st.composite
def secrets(draw):
    """Words that are looked for, joined by signs that mean something in an address."""
    words = draw(WORDS)
    signs = [draw(st.text(SIGNS, max_size=2)) for _ in words]
    secret = draw(st.text(SIGNS, max_size=1))
    secret += "".join(map("".join, zip(words, signs, strict=True)))
    # in running text, where a space ends an address, another may begin
    return secret.replace(":/", "/:") if " " in secret or "\t" in secret else secret


def held(text):
    return [word for word in ("QXAZ", "WVJK", "ZZTOP", "9182734") if word in text]


def printed(*arguments):
    """Return everything that a command prints."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
        pytest.raises(SystemExit),
    ):
        main([*arguments])
    return out.getvalue() + err.getvalue()


def raised(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return f"{type(error).__name__} {error}"
    return ""


def addresses(secret):
    plain = escaped(secret, safe="")
    for scheme in ("postgresql", "mysql", "https", "s3"):
        yield f"{scheme}://me:{secret}@127.0.0.1:1/people"
        yield f"{scheme}://me:{plain}@127.0.0.1:1/people"
    yield f"postgresql://127.0.0.1:1/people?user=me&password={plain}"
    yield f"https://127.0.0.1:1/rows.csv?signature={plain}"


@given(secrets())
@example('?QXAZ"QXAZ')
@example('?QXAZ" WVJK"QXAZ')
def test_no_message_shows_a_password(secret):
    for url in addresses(secret):
        every = [
            shown_address(url), quote(url), display(url), display([url]),
            str(FairgaugeError(f"no {quote(url)}")), str(DataError(f"no answer from {url}")),
            hide_secrets(f"at '{url}': no"),
        ]  # fmt: skip
        assert not held("\n".join(every)), (url, every)
        assert shown_address(shown_address(url)) == shown_address(url)


ASKED = ("--label", "y", "--sensitive", "g")


def test_a_password_in_brackets_is_not_taken_for_an_address_and_shown():
    text = raised(fg.audit, fg.sql("postgresql://me:[QXAZ]@127.0.0.1:1/people", "t"))
    assert not held(text), text


@pytest.mark.filterwarnings("ignore")
@given(secrets(), st.data())
def test_no_command_shows_a_password(secret, data):
    url = data.draw(st.sampled_from([*addresses(secret)]))
    reading = url if url.startswith(("postgresql", "mysql", "s3")) else f"sqlite{url[5:]}"
    commands = data.draw(
        st.sampled_from(
            [
                [("audit", reading, *ASKED, "--table", "t"), ("audit", reading, *ASKED)],
                [("audit", "a.csv", "-c", url), ("audit", reading, reading, *ASKED), (url,)],
                [
                    ("validate", "a.toml", url, url),
                    ("render", url, "-o", url),
                    ("monitor", "status", url),
                ],
                [("audit", "a.csv", *ASKED, "-o", url), ("verify", url), ("check", url, "extra")],
            ]
        )
    )
    for command in commands:
        text = printed(*command)
        assert text, command
        assert not held(text), (command, text)
    text = raised(fg.audit, fg.sql(url.replace("https", "mysql"), "t"))
    assert not held(text), text
    assert not held(raised(fg.load, url) + raised(fg.History, reading))


def test_the_name_of_the_rows_has_no_password(tmp_path):
    pytest.importorskip("ibis")
    import sqlite3

    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as base:
        base.execute("CREATE TABLE t AS SELECT 1 AS y, 'a' AS g")
        base.commit()
    url = f"sqlite:///{tmp_path}/a.db?token=QXAZ"
    report = fg.audit(fg.sql(url, "t"), label="y", sensitive="g")
    assert report.data.source == f"sqlite:///{tmp_path}/a.db"
    assert "QXAZ" not in json.dumps(report.to_dict())


@pytest.mark.parametrize(
    ("url", "clear"),
    [
        ("postgresql://me:pa%2Fss@host:5/db", True),
        ("postgresql://host/db?options=-c%20a%3D1", True),
        ("postgresql://[::1]:5432/db", True),
        ("postgresql://me:pa/ss@host/db", False),
        ("postgresql://me:1/ss@host/db", False),
        ("postgresql://me:pa#ss@host/db", False),
        ("postgresql://me:pa?ss@host/db", False),
        ("postgresql://me:pass", False),
        ("postgresql://[host/db", False),
    ],
)
def test_an_address_of_several_readings_is_refused(url, clear):
    assert is_clear(url) == clear
    if not clear:
        with pytest.raises(DataError, match=r"several readings: write .* %2F"):
            fg.audit(fg.sql(url, "t"), label="y", sensitive="g")
