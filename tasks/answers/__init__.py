"""Answers to questions, sentence by sentence, each with what it relies on."""
