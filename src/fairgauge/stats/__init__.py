"""Numbers in, numbers out: the statistics, which know no frames, groups or metrics.

Every function takes array-likes that broadcast against each other and returns arrays of the
broadcast shape, so two thousand strata cost little more than one.  Counts may be real numbers
(effective sample sizes).  Undefined is nan, an infinite limit is a legitimate answer, randomness
comes in as a ``numpy.random.Generator``.
"""
