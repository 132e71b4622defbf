"""From a turn's log to figures, from figures to exact sums, from sums to rates with intervals. Pure.

Law: everything that is added up is a whole number, so that the parts of a collection give the same sums however they
are cut and in whichever order they are merged. A rate is made of sums when it is shown, and not before.
"""
