"""Build hook: signs the catalog and packs it into the wheel as `metnos/_catalog`.

Law: it knows one command line, `python -m metnos.contracts.build`, and nothing of manifests, keys or envelopes.
A release is signed with the key named by METNOS_RELEASE_KEY; any other build makes a development key of its own.
An editable install keeps the catalog in the checkout's `build/catalog`, where the loader looks for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CATALOG = Path("build") / "catalog"
PACKED_AS = "metnos/_catalog"


class CatalogHook(BuildHookInterface[Any]):
    """Runs before a wheel is put together; a source distribution carries the catalog unsigned."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Sign, then tell hatchling what to pack.

        Raises:
            RuntimeError: The catalog could not be signed; a wheel without one would refuse every plan.
        """
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        target = root / CATALOG
        sign(root, target)
        if version != "editable":
            build_data["force_include"][str(target)] = PACKED_AS


def sign(root: Path, target: Path) -> None:
    """Call the signer of this very source tree."""
    command = [sys.executable, "-m", "metnos.contracts.build", "--source", str(root), "--out", str(target)]
    paths = [str(root), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the catalog could not be signed:\n{done.stdout}{done.stderr}")
