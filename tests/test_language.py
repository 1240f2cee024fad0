"""The language of a text that does not say it."""

from __future__ import annotations

import pytest

from tasks.compiling.language import guess


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The Z3 was built in Berlin by Konrad Zuse and is regarded as the first of the machines.", "en"),
        ("Die Z3 wurde 1941 in Berlin von Konrad Zuse gebaut und ist nicht mit der Z4 zu verwechseln.", "de"),
        ("La machine est la première qui a été construite par Zuse dans une maison du quartier.", "fr"),
        ("La máquina fue construida por Zuse en Berlín y es una de las primeras que funcionaron.", "es"),
        ("La macchina è una delle prime che sono state costruite per il calcolo e per gli studi della fisica.", "it"),
        ("A máquina foi construída em Berlim e é uma das primeiras que não usavam o sistema do relógio.", "pt"),
        ("De machine is een van de eerste die met het stelsel werd gebouwd en niet op de markt kwam.", "nl"),
        ("Z3于1941年在柏林建成。", "zh"),
        ("Машина была построена в Берлине.", "ru"),
        ("Lorem ipsum dolor sit amet consectetur", ""),
        ("Z3 Z4 ENIAC", ""),
        ("", ""),
    ],
)
def test_small_words_tell_the_language(text: str, language: str) -> None:
    """What is not plain is not guessed."""
    assert guess([text]) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The tower stands on a rock in the bay.", "en"),
        ("Die Türme sind im Sommer jeden Tag geöffnet und im Winter nur am Sonntag.", "de"),
        ("Der Turm steht auf einem Felsen in der Bucht.", "de"),
        ("La tour est sur un rocher dans la baie, et le phare aussi.", "fr"),
        ("La torre está en una roca de la bahía y se puede visitar.", "es"),
        ("La torre si trova su uno scoglio della baia ed è aperta.", "it"),
        ("A torre fica numa rocha da baía e não está aberta no inverno.", "pt"),
        ("De toren staat op een rots in de baai.", "nl"),
    ],
)
def test_one_sentence_is_enough(text: str, language: str) -> None:
    """A note of a sentence and a table has its headings in its own language."""
    assert guess([text]) == language
