"""Virtual environments for the peers, made once under `.bench/` and left there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PLACE = Path(__file__).resolve().parents[2] / ".bench"
PEERS: dict[str, tuple[str, ...]] = {
    "etchplan": ("etchplan==0.1.1",),
    "langgraph": ("langgraph==1.2.24", "langgraph-checkpoint-sqlite==3.1.2"),
    "similarity": ("gptcache==0.1.44", "wordllama==0.4.0.post1", "scikit-learn==1.9.1"),
}
"""Peer → what is installed for it."""


def python_of(peer: str) -> Path:
    """The interpreter of a peer's environment, made if it is not there."""
    folder = PLACE / f"venv-{peer}"
    python = folder / "bin" / "python"
    ready = folder / ".ready"
    if not ready.exists() or ready.read_text() != "\n".join(PEERS[peer]):
        print(f"installing {peer} (once) ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        install = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", *PEERS[peer]]
        subprocess.run(install, check=True)
        ready.write_text("\n".join(PEERS[peer]))
    return python


def run_peer(peer: str, script: str, *arguments: str) -> dict[str, Any]:
    """The JSON object that a peer's script prints as its last line."""
    path = Path(__file__).with_name(script)
    command = [str(python_of(peer)), "-I", str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{peer} failed:\n{done.stdout}{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found
