"""A server that speaks MCP by hand, so that it can lie: `python raw_mcp.py FILE`, FILE holding tools and answers as JSON.

`{"tools": [...], "results": {name: result}, "rest": text}`; `rest` is written as it is instead of the answer of a tool
that has no result. A result `{"dies": TEXT, "after": FILE}` is none: a line goes into FILE, TEXT to stderr, and the
server ends. After a result with `becomes` the server has other tools, and says so.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

told = json.loads(Path(sys.argv[1]).read_text())


def answer(number: object, **more: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": number, **more}) + "\n")
    sys.stdout.flush()


def die(how: dict[str, Any]) -> None:
    if how.get("after"):
        with Path(how["after"]).open("a") as file:
            file.write("done\n")
    sys.stderr.write(how["dies"] + "\n")
    sys.stderr.flush()
    os._exit(3)


for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    if number is None:
        continue
    if method == "initialize":
        version = asked["params"]["protocolVersion"]
        info = {"name": "raw", "version": "1"}
        answer(number, result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        answer(number, result={"tools": told["tools"]})
    elif method == "tools/call" and asked["params"]["name"] in told.get("results", {}):
        result = told["results"][asked["params"]["name"]]
        if "dies" in result:
            die(result)
        if "becomes" in result:
            told["tools"] = result["becomes"]
            sys.stdout.write('{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}\n')
        answer(number, result={"content": result["content"]} if "becomes" in result else result)
    elif method == "tools/call":
        sys.stdout.write(told["rest"].replace("NUMBER", json.dumps(number)) + "\n")
        sys.stdout.flush()
    else:
        answer(number, error={"code": -32601, "message": "no such method"})
