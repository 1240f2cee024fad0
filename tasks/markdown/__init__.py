"""Markdown as Obsidian has it: properties, blocks, links, footnotes, sentences."""
