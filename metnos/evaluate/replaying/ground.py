"""What recorded turns are replayed under: contracts and lexicons, as a value that a worker makes its rules from.

Law: the same ground gives the same rules in every process. It holds no function of a host and no code of a tool: rules
need neither.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from metnos.contracts.catalog import Admitted, Catalog
from metnos.drivers.rules import make_rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metnos.contracts.model import Contract
    from metnos.turn.rules import Rules


class Ground:
    """Contracts, and lexicon files beside the shipped ones.

    Args:
        contracts: Of the collection, or of the installation.
        lexicon: Files of the operator; they must be where they are in every process.
    """

    def __init__(self, contracts: Iterable[Contract], lexicon: Iterable[Path] = ()) -> None:
        self.contracts = tuple(contracts)
        self.lexicon = tuple(lexicon)

    @cached_property
    def rules(self) -> Rules:
        """The rules; made once in each process.

        Raises:
            LexiconFault: A file of the operator cannot be read.
        """
        from metnos.request.lexicon import lexicons_with

        lexicons = lexicons_with(self.lexicon) if self.lexicon else None
        return make_rules(self.catalog, lexicons)

    @cached_property
    def catalog(self) -> Catalog:
        """The contracts as a catalog, without any code."""
        return Catalog(Admitted(contract=one) for one in self.contracts)

    def __getstate__(self) -> dict[str, object]:
        """Without the rules: functions are not handed from process to process."""
        return {"contracts": self.contracts, "lexicon": self.lexicon}
