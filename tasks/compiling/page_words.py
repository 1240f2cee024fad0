"""The few words of nightwiki's own that stand on a page, in the language of the page's sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageWords:
    """Headings of sections, and what is said of two sentences that contradict each other."""

    facts: str
    overview: str
    details: str
    contradiction: str
    both_hold: str
    published: str


_WORDS = {
    "en": PageWords(
        "Key facts", "Overview", "Details",
        "Two sources contradict each other", "Both hold, each at its time", "published",
    ),
    "de": PageWords(
        "Eckdaten", "Überblick", "Einzelheiten",
        "Zwei Quellen widersprechen einander", "Beides gilt, jedes zu seiner Zeit", "veröffentlicht",
    ),
    "fr": PageWords(
        "Faits essentiels", "Aperçu", "Détails",
        "Deux sources se contredisent", "Les deux sont vrais, chacun en son temps", "publié",
    ),
    "es": PageWords(
        "Datos clave", "Resumen", "Detalles",
        "Dos fuentes se contradicen", "Ambos son ciertos, cada uno en su momento", "publicado",
    ),
    "it": PageWords(
        "Dati principali", "Panoramica", "Dettagli",
        "Due fonti si contraddicono", "Entrambi valgono, ciascuno a suo tempo", "pubblicato",
    ),
    "pt": PageWords(
        "Dados principais", "Visão geral", "Detalhes",
        "Duas fontes contradizem-se", "Ambos valem, cada um a seu tempo", "publicado",
    ),
    "nl": PageWords(
        "Kerngegevens", "Overzicht", "Details",
        "Twee bronnen spreken elkaar tegen", "Beide gelden, elk op zijn tijd", "gepubliceerd",
    ),
    "ru": PageWords(
        "Основные факты", "Обзор", "Подробности",
        "Два источника противоречат друг другу", "Верно и то и другое, каждое в своё время", "опубликовано",
    ),
    "zh": PageWords("要点", "概述", "详情", "两个来源互相矛盾", "两者各在其时成立", "发布于"),
    "ja": PageWords(
        "要点", "概要", "詳細",
        "二つの出典が矛盾しています", "どちらもそれぞれの時期に当てはまります", "公開日",
    ),
    "ko": PageWords(
        "주요 사실", "개요", "세부 내용",
        "두 출처가 서로 모순됩니다", "둘 다 각각의 시기에 맞습니다", "게시일",
    ),
    "ar": PageWords(
        "حقائق أساسية", "نظرة عامة", "تفاصيل",
        "مصدران يناقض أحدهما الآخر", "كلاهما صحيح، كلٌّ في وقته", "نُشر",
    ),
}


def page_words(language: str) -> PageWords:
    """The words for pages in a language (ISO 639-1); English where there are none."""
    return _WORDS.get(language, _WORDS["en"])


def main_language(languages: Iterable[str]) -> str:
    """The language that most sources of a page are in, the first of equals; '' when none is known."""
    counted = Counter(language for language in languages if language).most_common(1)
    return counted[0][0] if counted else ""


def language_of(callout: str) -> str:
    """The language in which a callout's first line tells of a contradiction; '' when it does not."""
    line = callout.partition("\n")[0]
    for language, words in _WORDS.items():
        if words.contradiction in line or words.both_hold in line:
            return language
    return ""
