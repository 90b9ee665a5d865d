"""Monitoring: many periods of counts, and alarms with a stated probability of a false one.

The state of a monitor is a pure fold over its history: the same cubes always give the same alarms,
and nothing else is kept.

    History --cubes--> counts of monitored comparisons --detectors--> alarms --attribution--> report
"""
