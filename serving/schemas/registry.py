"""Which command prints which answer."""

from __future__ import annotations

from serving.schemas.asking import BenchAnswer, ContextAnswer, QueryAnswer, SearchAnswer
from serving.schemas.base import Answer
from serving.schemas.review import (
    CandidateAnswer,
    CandidateDiffAnswer,
    CandidatesAnswer,
    ContradictionAnswer,
    ContradictionsAnswer,
    ReviewAnswer,
    StagingAnswer,
)
from serving.schemas.runs import (
    AuditAnswer,
    ChangesAnswer,
    IngestAnswer,
    PageHistoryAnswer,
    RunsAnswer,
    SourcesAnswer,
    StatusAnswer,
    UndoAnswer,
)
from serving.schemas.upkeep import (
    BackupAnswer,
    CheckAnswer,
    ExportAnswer,
    InitAnswer,
    LintAnswer,
    ModelAnswer,
    RoutingAnswer,
    ScaffoldAnswer,
    ScheduleAnswer,
    ScheduleApplyAnswer,
    ScheduleEditAnswer,
)

ANSWERS: dict[str, type[Answer]] = {
    "init": InitAnswer,
    "ingest": IngestAnswer,
    "sync": IngestAnswer,
    "search": SearchAnswer,
    "query": QueryAnswer,
    "context build": ContextAnswer,
    "bench": BenchAnswer,
    "model check": ModelAnswer,
    "status": StatusAnswer,
    "sources list": SourcesAnswer,
    "sources ignore": SourcesAnswer,
    "sources retry": SourcesAnswer,
    "sources withdraw": IngestAnswer,
    "candidates list": CandidatesAnswer,
    "candidates show": CandidateAnswer,
    "candidates diff": CandidateDiffAnswer,
    "candidates promote": ReviewAnswer,
    "candidates discard": ReviewAnswer,
    "contradictions list": ContradictionsAnswer,
    "contradictions resolve": ContradictionAnswer,
    "contradictions dismiss": ContradictionAnswer,
    "staging policy": StagingAnswer,
    "runs": RunsAnswer,
    "audit": AuditAnswer,
    "changes": ChangesAnswer,
    "undo": UndoAnswer,
    "export": ExportAnswer,
    "backup": BackupAnswer,
    "restore": BackupAnswer,
    "page history": PageHistoryAnswer,
    "check": CheckAnswer,
    "lint": LintAnswer,
    "scaffold": ScaffoldAnswer,
    "routing init": RoutingAnswer,
    "routing validate": CheckAnswer,
    "routing clean": RoutingAnswer,
    "schedule list": ScheduleAnswer,
    "schedule add": ScheduleEditAnswer,
    "schedule remove": ScheduleEditAnswer,
    "schedule apply": ScheduleApplyAnswer,
}
"""The answer of each command that takes --json."""
