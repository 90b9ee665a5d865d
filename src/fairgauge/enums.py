"""The closed vocabularies: one meaning, one word, everywhere the same."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Whether a number can be relied on, and if not, why not."""

    OK = "ok"
    UNDEFINED = "undefined"
    TOO_FEW = "too_few"
    SUPPRESSED = "suppressed"
    NOT_APPLICABLE = "not_applicable"
    ERROR = "error"


class Outcome(StrEnum):
    """What a rule, a feature or an audit came to."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_EVALUATED = "not evaluated"
    NONE = "none"


class Profile(StrEnum):
    """Which reading of the sources is computed."""

    DOCUMENTED = "documented"
    CLARIFY = "clarify"


class Missing(StrEnum):
    """What happens to a row whose sensitive feature is missing."""

    EXCLUDE = "exclude"
    GROUP = "group"
    ERROR = "error"


class Reference(StrEnum):
    """What a group is compared with, unless a value is named."""

    OTHERS = "others"
    OVERALL = "overall"
    LARGEST = "largest"
    BEST = "best"


class Closed(StrEnum):
    """Which edge of an interval belongs to it."""

    RIGHT = "right"
    LEFT = "left"


class Threshold(StrEnum):
    """A score threshold that the data determine."""

    MEDIAN = "median"


class Decide(StrEnum):
    """What decides a rule: the whole confidence interval, or the value alone."""

    INTERVAL = "interval"
    POINT = "point"


class Insufficient(StrEnum):
    """What a rule comes to where the data are insufficient to decide it."""

    REPORT = "report"
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    IGNORE = "ignore"


class Multiplicity(StrEnum):
    """Which error rate is controlled where several decisions are made."""

    PER_DECISION = "per-decision"
    FAMILYWISE = "familywise"


class Task(StrEnum):
    """What the label and the prediction are."""

    BINARY = "binary"
    MULTICLASS = "multiclass"
    REGRESSION = "regression"


class Method(StrEnum):
    """How intervals are made."""

    DEFAULT = "default"
    SCORE = "score"
    EXACT = "exact"
    BOOTSTRAP = "bootstrap"
    BOOTSTRAP_NORMAL = "bootstrap-normal"
    BOOTSTRAP_BCA = "bootstrap-bca"
    BAYES = "bayes"

    @property
    def resamples(self) -> bool:
        """Return whether the rows are resampled."""
        return self in (Method.BOOTSTRAP, Method.BOOTSTRAP_NORMAL, Method.BOOTSTRAP_BCA)


class Level(StrEnum):
    """How much a diagnostic matters."""

    NOTE = "note"
    WARNING = "warning"


class Better(StrEnum):
    """Which direction of a rate favours a group."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


class Role(StrEnum):
    """What an axis of a cube stands for."""

    FEATURE = "feature"
    STRATUM = "stratum"
    LABEL = "label"
    PREDICTION = "prediction"
    SCORE = "score"
    CLUSTER = "cluster"


class Direction(StrEnum):
    """Where a disparity went between two reports, seen from "no difference"."""

    CLOSER = "closer"
    FURTHER = "further"
    AS_FAR = "as far"


class Turn(StrEnum):
    """What became of a verdict between two reports."""

    WORSE = "worse"
    BETTER = "better"
    OTHER = "other"
