"""The public names of smclarify 0.5: put ``fairgauge_cloud.`` before an import and it works.

>>> from fairgauge_cloud.smclarify.bias import report
>>> report.StageType.PRE_TRAINING.value
'pre_training'
"""

# the version of smclarify whose names these are
__version__ = "0.5"
