"""Plans over the tools of an MCP server. Run: python tools_of_a_server.py (needs `pip install 'metnos[mcp]'`)"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from metnos import Engine
from metnos.foreign import import_mcp

SERVER = Path(__file__).with_name("notes_server.py")
READ_ALL: dict[str, Any] = {
    "steps": [
        {"tool": "notes.list_notes", "args": {}},
        {"tool": "notes.read_note", "for_each": "${step1.entries}", "args": {"name": "${item.name}"}},
        {"tool": "final_answer", "args": {"data": {"texts": "${step2.entries[*].text}"}}},
    ]
}
DELETE: dict[str, Any] = {
    "steps": [
        {"tool": "notes.delete_note", "args": {"name": "monday.txt"}},
        {"tool": "final_answer", "args": {"text": "${step1.text}"}},
    ]
}


def main() -> None:
    home = tempfile.mkdtemp()  # in earnest: METNOS_HOME
    command = [sys.executable, str(SERVER)]
    reads: Any = {"list_notes": "read", "read_note": "read"}

    # Once, by the operator: each tool is pinned; what nobody annotates may not run.
    import_mcp(home, "notes", command=command, effects=reads)
    with Engine.open(home, shipped=False, imports=True) as engine:
        result = engine.run_sync(plan=READ_ALL)
        print(result.outcome, result.data)
        print(engine.run_sync(plan=DELETE).outcome)
        print(engine.replay(result.turn).status)

    # Annotated as deleting, it asks; here the program itself says yes.
    import_mcp(
        home, "notes", command=command, effects={**reads, "delete_note": "delete"}, targets={"delete_note": ["name"]}
    )
    with Engine.open(home, shipped=False, imports=True) as engine:
        result = engine.run_sync(plan=DELETE, approve=lambda asked: asked.targets == ("monday.txt",))
        print(result.outcome, result.answer)


if __name__ == "__main__":
    main()
