"""Routing: which tools a plan for this request may name, and which parts of the request no tool serves.

Law: a pure function of request and catalog, the same on every machine. No model is asked; nothing is learned. What is
routed is a choice among admitted contracts, never a permission: every plan is checked all the same.

    from metnos.propose.routing import route
    route(understand("the five largest files in docs"), catalog).names    # ("find_files", "sort_entries", …)
"""

from metnos.propose.routing.model import DEFAULT_CAP, Routed, RoutedClause
from metnos.propose.routing.route import Router, route

__all__ = ["DEFAULT_CAP", "Routed", "RoutedClause", "Router", "route"]
