"""The few words of nightwiki's own that stand on a page, in the language of the page's sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageWords:
    """Headings of sections, what is said of two sentences that contradict each other, and of what was left out."""

    facts: str
    overview: str
    details: str
    contradiction: str
    both_hold: str
    published: str
    left_out: str  # rows of a table, as `{count}`
    cut: str  # characters of a source: `{read}` of `{whole}`

    def rows_left_out(self, count: int) -> str:
        """That a table goes on in its source."""
        return self.left_out.format(count=count)

    def only_read(self, read: int, whole: int) -> str:
        """That a source was too long to be read to its end; its link follows."""
        return self.cut.format(read=read, whole=whole)


_WORDS = {
    "en": PageWords(
        "Key facts", "Overview", "Details",
        "Two sources contradict each other", "Both hold, each at its time", "published",
        "… {count} more", "Only the first {read:,} of {whole:,} characters of this source were read:",
    ),
    "de": PageWords(
        "Eckdaten", "Überblick", "Einzelheiten",
        "Zwei Quellen widersprechen einander", "Beides gilt, jedes zu seiner Zeit", "veröffentlicht",
        "… {count} weitere", "Nur die ersten {read} von {whole} Zeichen dieser Quelle wurden gelesen:",
    ),
    "fr": PageWords(
        "Faits essentiels", "Aperçu", "Détails",
        "Deux sources se contredisent", "Les deux sont vrais, chacun en son temps", "publié",
        "… {count} de plus", "Seuls les {read} premiers caractères sur {whole} de cette source ont été lus :",
    ),
    "es": PageWords(
        "Datos clave", "Resumen", "Detalles",
        "Dos fuentes se contradicen", "Ambos son ciertos, cada uno en su momento", "publicado",
        "… {count} más", "Solo se leyeron los primeros {read} de {whole} caracteres de esta fuente:",
    ),
    "it": PageWords(
        "Dati principali", "Panoramica", "Dettagli",
        "Due fonti si contraddicono", "Entrambi valgono, ciascuno a suo tempo", "pubblicato",
        "… altre {count}", "Di questa fonte sono stati letti solo i primi {read} caratteri su {whole}:",
    ),
    "pt": PageWords(
        "Dados principais", "Visão geral", "Detalhes",
        "Duas fontes contradizem-se", "Ambos valem, cada um a seu tempo", "publicado",
        "… mais {count}", "Só foram lidos os primeiros {read} de {whole} caracteres desta fonte:",
    ),
    "nl": PageWords(
        "Kerngegevens", "Overzicht", "Details",
        "Twee bronnen spreken elkaar tegen", "Beide gelden, elk op zijn tijd", "gepubliceerd",
        "… nog {count}", "Alleen de eerste {read} van {whole} tekens van deze bron zijn gelezen:",
    ),
    "ru": PageWords(
        "Основные факты", "Обзор", "Подробности",
        "Два источника противоречат друг другу", "Верно и то и другое, каждое в своё время", "опубликовано",
        "… ещё {count}", "Прочитаны только первые {read} из {whole} знаков этого источника:",
    ),
    "zh": PageWords(
        "要点", "概述", "详情",
        "两个来源互相矛盾", "两者各在其时成立", "发布于",
        "… 另有 {count} 项", "此来源共 {whole} 个字符，仅读取了前 {read} 个：",
    ),
    "ja": PageWords(
        "要点", "概要", "詳細",
        "二つの出典が矛盾しています", "どちらもそれぞれの時期に当てはまります", "公開日",
        "… 他 {count} 件", "この出典は全 {whole} 文字のうち最初の {read} 文字だけが読まれました：",
    ),
    "ko": PageWords(
        "주요 사실", "개요", "세부 내용",
        "두 출처가 서로 모순됩니다", "둘 다 각각의 시기에 맞습니다", "게시일",
        "… 외 {count}개", "이 출처는 {whole}자 중 처음 {read}자만 읽었습니다:",
    ),
    "ar": PageWords(
        "حقائق أساسية", "نظرة عامة", "تفاصيل",
        "مصدران يناقض أحدهما الآخر", "كلاهما صحيح، كلٌّ في وقته", "نُشر",
        "… {count} أخرى", "لم يُقرأ من هذا المصدر سوى أول {read} حرف من أصل {whole}:",
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
