"""Statistical functions of numbers, independent of data frames, groups and metrics.

Functions take array-likes that broadcast against each other and return arrays of the broadcast
shape.  Counts may be real numbers (effective sample sizes).  Undefined is nan, confidence limits
may be infinite, and random methods take a ``numpy.random.Generator``.
"""
