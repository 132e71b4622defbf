"""Data sets of agents' runs become turns: contracts inferred, calls folded into plans, everything counted.

Law: no importer needs a tool or the network, and none guesses in silence. One module for each form, with the table of
what becomes of what at its head; what they share is here once: reading (`reading`, `messages`), contracts (`seen`,
`contracts`), the machine (`folding`).
"""

from __future__ import annotations

from metnos.evaluate.importing.collection import FORMS, import_collection
from metnos.evaluate.importing.model import ImportReport, ReadFault

__all__ = ["FORMS", "ImportReport", "ReadFault", "import_collection"]
