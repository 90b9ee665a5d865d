"""aequitas: crosstabs of the groups, and their disparities."""

import sys
import warnings

warnings.filterwarnings("ignore")

from aequitas.bias import Bias  # noqa: E402
from aequitas.group import Group  # noqa: E402
from timing import from_rates, people, report  # noqa: E402

frame = people(sys.argv[1]).rename(columns={"prediction": "score", "label": "label_value"})


def work():
    crosstab, _ = Group().get_crosstabs(frame, attr_cols=["race"])
    return Bias().get_disparity_predefined_groups(
        crosstab, original_df=frame, ref_groups_dict={"race": "White"}, check_significance=False
    )


def differences(crosstab):
    groups = crosstab.set_index("attribute_value")
    return from_rates(groups["pprev"].to_dict(), groups["group_size"].to_dict())


report(work, differences)
