// Law: what was recorded is text. It becomes text nodes and attribute values of our own names, never markup: there is no
// innerHTML here, no link, no eval, and the page's policy would not let them do anything.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = data.words;
  const EMPTY = { request: "", outcome: "", cause: "", succeeded: false, source: "", latency_us: 0, tokens: 0, plan: "",
    recorded_plan: "", recorded_outcome: "", diverged: "", answer: "", steps: [], labels: {} };
  data.rows = data.rows.map((row) => ({ ...EMPTY, ...row })); // what is as usual does not travel
  const SVG = "http://www.w3.org/2000/svg";
  const PAGE = 100;
  const root = document.documentElement;
  const at = (id) => document.getElementById(id);

  function el(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    made.append(...children.filter((one) => one !== null && one !== undefined));
    return made;
  }
  function svg(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }
  function said(text) { return el("bdi", {}, text); }
  function time(us) {
    if (us < 1000) return `${us} µs`;
    if (us < 1e6) return `${(us / 1e3).toPrecision(3)} ms`;
    return `${(us / 1e6).toPrecision(3)} s`;
  }
  function outcome(row) {
    const tone = row.succeeded ? "good" : row.outcome === "partial" || row.outcome === "" ? "half" : "bad";
    const name = row.outcome || words.open;
    return el("span", { class: `mark ${tone}` }, `${row.succeeded ? "✓" : "✗"} ${name}`);
  }

  // --- light and dark ---------------------------------------------------------------------------------------------
  const THEMES = ["auto", "light", "dark"];
  let theme = "auto";
  try { theme = localStorage.getItem("metnos-theme") || "auto"; } catch { /* a page from a file may have no storage */ }
  function dress() {
    if (!THEMES.includes(theme)) theme = "auto";
    if (theme === "auto") root.removeAttribute("data-theme"); else root.setAttribute("data-theme", theme);
    at("theme").textContent = words[`theme_${theme}`];
  }
  at("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try { localStorage.setItem("metnos-theme", theme); } catch { /* as above */ }
    dress();
  });
  dress();

  // --- the list ---------------------------------------------------------------------------------------------------
  const list = at("list").tBodies[0];
  const ORDERS = {
    given: null,
    latency: (a, b) => b.latency_us - a.latency_us,
    tokens: (a, b) => b.tokens - a.tokens,
    request: (a, b) => a.request.localeCompare(b.request),
  };
  for (const name of Object.keys(ORDERS)) at("order").append(el("option", { value: name }, words[`order_${name}`]));
  for (const name of [...new Set(data.rows.map((row) => row.outcome))].sort())
    at("outcome").append(el("option", { value: name || "-" }, name || words.open));
  if (data.rows.some((row) => row.diverged)) at("outcome").append(el("option", { value: "!" }, words.diverged));
  const text = data.rows.map((row) =>
    [row.turn, row.request, row.outcome, row.cause, row.source, row.diverged,
      ...row.steps.map((step) => step[1]), ...Object.entries(row.labels).map(([name, value]) => `${name}=${value}`)]
      .join(" ").toLowerCase());
  let found = [];
  let many = PAGE;

  function choose() {
    const wanted = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const kind = at("outcome").value;
    found = data.rows.map((_, number) => number).filter((number) => {
      const row = data.rows[number];
      if (kind === "!" ? !row.diverged : kind && (row.outcome || "-") !== kind) return false;
      return wanted.every((word) => text[number].includes(word));
    });
    const order = ORDERS[at("order").value];
    if (order) found.sort((a, b) => order(data.rows[a], data.rows[b]));
    many = PAGE;
    fill();
  }
  function fill() {
    list.replaceChildren(...found.slice(0, many).map(line));
    at("more").hidden = found.length <= many;
    at("shown").textContent = words.shown.replace("{shown}", Math.min(many, found.length)).replace("{found}", found.length);
  }
  function line(number) {
    const row = data.rows[number];
    const open = el("button", { type: "button", class: "link" }, said(row.request || row.turn));
    open.addEventListener("click", () => show(number));
    return el("tr", {},
      el("th", { scope: "row" }, open, row.diverged ? el("div", { class: "soft" }, said(row.diverged)) : null),
      el("td", {}, outcome(row), row.cause ? el("div", { class: "soft" }, said(row.cause)) : null),
      el("td", { class: "wide-only" }, row.source),
      el("td", { class: "n wide-only" }, time(row.latency_us)),
      el("td", { class: "n wide-only" }, String(row.tokens)));
  }
  at("filter").addEventListener("input", choose);
  at("outcome").addEventListener("change", choose);
  at("order").addEventListener("change", choose);
  at("more").addEventListener("click", () => {
    const first = many;
    many += PAGE;
    fill();
    list.rows[first]?.querySelector("button")?.focus();
  });

  // --- one turn ---------------------------------------------------------------------------------------------------
  const dialog = at("turn");
  at("close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => { history.replaceState(null, "", location.pathname + location.search); });

  function show(number) {
    const row = data.rows[number];
    at("turn-title").replaceChildren(said(row.request || row.turn));
    const facts = [[words.turn, row.turn], [words.outcome, row.outcome || words.open], [words.cause, row.cause],
      [words.was, row.recorded_outcome], [words.differs, row.diverged], [words.source, row.source],
      [words.latency, row.latency_us ? time(row.latency_us) : ""], [words.tokens, row.tokens ? String(row.tokens) : ""],
      [words.labels, Object.entries(row.labels).map(([name, value]) => `${name}=${value}`).join("  ")]];
    const body = dialog.querySelector(".body");
    body.replaceChildren(el("dl", {}, ...facts.filter(([, held]) => held)
      .flatMap(([name, held]) => [el("dt", {}, name), el("dd", {}, said(held))])));
    if (row.answer) body.append(el("h3", {}, words.answer), el("pre", {}, row.answer));
    const plan = data.plans[row.plan], then = data.plans[row.recorded_plan];
    if (plan && then) body.append(el("h3", {}, words.diff), diff(data.diffs[`${row.recorded_plan} ${row.plan}`] || [], then, plan));
    if (plan) body.append(el("h3", {}, then ? words.plan_now : words.plan), drawn(plan));
    if (then) body.append(el("h3", {}, words.plan_then), drawn(then));
    if (row.steps.length) body.append(el("h3", {}, words.steps), steps(row.steps));
    dialog.showModal();
    dialog.scrollTop = 0;
    history.replaceState(null, "", `#turn=${encodeURIComponent(row.turn)}`);
  }
  function drawn(plan) {
    const lines = el("pre", {}, plan.lines.join("\n"));
    return el("div", { class: "plan" }, plan.nodes.length ? graph(plan) : null, lines);
  }
  function steps(rows) {
    const head = [words.step, words.tool, words.state, words.latency, words.why];
    return el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...rows.map(([step, tool, took = 0, state = "done", why = ""]) => el("tr", {},
        el("th", { scope: "row" }, step), el("td", {}, said(tool)), el("td", {}, state),
        el("td", {}, took ? time(took) : ""), el("td", {}, said(why)))))));
  }
  function diff(parts, then, now) {
    const line = (kind, mark, name, told) => {
      const made = el("span", { class: kind }, mark + told);
      if (name) made.setAttribute("aria-label", `${name}: ${told}`);
      return made;
    };
    return el("pre", { class: "diff" }, ...parts.flatMap(([tag, first, last, start, end]) => tag === "="
      ? now.lines.slice(start, end).map((told) => line("", "  ", "", told))
      : [...then.lines.slice(first, last).map((told) => line("minus", "− ", words.only_then, told)),
        ...now.lines.slice(start, end).map((told) => line("plus", "+ ", words.only_now, told))]));
  }

  // Steps stand in a column; what one takes from another is an arc beside them, the further the longer.
  function graph(plan) {
    const WIDE = 240, HIGH = 34, GAP = 20, LANE = 16;
    const y = (place) => 8 + place * (HIGH + GAP);
    const spans = plan.edges.map(([from, to]) => Math.abs(to - from));
    const width = WIDE + 24 + LANE * Math.max(2, ...spans) + 130;
    const height = y(plan.nodes.length - 1) + HIGH + 8;
    const made = svg("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, width, height, role: "img" },
      svg("title", {}, words.graph.replace("{nodes}", plan.nodes.length).replace("{edges}", plan.edges.length)));
    const taken = new Map();
    for (const [from, to, kind, label] of plan.edges) {
      const away = LANE * (Math.abs(to - from) + 0.5);
      const start = y(from) + HIGH / 2 + 5, end = y(to) + HIGH / 2 - 5;
      const path = svg("path", { class: kind, d: `M ${WIDE + 8} ${start} C ${WIDE + 8 + away} ${start}, ${WIDE + 8 + away} ${end}, ${WIDE + 14} ${end}` });
      path.append(svg("title", {}, `${plan.nodes[from][0]} → ${plan.nodes[to][0]} ${label}`));
      made.append(path, svg("polygon", { points: `${WIDE + 8},${end} ${WIDE + 16},${end - 4} ${WIDE + 16},${end + 4}` }));
      const middle = Math.round((start + end) / 2 + 4), row = (taken.get(middle) || 0);
      taken.set(middle, row + 1);
      if (label) made.append(svg("text", { class: "small", x: WIDE + 14 + away * 0.75, y: middle + row * 12 }, cut(label, 26)));
    }
    plan.nodes.forEach(([label, effect], place) => {
      const acts = effect && effect !== "read";
      made.append(svg("rect", { class: acts ? "acts" : effect ? "" : "outer", x: 8, y: y(place), width: WIDE, height: HIGH, rx: 6 }));
      made.append(svg("text", { x: 18, y: y(place) + 21 }, cut(label, acts ? 22 : 32)));
      if (acts) made.append(svg("text", { class: "small", x: WIDE - 4, y: y(place) + 21, "text-anchor": "end" }, effect));
    });
    return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.plan_graph }, made);
  }
  function cut(label, most) { return label.length > most ? `${label.slice(0, most - 1)}…` : label; }

  choose();
  const number = data.rows.findIndex((row) => location.hash === `#turn=${encodeURIComponent(row.turn)}`);
  if (number >= 0) show(number);
})();
