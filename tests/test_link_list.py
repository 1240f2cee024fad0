"""An address added to a list that a person keeps: nothing else in it changes, and it stays a list."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from config.errors import NightwikiError
from serving.bring import bring
from serving.link_list import with_link
from tasks.sources.addresses import identify
from tasks.sources.source_list import read_list
from tests import wikis

NEW = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("", f"videos:\n  - {NEW}\n"),
        ("~\n", f"videos:\n  - {NEW}\n"),
        ("{}", f"videos:\n  - {NEW}\n"),
        ("videos: null # none yet\n# end\n", f"videos: # none yet\n  - {NEW}\n# end\n"),
        ("https://a.org/\n# end\n", f"https://a.org/\n{NEW}\n# end\n"),
        ("[https://a.org/] # mine\n", f"[https://a.org/, '{NEW}'] # mine\n"),
        ("- https://a.org/ # mine\r\n# end", f"- https://a.org/ # mine\r\n- {NEW}\r\n# end\r\n"),
        ("\ufefflinks:\n    - https://a.org/\n", f"\ufefflinks:\n    - https://a.org/\nvideos:\n  - {NEW}\n"),
    ],
)
def test_an_address_joins_any_form_of_list(text: str, edited: str) -> None:
    """Comments, line ends and other addresses stay, and any program that reads YAML can read what comes out."""
    found = with_link(text, identify(NEW), "sources.yaml")
    assert found == edited
    assert read_list(found.encode(), "sources.yaml").problems == ()
    assert yaml.safe_load(found.lstrip("\ufeff"))


def test_a_list_that_is_no_text_is_left_alone(tmp_path: Path) -> None:
    """What cannot be read cannot be added to."""
    wiki = wikis.make(tmp_path / "w")
    (wiki.root / "raw_sources/sources.yaml").write_bytes(b"- https://a.org/\xff\n")
    with pytest.raises(NightwikiError, match="not UTF-8 text"):
        bring(wiki, [NEW], ())
