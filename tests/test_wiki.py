"""A wiki is found by option, by variable, or upwards; and knows its places."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.errors import SettingsError, WikiNotFoundError
from config.wiki import find_wiki, model_cache, open_wiki


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with empty settings, which is a wiki."""
    folder = tmp_path / "my wiki"
    (folder / "wiki" / "deep").mkdir(parents=True)
    (folder / "nightwiki.yaml").write_text("")
    return folder


def test_the_option_comes_first(root: Path, tmp_path: Path) -> None:
    """-w names the folder or its settings file, whatever the variable says."""
    environ = {"NIGHTWIKI_WIKI": str(tmp_path)}
    assert find_wiki(root, environ).root == root
    assert find_wiki(root / "nightwiki.yaml", environ).root == root


def test_then_the_variable_then_upwards(root: Path, tmp_path: Path) -> None:
    """The variable counts before the current folder; without it the nearest folder above holds the wiki."""
    assert find_wiki(None, {"NIGHTWIKI_WIKI": str(root)}, tmp_path).root == root
    assert find_wiki(None, {}, root / "wiki" / "deep").root == root


@pytest.mark.parametrize("named", [True, False])
def test_no_wiki_is_an_error_with_the_next_step(named: bool, tmp_path: Path) -> None:
    """The message says how to name a wiki or make one."""
    with pytest.raises(WikiNotFoundError, match="nightwiki init"):
        find_wiki(tmp_path if named else None, {}, tmp_path)


def test_a_wrong_variable_is_not_passed_over(tmp_path: Path, root: Path) -> None:
    """A variable that points nowhere is an error even inside another wiki."""
    with pytest.raises(WikiNotFoundError, match="NIGHTWIKI_WIKI="):
        find_wiki(None, {"NIGHTWIKI_WIKI": str(tmp_path / "none")}, root)


def test_places_follow_the_settings(root: Path, tmp_path: Path) -> None:
    """Vault folders are tidied; state may lie elsewhere."""
    (root / "nightwiki.yaml").write_text(
        f"state_dir: {tmp_path}/state\npages: {{dir: ./notes/, evidence: copies}}\n"
    )
    wiki = open_wiki(root)
    assert (wiki.pages_dir, wiki.candidates_dir, wiki.evidence_dir) == ("notes", "notes/candidates", "copies")
    assert wiki.state_dir == tmp_path / "state"
    assert not wiki.state_dir.exists()


def test_the_vault_itself_can_hold_the_pages(root: Path) -> None:
    """With '.' the pages lie at the top, and candidates beside them."""
    (root / "nightwiki.yaml").write_text("pages: {dir: .}\n")
    assert (open_wiki(root).pages_dir, open_wiki(root).candidates_dir) == (".", "candidates")


@pytest.mark.parametrize("state", ["..", "../", "/"])
def test_state_cannot_hold_the_wiki(root: Path, state: str) -> None:
    """A state folder above the vault would swallow it."""
    (root / "nightwiki.yaml").write_text(f"state_dir: {state}\n")
    with pytest.raises(SettingsError, match="holds the wiki itself"):
        open_wiki(root)


def test_models_are_kept_for_all_wikis(tmp_path: Path) -> None:
    """The model cache is the person's, never a temporary folder."""
    assert model_cache({"XDG_CACHE_HOME": "/c"}) == Path("/c/nightwiki/models")
    assert model_cache({"NIGHTWIKI_CACHE": str(tmp_path)}) == tmp_path / "models"
    assert model_cache({}).is_relative_to(Path.home())
