"""The comparison of models on the same rows: specify, count both decisions, measure, decide."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Unpack

from fairgauge.catalogue.facts import described
from fairgauge.comparison.model_comparison import ModelComparison
from fairgauge.errors import Problem, SpecError
from fairgauge.measure.compare_models import compare_candidates
from fairgauge.pipeline import counted
from fairgauge.resolve.outcomes import decide_task
from fairgauge.version import __version__

if TYPE_CHECKING:
    from fairgauge.spec.options import Options


def compare_models(data: object, **options: Unpack[Options]) -> ModelComparison:
    """Compare candidate models with the model in use on the same rows; see `fairgauge.compare`."""
    cube, source, spec = counted(data, (), options)
    if not spec.candidate:
        message = "name the columns of the candidates' decisions (candidate, --candidate COL)"
        raise SpecError(Problem("candidate", message))
    return ModelComparison(
        version=__version__,
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        task=decide_task(cube, spec),
        source=source.name if source else "counts",
        fingerprint=cube.digest,
        rows=cube.rows,
        excluded=cube.excluded,
        spec=spec.to_dict(),
        current=spec.prediction or spec.score or "",
        confidence=spec.confidence,
        candidates=compare_candidates(cube, spec),
        own=tuple(map(described, spec.catalogue.own)),
    )
