"""How well and how fast search finds pages: `python -m benchmarks.retrieval`.

    --corpus DIR                         a BEIR folder: corpus.jsonl[.gz], queries.jsonl[.gz], qrels.tsv
    --wiki-questions FILE --text FILE    titled pages, and questions by kind
    fetch DIR                            download SciFact, NFCorpus, HotpotQA and DuRetrieval from their homes
    charts DIR                           draw recall by wiki size and kind, and the latency curve

Every configuration runs through the production engine. The tables show means with bootstrap 95 % intervals.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast, get_args

from benchmarks.corpora import Corpus, nested, read_beir, read_wiki
from benchmarks.evaluate import RUN_DEPTH, Latency, Report, evaluate
from config.errors import ModelUnavailableError
from config.settings import Embedding
from tasks.embedding import embed
from tasks.embedding.embed import Embedder
from tasks.search.fusion import Configuration

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path.home() / ".cache" / "nightwiki" / "benchmarks"
SIZES = (500, 1000, 2000, 5000, 10_033)


def parser() -> argparse.ArgumentParser:
    """The options, which stay."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.retrieval", description=__doc__.partition("\n")[0]
    )
    options.add_argument("command", nargs="?", choices=("run", "fetch", "charts"), default="run")
    options.add_argument("folder", nargs="?", type=Path, help="where `fetch` and `charts` write")
    options.add_argument("--corpus", type=Path, help="a folder in BEIR form")
    options.add_argument(
        "--questions", type=Path, help="another BEIR folder whose queries are asked of the corpus"
    )
    options.add_argument("--wiki-questions", type=Path, help="questions by kind over titled pages")
    options.add_argument("--text", type=Path, help="the titled pages")
    options.add_argument(
        "--configs", default=",".join(get_args(Configuration)), help="configurations, comma-separated"
    )
    options.add_argument("--size", type=int, default=0, help="a nested wiki of this many pages")
    options.add_argument("--json", type=Path, help="write every figure there")
    options.add_argument("--run", type=Path, help="write NAME.run for each configuration there, in TREC form")
    options.add_argument("--model", default="", help="embedding model by its fastembed name")
    options.add_argument("--model-path", default="", help="folder of the model's files")
    options.add_argument("--cache", type=Path, default=CACHE, help="where embeddings are kept between runs")
    options.add_argument("--no-latency", action="store_true", help="measure quality only")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; 0 when it could."""
    options = parser().parse_args(arguments)
    if options.command == "fetch":
        from benchmarks.fetch import fetch_all

        return fetch_all(options.folder or CACHE / "corpora")
    if options.command == "charts":
        from benchmarks.charts import draw

        return draw(options)
    try:
        corpus = chosen_corpus(options)
    except (OSError, ValueError, KeyError) as error:
        print(f"the corpus cannot be read: {error}", file=sys.stderr)
        return 2
    names = [name for name in options.configs.split(",") if name]
    unknown = set(names) - set(get_args(Configuration))
    if unknown or not names:
        known = ", ".join(get_args(Configuration))
        print(
            f"no configuration {', '.join(sorted(unknown)) or '(none)'}; there are {known}", file=sys.stderr
        )
        return 2
    configurations = cast("list[Configuration]", names)
    embedder = (
        None if configurations == ["bm25"] else load_model(options.model, options.model_path, options.cache)
    )
    report = evaluate(corpus, configurations, embedder, options.cache, timed=not options.no_latency)
    print(table(report))
    if options.json:
        options.json.write_text(json.dumps(as_json(report), indent=1), encoding="utf-8")
    if options.run:
        write_runs(report, options.run)
    return 0


def chosen_corpus(options: argparse.Namespace) -> Corpus:
    """The corpus that the options name, cut to size."""
    if options.corpus:
        corpus = read_beir(options.corpus, options.questions)
    elif options.wiki_questions and options.text:
        corpus = read_wiki(options.wiki_questions, options.text)
    else:
        raise ValueError("give --corpus DIR, or --wiki-questions FILE and --text FILE")
    return nested(corpus, options.size) if options.size else corpus


def load_model(name: str, path: str, cache: Path) -> Embedder | None:
    """The model asked for, else the one in the `offline` extra, else the product's default; None when there is none."""
    chosen = name or (embed.MINILM if embed.offline_model() is not None else Embedding().model)
    try:
        return embed.load(Embedding(model=chosen, path=path), cache / "models", download=True)
    except ModelUnavailableError as error:
        print(f"{error} Configurations by meaning fall back to keywords.", file=sys.stderr)
        return None


def table(report: Report) -> str:
    """The figures for a terminal."""
    head = f"{report.corpus}: {report.documents} documents, {report.questions} questions ({report.digest})"
    rows = [head, f"model: {report.model or 'none'}", ""]
    kinds = list(report.outcomes[0].estimates)
    measures = list(report.outcomes[0].estimates[""])
    for kind in kinds:
        rows.append(f"{kind or 'all questions':16}" + "".join(f"{name:>23}" for name in measures))
        for outcome in report.outcomes:
            cells = "".join(
                f"{f'{one.mean:.3f} ({one.low:.3f}–{one.high:.3f})':>23}"
                for one in (outcome.estimates[kind][name] for name in measures)
            )
            rows.append(f"{outcome.configuration:16}{cells}")
        rows.append("")
    if report.outcomes[0].latency is not None:
        rows.append(f"{'latency':16}{'P50 ms':>10}{'P95 ms':>10}{'95 % interval':>18}")
        for outcome in report.outcomes:
            if outcome.latency is not None:
                rows.append(_latency(outcome.configuration, outcome.latency))
        if report.embedding is not None:
            rows.append(_latency("embedding alone", report.embedding))
        rows.append("")
    names = [outcome.configuration for outcome in report.outcomes]
    if "fused" in names and len(names) > 1:
        rows.append(f"fused minus     {'ndcg@10':>34}{'recall@5':>34}")
        for name in names:
            if name != "fused":
                apart = [report.difference("fused", name, measure) for measure in ("ndcg@10", "recall@5")]
                told = [
                    f"{one.mean:+.3f} ({one.low:+.3f} to {one.high:+.3f}), p {one.p:.3f}" for one in apart
                ]
                rows.append(f"{name:16}" + "".join(f"{cell:>34}" for cell in told))
    return "\n".join(rows)


def _latency(name: str, one: Latency) -> str:
    interval = f"{one.p95_low:.2f}–{one.p95_high:.2f}"
    return f"{name:16}{one.p50:10.2f}{one.p95:10.2f}{interval:>18}"


def as_json(report: Report) -> dict[str, Any]:
    """Every figure, without the rankings."""
    return {
        "schema_version": 1,
        "corpus": report.corpus,
        "digest": report.digest,
        "documents": report.documents,
        "questions": report.questions,
        "model": report.model,
        "embedding_latency_ms": asdict(report.embedding) if report.embedding is not None else None,
        "configurations": {
            outcome.configuration: {
                "latency_ms": asdict(outcome.latency) if outcome.latency is not None else None,
                "all": {measure: asdict(one) for measure, one in outcome.estimates[""].items()},
                "kinds": {
                    kind: {measure: asdict(one) for measure, one in of.items()}
                    for kind, of in outcome.estimates.items()
                    if kind
                },
            }
            for outcome in report.outcomes
        },
        "differences": {
            f"{ours.configuration} - {theirs.configuration}": {
                measure: asdict(report.difference(ours.configuration, theirs.configuration, measure))
                for measure in ("ndcg@10", "recall@5")
            }
            for ours in report.outcomes
            for theirs in report.outcomes
            if ours is not theirs
        },
    }


def write_runs(report: Report, folder: Path) -> None:
    """`NAME.run` in TREC form, tab-separated, for each configuration: up to 100 documents a question, ranks from 1."""
    folder.mkdir(parents=True, exist_ok=True)
    for outcome in report.outcomes:
        with (folder / f"{outcome.configuration}.run").open("w", encoding="utf-8") as file:
            for query, ranking in outcome.rankings.items():
                for place, (document, score) in enumerate(ranking[:RUN_DEPTH], 1):
                    name = " ".join(document.split())
                    file.write(f"{query}\tQ0\t{name}\t{place}\t{score:.9g}\t{outcome.configuration}\n")


if __name__ == "__main__":
    raise SystemExit(main())
