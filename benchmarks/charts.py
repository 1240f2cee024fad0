"""Charts of the retrieval benchmark: recall by wiki size and kind of question, and time by wiki size."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.corpora import nested, read_wiki
from benchmarks.evaluate import Report, evaluate
from benchmarks.retrieval import SIZES, load_model
from tasks.search.fusion import Configuration

SHOWN: tuple[Configuration, ...] = ("bm25", "vector", "rrf", "seed", "fused")


def draw(options: argparse.Namespace) -> int:
    """Measures every size and writes `recall.png` and `latency.png` into the folder."""
    folder: Path = options.folder or Path("benchmarks/charts")
    corpus = read_wiki(options.wiki_questions, options.text)
    embedder = load_model(options.model, options.model_path, options.cache)
    sizes = [size for size in SIZES if size <= len(corpus.documents)]
    reports = [evaluate(nested(corpus, size), SHOWN, embedder, options.cache, depth=20) for size in sizes]
    folder.mkdir(parents=True, exist_ok=True)
    draw_recall(reports, folder / "recall.png")
    draw_latency(reports, folder / "latency.png")
    print(f"{folder / 'recall.png'}\n{folder / 'latency.png'}")
    return 0


def draw_recall(reports: Sequence[Report], file: Path) -> None:
    """Recall@5 with its interval over the number of pages, one panel a kind of question."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    kinds = [kind for kind in reports[0].outcomes[0].estimates if kind]
    figure, panels = pyplot.subplots(
        1, len(kinds), figsize=(4.2 * len(kinds), 3.6), sharey=True, squeeze=False
    )
    for panel, kind in zip(panels[0], kinds, strict=True):
        for number, outcome in enumerate(reports[0].outcomes):
            name = outcome.configuration
            told = [report.outcome(name).estimates[kind]["recall@5"] for report in reports]
            at = [report.documents for report in reports]
            panel.plot(at, [one.mean for one in told], marker="o", label=name, color=f"C{number}")
            panel.fill_between(
                at, [one.low for one in told], [one.high for one in told], alpha=0.12, color=f"C{number}"
            )
        panel.set(xscale="log", title=kind, xlabel="pages", ylim=(0, 1.02))
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("recall@5")
    panels[0][-1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=130, metadata={"Software": None})
    pyplot.close(figure)


def draw_latency(reports: Sequence[Report], file: Path) -> None:
    """P95 over the number of pages, and that of embedding the question by itself."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panel = pyplot.subplots(figsize=(5.2, 3.6))
    at = [report.documents for report in reports]
    for outcome in reports[0].outcomes:
        told = [report.outcome(outcome.configuration).latency for report in reports]
        panel.plot(
            at, [one.p95 if one else float("nan") for one in told], marker="o", label=outcome.configuration
        )
    alone = [report.embedding.p95 if report.embedding else float("nan") for report in reports]
    panel.plot(at, alone, linestyle="--", color="grey", label="embedding alone")
    panel.set(xscale="log", yscale="log", xlabel="pages", ylabel="P95, milliseconds")
    panel.grid(alpha=0.3)
    panel.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=130, metadata={"Software": None})
    pyplot.close(figure)
