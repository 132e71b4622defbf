"""The peer GPTCache, exact: the prompt itself is the key. Prints µs of a hit, median, as JSON.

Run in an environment of its own by `cache_speed.py`; it imports nothing of Metnos. It reads a JSON list of [request,
answer]; all are put, then the last `asked` of them are asked `rounds` times. What comes back is the text that was put:
nobody has signed it, and nobody checks it.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path


def main(source: str, asked: int, rounds: int) -> None:
    from gptcache import Cache
    from gptcache.adapter.api import get, put
    from gptcache.manager.factory import get_data_manager
    from gptcache.processor.pre import get_prompt

    rows = json.loads(Path(source).read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache()
        data = get_data_manager(data_path=str(Path(folder) / "map.txt"), max_size=10_000_000)
        cache.init(pre_embedding_func=get_prompt, data_manager=data)
        for request, answer in rows:
            put(request, answer, cache_obj=cache)
        times: list[float] = []
        for _ in range(rounds):
            for request, answer in rows[-asked:]:
                start = time.perf_counter()
                found = get(request, cache_obj=cache)
                times.append(time.perf_counter() - start)
                if found != answer:
                    raise SystemExit(f"GPTCache gave {found!r} for {request!r}")
    print(json.dumps({"gptcache_exact_p50": statistics.median(times) * 1e6}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
