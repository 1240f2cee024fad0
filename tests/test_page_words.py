"""The words of nightwiki's own on a page, by language."""

from __future__ import annotations

import pytest

from tasks.compiling.page_words import page_words


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "pt", "nl", "ru", "zh", "ja", "ko", "ar", "xx"])
def test_counts_stand_in_the_sentence_of_every_language(language: str) -> None:
    """What was left out is told with its numbers; a language that is not known is told in English."""
    words = page_words(language)
    assert "7" in words.rows_left_out(7)
    told = words.only_read(999, 1234).replace(",", "")
    assert "999" in told and "1234" in told
