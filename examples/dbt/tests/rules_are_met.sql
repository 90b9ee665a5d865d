-- dbt fails for every row that a test returns: what is inconclusive fails, too
select rule, feature, "group", outcome, reason
from {{ ref('fairness_verdicts') }}
where outcome <> 'pass'
