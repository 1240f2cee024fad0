"""Every error that a person can meet, as one tree.

    NightwikiError                 what went wrong, where, and what to do next
    ├── SettingsError              nightwiki.yaml (or sources.yaml) cannot be used
    ├── WikiNotFoundError          no nightwiki.yaml here or above
    ├── BusyError                  another run or writer holds the lock
    ├── SourceError                one source could not be read (becomes its outcome)
    ├── StateError                 the state folder is damaged or of another version
    ├── NotFoundError              nothing goes by that name
    │   └── GoneError              it was there once: a page that was deleted, a snapshot that was collected
    ├── MissingExtraError          an optional package is not installed
    ├── ModelUnavailableError      the embedding model cannot be loaded (search goes on by keywords)
    └── ModelError                 the language model gave no usable reply

The command line prints `str(error)`: one line, and exits 1.
"""

from __future__ import annotations


class NightwikiError(Exception):
    """An error with a subject (usually a path), its cause and the next step."""

    def __init__(self, subject: str, cause: str, next_step: str = "") -> None:
        self.subject = subject
        self.cause = cause
        self.next_step = next_step
        super().__init__(subject, cause, next_step)

    def __str__(self) -> str:
        line = f"{self.subject}: {self.cause}"
        return " ".join((f"{line}. {self.next_step}" if self.next_step else line).split())


class SettingsError(NightwikiError):
    """A settings file cannot be read, or a key or value in it is not known."""


class WikiNotFoundError(NightwikiError):
    """No wiki at the given place, in NIGHTWIKI_WIKI, or upwards from the current folder."""


class BusyError(NightwikiError):
    """Another process holds the lock; the message names its pid and start."""


class SourceError(NightwikiError):
    """One source could not be fetched or read. `outcome` is a value of `tasks.records.Outcome`."""

    def __init__(self, subject: str, outcome: str, cause: str, next_step: str = "") -> None:
        super().__init__(subject, cause, next_step)
        self.outcome = outcome
        self.args = (subject, outcome, cause, next_step)


class StateError(NightwikiError):
    """The state folder is damaged, or was written by another version."""


class NotFoundError(NightwikiError):
    """No page, candidate, wiki or snapshot goes by the name that was asked for."""


class GoneError(NotFoundError):
    """What was asked for was there once."""


class MissingExtraError(NightwikiError):
    """A feature needs an optional package; the next step names the extra."""


class ModelUnavailableError(NightwikiError):
    """The embedding model is absent or broken; search answers by keywords and says so."""


class ModelError(NightwikiError):
    """The language model gave no usable reply. `kind` is a value of `tasks.llm.ask.Kind`."""

    def __init__(self, kind: str, reason: str, subject: str = "model", next_step: str = "") -> None:
        super().__init__(subject, reason, next_step)
        self.kind = kind
        self.reason = reason
        self.args = (kind, reason, subject, next_step)
