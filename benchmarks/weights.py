"""How the one free number of `fused`, the keyword weight, was chosen, and whether it carries over.

`python -m benchmarks.weights --shared DIR` ranks every development corpus under many weights, and then
judges each corpus with the weight that was best on the mean of all others. What the engine's own
explanations say about a page is all that a new weight needs, so nothing is searched twice.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.corpora import Corpus, nested, read_beir, read_wiki
from benchmarks.gate import QUESTIONS
from benchmarks.measures import Ranking, per_query
from benchmarks.published import KeptVectors, engine_over, publish
from benchmarks.retrieval import CACHE, load_model
from tasks.embedding.embed import E5_SMALL, Embedder
from tasks.search.fusion import KEYWORD_WEIGHT

WEIGHTS = (4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 32.0, 48.0, 64.0)
DEPTH = 200


def rankings_by_weight(corpus: Corpus, embedder: Embedder, cache: Path) -> dict[float, dict[str, Ranking]]:
    """The ranking of every question under every weight."""
    kept = KeptVectors(embedder, cache)
    kept.learn_questions([query.text for query in corpus.queries])
    found: dict[float, dict[str, Ranking]] = {weight: {} for weight in WEIGHTS}
    with tempfile.TemporaryDirectory() as folder:
        engine = engine_over(publish(corpus, kept, Path(folder)), kept)
        for query in corpus.queries:
            hits = engine.search(query.text, DEPTH, explain=True, configuration="fused").hits
            told = [(hit.slug, hit.explain) for hit in hits if hit.explain is not None]
            for weight in WEIGHTS:
                scored = [
                    (slug, why.keyword_part * weight / KEYWORD_WEIGHT + why.vector_part) for slug, why in told
                ]
                found[weight][query.id] = sorted(scored, key=lambda one: -one[1])[:20]
    return found


def judged(corpus: Corpus, rankings: Mapping[float, Mapping[str, Ranking]]) -> dict[float, float]:
    """The figure that a corpus is judged by: recall@5 where kinds are told apart, else nDCG@10."""
    measure = "recall@5" if corpus.kinds() != ("",) else "ndcg@10"
    return {
        weight: sum(values.values()) / len(values)
        for weight, ranking in rankings.items()
        if (values := per_query(ranking, corpus.judged, measure))
    }


def left_out(figures: Mapping[str, Mapping[float, float]]) -> dict[str, float]:
    """For each corpus the weight that is best on the mean of all others."""
    return {
        name: max(
            WEIGHTS, key=lambda weight: sum(of[weight] for other, of in figures.items() if other != name)
        )
        for name in figures
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints both tables."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.weights", description=__doc__.partition("\n")[0]
    )
    options.add_argument("--shared", type=Path, default=Path("../shared/data"))
    options.add_argument(
        "--multilingual", default="", help="folder of multilingual-e5-small; adds the XQuAD corpora"
    )
    options.add_argument("--cache", type=Path, default=CACHE)
    chosen = options.parse_args(arguments)
    retrieval = chosen.shared / "retrieval"
    wiki = read_wiki(QUESTIONS / "enwiki-a.jsonl", chosen.shared / "text" / "enwiki-summaries.jsonl.gz")
    english = load_model("", "", chosen.cache)
    if english is None:
        return 1
    asked: list[tuple[Corpus, Embedder]] = [(nested(wiki, size), english) for size in (500, 2_000, 10_033)]
    asked += [(read_beir(retrieval / name), english) for name in ("scifact", "hotpotqa")]
    if chosen.multilingual:
        many = load_model(E5_SMALL, chosen.multilingual, chosen.cache)
        if many is not None:
            asked += [
                (read_beir(retrieval / f"xquad-{code}"), many)
                for code in ("zh", "de", "es", "ru", "ar", "tr")
            ]
    figures: dict[str, dict[float, float]] = {}
    print(f"{'keyword weight':18}" + "".join(f"{weight:8g}" for weight in WEIGHTS))
    for corpus, embedder in asked:
        figures[corpus.name] = judged(corpus, rankings_by_weight(corpus, embedder, chosen.cache))
        print(
            f"{corpus.name:18}" + "".join(f"{figures[corpus.name][weight]:8.4f}" for weight in WEIGHTS),
            flush=True,
        )
    print(f"\n{'left out':18}{'weight':>8}{'figure':>8}{'at ' + format(KEYWORD_WEIGHT, 'g'):>8}")
    for name, weight in left_out(figures).items():
        print(f"{name:18}{weight:8g}{figures[name][weight]:8.4f}{figures[name][KEYWORD_WEIGHT]:8.4f}")
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
