"""Statistical functions of numbers, independent of data frames, groups and metrics.

Functions take array-likes that broadcast against each other and return arrays of the broadcast
shape.  Counts may be real numbers (effective sample sizes).  Undefined is nan, confidence limits
may be infinite, and random methods take a ``numpy.random.Generator``.

Some parameters mean the same everywhere and are described only where they mean more: ``x`` of ``n``
are successes and trials, of two groups ``x1, n1`` and ``x2, n2`` (``d`` the group, ``a`` its
reference); ``z`` is a two-sided normal critical value, at least 0; ``confidence`` and ``power`` lie
in (0, 1); ``low, high`` are limits inside the range of what they are of; ``rng`` draws ``draws`` or
``replicates`` times. Shapes are stated where an axis has a meaning. Examples are run as tests.
"""
