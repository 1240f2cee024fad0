"""Settings: what is written, what is refused and how, and how one value is changed in place."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from config.cron import cron_problem
from config.defaults import render_settings
from config.edit import set_value
from config.errors import SettingsError
from config.globs import matches
from config.load import load_settings, parse_settings
from config.settings import Adopt, Digest, Pages, Settings


def test_what_init_writes_reads_as_the_defaults() -> None:
    """The written file says the defaults, and every YAML reader agrees about them."""
    text = render_settings(Settings())
    assert parse_settings(text) == Settings()
    assert Settings.model_validate(yaml.safe_load(text)) == Settings()


def test_every_key_has_a_sentence() -> None:
    """No key is without an explanation in the file."""

    def lacking(model: type[BaseModel]) -> list[str]:
        found = []
        for name, info in model.model_fields.items():
            found += [] if info.description and info.description.endswith(".") else [name]
            if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
                found += lacking(info.annotation)
        return found

    assert lacking(Settings) == []


texts = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=20)


@given(st.lists(texts, max_size=3), texts)
def test_any_text_comes_back_as_it_was(globs: list[str], note: str) -> None:
    """Whatever a value holds, the file gives it back."""
    settings = Settings(
        adopt=Adopt(pages=tuple(globs)), digest=Digest(note="a" + note.replace("/", "").replace("\\", ""))
    )
    text = render_settings(settings)
    assert Settings.model_validate(yaml.safe_load(text)) == settings


@pytest.mark.parametrize(
    "text", ["", "\n", "# nothing\n", "---\n", "\ufeff", "staging:\n", "adopt:\n  pages:\n"]
)
def test_empty_files_and_sections_mean_the_defaults(text: str) -> None:
    """What is not said has its default."""
    assert parse_settings(text) == Settings()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("staging:\n  policy: off\n", "off"),
        ("staging:\r\n  policy: 'off'\r\n", "off"),
        ("\ufeffstaging: {policy: all}\n", "all"),
    ],
)
def test_words_stay_words(text: str, wanted: str) -> None:
    """YAML's own idea that `off` is a truth value does not count where a word is expected."""
    assert parse_settings(text).staging.policy == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "name: x\nstaging:\n  polcy: off",
            "f:3: unknown key 'staging.polcy'. Did you mean 'staging.policy'?",
        ),
        ("policy: all", "f:1: unknown key 'policy'. 'policy' belongs under 'staging:'."),
        ("zzz: 1", "f:1: unknown key 'zzz'. Accepted: version, name,"),
        (
            "staging:\n  policy: Treshold",
            "f:2: staging.policy: 'Treshold' is not accepted. Accepted: off, all, threshold. Did you mean 'threshold'?",
        ),
        (
            "chunks:\n  size: 10",
            "f:2: chunks.size: 10 is not accepted. Accepted: a whole number, at least 50.",
        ),
        ("chunks:\n  size: 1e3", "f:2: chunks.size: '1e3' is not accepted."),
        ("fetch:\n  timeout_seconds: nan", "f:2: fetch.timeout_seconds:"),
        ("fetch:\n  timeout_seconds: .inf", "f:2: fetch.timeout_seconds:"),
        ("fetch:\n  robots: maybe", "f:2: fetch.robots: 'maybe' is not accepted. Accepted: true, false."),
        ("name: a\nname: b", "f:2: 'name' is written twice (first on line 1)."),
        ("name: ''", "f:1: name: '' is not accepted. Accepted: text, not empty."),
        ("name: [a]", "f:1: name: one value is expected."),
        ("name: a/b", "f:1: name: 'a/b' cannot name deployments."),
        ("pages: 3", "f:1: pages: holds keys of its own, not one value."),
        ("sources:\n  clips: x", "f:2: sources.clips: a list is expected."),
        ("staging:\n\tpolicy: off", "f:2: a tab cannot indent here. Use spaces."),
        ("name: 'x", "f:1: is not valid YAML:"),
        ("a: 1\n---\nb: 2", "f:2: is not valid YAML:"),
        ("- name", "f:1: is not a list of settings."),
        ("name: \x07", "f:1: holds a character that YAML does not allow (U+0007)."),
        (
            "version: 2\nnew_key: 1",
            "f:1: was written for a newer nightwiki (settings version 2; this one reads 1). Update nightwiki.",
        ),
        ("version: 0", "f:1: version: '0' is not accepted. Accepted: 1."),
        (
            "time_zone: Europe/Berln",
            "f:1: time_zone: 'Europe/Berln' is not a time zone. Did you mean 'Europe/Berlin'?",
        ),
        ("schedule:\n  nightly: 61 2 * * *", "f:2: schedule.nightly: '61' is no minute (0 to 59)."),
        ("chunks: {size: 60, overlap: 60}", "f:1: chunks.overlap: is not smaller than chunks.size."),
        ("prefect:\n  mode: existing", "f:1: prefect.api_url: is needed for prefect.mode 'existing'."),
        ("fetch:\n  allow_private: [10.0.0.0/99]", "f:2: fetch.allow_private: '10.0.0.0/99' is no network."),
        ("fetch:\n  proxy: socks5://localhost", "f:2: fetch.proxy: 'socks5://localhost' is no web proxy."),
    ],
)
def test_a_wrong_setting_is_refused_with_its_line(text: str, message: str) -> None:
    """One line says where, what, and what would be right."""
    with pytest.raises(SettingsError) as caught:
        parse_settings(text, "f")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "text",
    [
        "pages: {dir: raw_sources/x}",
        "pages: {evidence: Wiki/copies}",
        "pages: {dir: evidence}",
        "pages: {candidates: wiki}",
        "pages: {dir: ../out}",
        "pages: {dir: /tmp/x}",
        "pages: {dir: .obsidian/x}",
        "sources: {dir: .}",
        "sources: {dir: wiki}",
        "sources: {inbox: evidence/inbox.md}",
        "state_dir: wiki/state",
        "state_dir: .",
        "state_dir: ''",
        "digest: {note: ../x.md}",
        "digest: {note: nightwiki.yaml}",
        "digest: {note: wiki}",
        "digest: {note: Purpose.md}",
        "digest: {note: ./wiki/index.md}",
        "digest: {note: wiki/candidates/x.md}",
    ],
)
def test_folders_do_not_swallow_one_another(text: str) -> None:
    """What lies in two folders would be read twice, or written where it is read."""
    with pytest.raises(SettingsError):
        parse_settings(text)


@pytest.mark.parametrize(
    "text",
    [
        "pages: {dir: .}",
        "digest: {note: wiki/Digest.md}",
        "sources: {clips: [raw_sources/clips]}",
        "state_dir: /var/lib/x",
        "state_dir: ~/x",
    ],
)
def test_folders_may_stand_apart_or_hold_the_vault(text: str) -> None:
    """The pages may be the whole vault, and state may lie elsewhere."""
    assert parse_settings(text)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Missing and undecodable files are errors of one line."""
    (tmp_path / "bad.yaml").write_bytes(b"name: \xff\n")
    for name, words in (("bad.yaml", "is not UTF-8"), ("none.yaml", "No such file")):
        with pytest.raises(SettingsError, match=words):
            load_settings(tmp_path / name)


@pytest.mark.parametrize(
    "line", ["0 2 * * *", "*/15 0-6 1,15 jan-mar MON", "0 0 29 2 *", "5/10 * * * 7"]
)
def test_right_cron_lines_pass(line: str) -> None:
    """Ranges, steps, lists, names, and a leap day."""
    assert cron_problem(line) == ""


@pytest.mark.parametrize(
    "line",
    [
        "",
        "* * * *",
        "60 * * * *",
        "0 24 * * *",
        "0 0 30 2 *",
        "0 0 31 4,6 *",
        "5-1 * * * *",
        "*/0 * * * *",
        "0 2 * * mo",
        "@daily",
        "0 0 0 * *",
    ],
)
def test_wrong_cron_lines_say_why(line: str) -> None:
    """A line that no scheduler takes, or that can never fire, is refused."""
    assert cron_problem(line) != ""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "staging:\n  policy: all\n"),
        ("name: x", "name: x\nstaging:\n  policy: all\n"),
        ("staging:\n", "staging:\n  policy: all\n"),
        ("staging: {}\n", "staging: {policy: all}\n"),
        ("staging: {policy: off}  # mine\n", "staging: {policy: all}  # mine\n"),
        ("staging: {min_confidence: low}\n", "staging: {min_confidence: low, policy: all}\n"),
        (
            "staging:\r\n    policy:   'off'   # why\r\nname: x\r\n",
            "staging:\r\n    policy:   all   # why\r\nname: x\r\n",
        ),
        (
            "staging:\n    min_confidence: low\n\n# next\nname: x\n",
            "staging:\n    min_confidence: low\n    policy: all\n\n# next\nname: x\n",
        ),
        ("\ufeffname: NO\nstaging:\n  policy: off", "\ufeffname: NO\nstaging:\n  policy: all"),
    ],
)
def test_one_value_is_changed_and_every_other_byte_stays(text: str, wanted: str) -> None:
    """Comments, order, quoting, line endings and blank lines are the person's."""
    assert set_value(text, ("staging", "policy"), "all") == wanted


def test_a_wrong_value_is_not_written() -> None:
    """An edit that would break the file is refused."""
    with pytest.raises(SettingsError):
        set_value("name: x\n", ("staging", "policy"), "never")


@pytest.mark.parametrize(
    ("path", "glob", "wanted"),
    [
        ("a.md", "*.md", True),
        ("x/a.md", "*.md", False),
        ("x/a.md", "**/*.md", True),
        ("a.md", "**/*.md", True),
        ("x/y/a.md", "x/**", True),
        ("x/y/a.md", "x", True),
        ("xx/a.md", "x", False),
        ("x/a.md", "x/?.md", True),
        ("caf\u00e9/a.md", "cafe\u0301/**", True),
        ("a[1].md", "a[1].md", True),
    ],
)
def test_globs_mean_what_the_settings_say(path: str, glob: str, wanted: bool) -> None:
    """Names, folders and `**`; brackets are letters, for notes are named so."""
    assert matches(path, [glob]) is wanted


def test_settings_are_frozen_and_closed() -> None:
    """Nobody changes settings while a run goes by them."""
    with pytest.raises(ValueError, match="frozen"):
        Settings().name = "x"  # type: ignore[misc]
    with pytest.raises(ValueError, match="Extra inputs"):
        Pages.model_validate({"folder": "x"})
