// Show the results as a matrix that readers sort and filter. The address keeps the state. All results come from the page's data; this
// script only arranges them, except for the score, whose weights readers choose.
"use strict";
{
  // Rows that fill a screen appear at once, and those up to ROWS_SHOWN right after them, so that sorting is fast.
  const [ROWS_AT_ONCE, ROWS_SHOWN, ROWS_MORE] = [16, 50, 200];
  const [PANELS_SHOWN, LINES_MAX] = [12, 60];
  const SVG = "http://www.w3.org/2000/svg";
  const NOT_PLANNED = "the run didn't plan this target under this load";

  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  data.loads.forEach((load) => {
    load.of = new Map(load.cells.map((cell) => [cell.target, cell]));
    load.scored = load.cells.some((cell) => cell.relative !== undefined);
  });
  data.targets.forEach((target, index) => Object.assign(target, { index, words: `${target.id} ${target.name}`.toLowerCase() }));

  // --- the state, which the address contains -------------------------------------------------------------------------------------

  // The run with the most results, and those of its cores that have the most results, are shown first.
  const count = (loads) => loads.reduce((sum, load) => sum + load.cells.length, 0);
  const most = (field, loads) => {
    const values = [...new Set(loads.map((load) => load[field]))];
    const sizes = values.map((value) => count(loads.filter((load) => load[field] === value)));
    return values[sizes.indexOf(Math.max(...sizes))];
  };
  const first = most("run", data.loads);
  const runName = (load) => data.runs[load.run].name;
  const unique = (values) => [...new Set(values)].filter(Boolean).sort();
  const ofLoads = (field) => unique(data.loads.map((load) => load[field]));
  const ofTargets = (field) => unique(data.targets.map((target) => target[field]));

  // Options of each list. Those with a default have "any" as another option.
  const CHOICES = {
    run: data.runs.map((run) => run.name), cores: ofLoads("cores"), workload: ofLoads("workload"), protocol: ofLoads("protocol"),
    kind: ofLoads("kind"), language: ofTargets("language"), category: ofTargets("category"), isolation: ofTargets("isolation"),
    verdict: [...unique(data.loads.flatMap((load) => load.cells.map((cell) => cell.verdict))), "missing"],
  };
  const FIGURES = { speed: { title: "Speed" }, ...data.figures };
  const DEFAULTS = {
    words: "", run: data.runs[first]?.name ?? "", cores: most("cores", data.loads.filter((load) => load.run === first)) ?? "",
    workload: "", protocol: "", kind: "", language: "", category: "", isolation: "", verdict: "",
    figure: "speed", beside: "cpu", sort: "", order: "", family: "", target: "", weights: "",
  };
  let state = {};
  let rowsShown = ROWS_SHOWN;
  let weights = new Map();

  const read = () => {
    const found = new URLSearchParams(location.hash.slice(1));
    state = { ...DEFAULTS };
    for (const name of Object.keys(DEFAULTS)) {
      const value = found.get(name);
      const known = CHOICES[name] ?? (["figure", "beside"].includes(name) ? Object.keys(FIGURES) : null);
      if (value !== null && (!known || value === "" || known.includes(value))) state[name] = value;
    }
    if (!state.figure) state.figure = DEFAULTS.figure;
    try {
      weights = new Map(JSON.parse(state.weights || "[]").filter(([, value]) => value >= 0));
    } catch {
      weights = new Map(); // the address was changed by hand
    }
  };
  const write = () => {
    state.weights = weights.size ? JSON.stringify([...weights]) : "";
    const changed = Object.keys(DEFAULTS).filter((name) => state[name] !== DEFAULTS[name]);
    history.replaceState(null, "", `#${new URLSearchParams(changed.map((name) => [name, state[name]]))}`);
  };
  const change = (changes) => {
    Object.assign(state, changes);
    rowsShown = ROWS_SHOWN;
    write();
    show();
  };

  // --- elements ------------------------------------------------------------------------------------------------------------------

  const make = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const draw = (name, attributes, text = "") => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  };

  // --- values --------------------------------------------------------------------------------------------------------------------

  const digits = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });
  const figureOf = (load, name) => (name === "speed" ? load.speed : data.figures[name]);
  const titleOf = (load, name) => {
    const figure = figureOf(load, name);
    return figure.unit ? `${figure.title} (${figure.unit})` : figure.title;
  };
  const bounds = (lower, higher) => (lower && higher ? "~" : lower ? "≤" : higher ? "≥" : "");
  const text = (cell, load, name) => {
    if (cell[name] === undefined) return "";
    if (name === "relative") return `${bounds(cell.lower, cell.higher)} ${digits.format(cell.relative)}`.trim();
    const bound = cell.bound ? figureOf(load, name).bound : "";
    const stalls = cell.stalls && (name === "p99" || name === "p99_9") ? data.marks.stalls : "";
    return `${bound} ${digits.format(cell[name])}${stalls}`.trim();
  };
  const verdict = (cell) =>
    make("span", { class: `verdict ${cell.verdict}` }, make("span", { "aria-hidden": "true" }, data.glyphs[cell.verdict]),
      ` ${cell.verdict}${cell.partly ? data.marks.partly : ""}`);
  const absent = (target, load) => data.texts[load.absent[target]] ?? NOT_PLANNED;
  const weight = (load) => weights.get(load.key) ?? 1;

  // The weighted geometric mean of relative speeds, and of the ends of their intervals. Without a result for every load, no score.
  const score = (target, scored) => {
    const logs = [0, 0, 0];
    let [total, missing, lower, higher, ranged] = [0, 0, false, false, true];
    for (const load of scored) {
      const cell = load.of.get(target.index);
      if (!cell || cell.relative === undefined) {
        missing += 1;
        continue;
      }
      const ends = cell.ends ?? [cell.relative, cell.relative];
      ranged &&= Boolean(cell.ends || cell.leads);
      [cell.relative, ...ends].forEach((value, index) => { logs[index] += weight(load) * Math.log(value); });
      total += weight(load);
      lower ||= Boolean(cell.lower);
      higher ||= Boolean(cell.higher);
    }
    const [value, low, high] = logs.map((sum) => Math.exp(sum / total));
    return missing || !total ? { missing, of: scored.length } : { value, low, high, lower, higher, ranged };
  };

  // --- the matrix ----------------------------------------------------------------------------------------------------------------

  const shownLoads = () =>
    data.loads.filter((load) =>
      (!state.run || runName(load) === state.run)
      && ["cores", "workload", "protocol", "kind"].every((name) => !state[name] || load[name] === state[name]));
  const shownTargets = (loads) => {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    return data.targets.filter((target) => {
      const cells = loads.map((load) => load.of.get(target.index));
      return (!words.length || words.some((word) => target.words.includes(word)))
        && ["language", "category", "isolation"].every((name) => !state[name] || target[name] === state[name])
        && loads.some((load, index) => cells[index] || load.absent[target.index] !== undefined)
        && (!state.verdict || cells.some((cell) => (cell ? cell.verdict : "missing") === state.verdict));
    });
  };
  const isBetterHigher = (load) => figureOf(load, state.figure).better > 0;

  // Keys by which rows are sorted. Smaller keys come first; rows without a value come last in both orders.
  const sorted = (targets, loads, scores, by) => {
    const load = loads.find((each) => each.key === by);
    const value = (target) => {
      if (by === "name") return null;
      if (by === "score") return scores.get(target).value;
      const cell = load?.of.get(target.index);
      return cell && !cell.invalid ? cell[state.figure] : undefined;
    };
    const reverse = state.order === "reverse" ? -1 : 1;
    const best = (by === "score" || (load && isBetterHigher(load)) ? -1 : 1) * reverse;
    const keys = new Map(targets.map((target) => [target, value(target)]));
    return [...targets].sort((one, other) => {
      if (by === "name") return reverse * (one.index - other.index);
      const [a, b] = [keys.get(one), keys.get(other)];
      if (a === undefined || b === undefined) {
        const less = by === "score" ? (scores.get(one).missing ?? 0) - (scores.get(other).missing ?? 0) : 0;
        return (a === undefined) - (b === undefined) || less || one.index - other.index;
      }
      return best * (a - b) || one.index - other.index;
    });
  };

  const scoreCell = (found) => {
    if (found.value === undefined) return make("td", { class: "missing" }, found.of ? `no result for ${found.missing} of ${found.of} loads` : "");
    const range = found.ranged && found.low !== found.high ? `${digits.format(+found.low.toPrecision(3))}–${digits.format(+found.high.toPrecision(3))}` : "";
    const value = `${bounds(found.lower, found.higher)} ${digits.format(+found.value.toPrecision(3))}`.trim();
    const cell = make("td", { class: "known" }, make("span", { class: "value" }, value), make("span", { class: "small" }, range));
    cell.style.setProperty("--share", `${Math.min(found.value, 100)}%`);
    return cell;
  };
  const matrixCell = (target, load) => {
    const cell = load.of.get(target.index);
    if (!cell) return make("td", { class: "missing", title: absent(target.index, load) }, "missing");
    const value = make("span", { class: "value" }, cell.invalid ? make("s", {}, text(cell, load, state.figure)) : text(cell, load, state.figure));
    const place = make("span", { class: "small" }, cell.rank ? `rank ${cell.rank} ` : "", verdict(cell));
    const found = make("td", cell.relative === undefined ? {} : { class: "known" }, value, place);
    const beside = state.beside && state.beside !== state.figure ? text(cell, load, state.beside) : "";
    if (beside) {
      const figure = figureOf(load, state.beside);
      found.append(make("span", { class: "small" }, `${beside} ${figure.unit || figure.title}${state.beside === "cpu" ? " CPU" : ""}`));
    }
    if (cell.relative !== undefined) found.style.setProperty("--share", `${Math.min(cell.relative, 100)}%`);
    return found;
  };
  const row = (target, loads, scored, scores) => {
    const button = make("button", { type: "button", class: "target-button", "data-target": target.id }, target.name);
    const cells = loads.map((load) => matrixCell(target, load));
    return make("tr", {}, make("th", { scope: "row" }, button), ...(scored.length > 1 ? [scoreCell(scores.get(target))] : []), ...cells);
  };

  let known = { signature: "", rows: new Map(), scores: new Map() };
  let later;
  const show = () => {
    const loads = shownLoads();
    const scored = loads.filter((load) => load.scored && weight(load) > 0);
    const targets = shownTargets(loads);
    const isScored = scored.length > 1;
    const order = [...(isScored ? ["score"] : []), ...loads.map((load) => load.key), "name"];
    const by = order.includes(state.sort) ? state.sort : order[0];
    const signature = JSON.stringify([loads.map((load) => load.key), state.figure, state.beside, state.weights]);
    if (signature !== known.signature) {
      known = { signature, rows: new Map(), scores: new Map() };
      showHead(loads, isScored);
      showWeights(loads.filter((load) => load.scored));
    }
    for (const target of targets) if (!known.scores.has(target)) known.scores.set(target, score(target, scored));
    const ordered = sorted(targets, loads, known.scores, by);
    const shown = ordered.slice(0, rowsShown);
    const rows = (some) => some.map((target) => {
      if (!known.rows.has(target)) known.rows.set(target, row(target, loads, scored, known.scores));
      return known.rows.get(target);
    });
    byId("body").replaceChildren(...rows(shown.slice(0, ROWS_AT_ONCE)));
    const rises = by === "name" || !(by === "score" || isBetterHigher(loads.find((load) => load.key === by)));
    for (const head of byId("head").children) {
      if (head.dataset.sort !== by) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", rises === (state.order !== "reverse") ? "ascending" : "descending");
    }
    byId("more").hidden = shown.length === ordered.length;
    byId("more").textContent = `Show ${Math.min(ordered.length - shown.length, ROWS_MORE)} more of ${ordered.length.toLocaleString("en-US")} targets`;
    byId("status").textContent = loads.length
      ? `${ordered.length.toLocaleString("en-US")} ${ordered.length === 1 ? "target" : "targets"}, ${loads.length} ${loads.length === 1 ? "load" : "loads"}`
      : "No load has all of these properties.";
    showChoices();
    clearTimeout(later);
    later = setTimeout(() => {
      byId("body").append(...rows(shown.slice(ROWS_AT_ONCE)));
      showScaling(ordered, loads);
    });
    showDetails();
  };

  // Parts of the titles that all columns share are in the caption.
  const showHead = (loads, isScored) => {
    const several = new Set(loads.map((load) => load.run)).size > 1;
    const parts = (load) => [...(several ? [runName(load)] : []), ...load.parts, titleOf(load, state.figure)];
    const common = loads.length > 1 ? parts(loads[0]).filter((part) => loads.every((load) => parts(load).includes(part))) : [];
    const head = (key, title) => make("th", { scope: "col", "data-sort": key }, make("button", { type: "button" }, title));
    byId("head").replaceChildren(
      head("name", "Target"), ...(isScored ? [head("score", "Score (%)")] : []),
      ...loads.map((load) => head(load.key, parts(load).filter((part) => !common.includes(part)).join(" · "))));
    byId("caption").textContent = [...(several ? [] : loads.slice(0, 1).map((load) => data.runs[load.run].heading)), ...common].join(" · ");
  };
  const showWeights = (loads) => {
    byId("weights").replaceChildren(...loads.map((load) => {
      const input = make("input", { type: "number", min: "0", step: "0.25", value: weight(load) });
      input.addEventListener("input", () => {
        const value = Math.max(Number(input.value) || 0, 0);
        if (value === 1) weights.delete(load.key); else weights.set(load.key, value);
        write();
        show();
      });
      return make("label", {}, make("span", {}, load.parts.join(" · ")), input);
    }));
    byId("weighting").hidden = loads.length < 2;
  };
  const showChoices = () => {
    for (const name of [...Object.keys(CHOICES), "figure", "beside"]) byId(name).value = state[name];
    if (byId("words").value !== state.words) byId("words").value = state.words;
  };

  // --- curves --------------------------------------------------------------------------------------------------------------------

  const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [260, 110, 52, 14, 16];
  const curve = (loads, targets, own, name) => {
    const points = (target) =>
      loads.map((load, index) => [index, load.of.get(target.index), load]).filter(([, cell]) => cell && !cell.invalid && cell[name] !== undefined);
    const others = targets.filter((target) => target !== own).slice(0, LINES_MAX);
    const top = Math.max(...others.concat(own).flatMap((target) => points(target).map(([, cell]) => cell[name])), 0) || 1;
    const x = (index) => LEFT + 8 + (index * (WIDTH - LEFT - 24)) / Math.max(loads.length - 1, 1);
    const y = (value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP);
    const line = (target) => points(target).map(([index, cell], nth) => `${nth ? "L" : "M"}${x(index).toFixed(1)},${y(cell[name]).toFixed(1)}`).join("");
    const title = titleOf(loads[0], name);
    const spoken = points(own).map(([, cell, load]) => `${load.connections}: ${text(cell, load, name)}`).join("; ");
    const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${own.name}, ${title} by connections: ${spoken}` });
    picture.append(
      draw("path", { class: "axis", d: `M${LEFT},${TOP}V${HEIGHT - BOTTOM}H${WIDTH}` }), draw("text", { x: LEFT, y: 10 }, title),
      draw("text", { x: LEFT - 4, y: TOP + 8, "text-anchor": "end" }, digits.format(+top.toPrecision(3))),
      draw("text", { x: LEFT - 4, y: HEIGHT - BOTTOM, "text-anchor": "end" }, "0"),
      ...loads.map((load, index) => draw("text", { x: x(index), y: HEIGHT - 3, "text-anchor": "middle" }, load.connections.toLocaleString("en-US"))),
      draw("path", { class: "other", d: others.map(line).join("") }), draw("path", { class: "own", d: line(own) }),
      ...points(own).map(([index, cell]) => draw("circle", { class: cell.bound ? "bound" : "dot", cx: x(index), cy: y(cell[name]), r: 3.5 })));
    return picture;
  };
  const panel = (loads, targets, own, caption) =>
    make("figure", {}, make("figcaption", {}, caption), curve(loads, targets, own, "speed"), curve(loads, targets, own, "p99"));
  const families = (loads) => {
    const found = new Map();
    for (const load of loads) if (load.family !== null) found.set(load.family, [...(found.get(load.family) ?? []), load]);
    return [...found.values()].filter((family) => family.length > 1).map((family) => family.sort((a, b) => a.connections - b.connections));
  };
  const familyName = (family) =>
    [runName(family[0]), ...family[0].parts.filter((part) => family.every((load) => load.parts.includes(part)))].join(" · ");
  const showScaling = (targets, loads) => {
    const found = families(loads);
    byId("scaling").hidden = !found.length;
    if (!found.length) return;
    byId("family").replaceChildren(...found.map((family) => make("option", {}, familyName(family))));
    const chosen = found.find((family) => familyName(family) === state.family) ?? found[0];
    byId("family").value = familyName(chosen);
    const measured = targets.filter((target) => chosen.some((load) => load.of.has(target.index) && !load.of.get(target.index).invalid));
    const shown = measured.slice(0, PANELS_SHOWN);
    byId("scaling-note").textContent = "Blue: the target. Gray: other targets of the matrix. Hollow dots: bounds. Axes start at zero."
      + (shown.length < measured.length ? ` The first ${shown.length} of ${measured.length} targets; sort or filter to see others.` : "");
    byId("panels").replaceChildren(...shown.map((target) => panel(chosen, measured, target, target.name)));
  };

  // --- the details of one target --------------------------------------------------------------------------------------------------

  const COLUMNS = ["speed", "relative", "p50", "p99", "p99_9", "cpu", "memory"];
  const showDetails = () => {
    const [dialog, target] = [byId("details"), data.targets.find((each) => each.id === state.target)];
    if (!target) {
      dialog.close();
      return;
    }
    byId("details-title").textContent = target.name;
    const measured = data.loads.filter((load) => load.of.has(target.index));
    const facts = [target.language, target.category, target.isolation && target.isolation !== "process" ? `in ${target.isolation}` : ""];
    const links = unique(measured.map((load) => load.run + 1)).map((number) => data.runs[number - 1]).filter((run) => run.report)
      .flatMap((run) => [make("a", { href: `${run.report}#${target.link}` }, `Report of ${run.name}`), " "]);
    const head = ["Load", "Speed", "±", "Rank", "Verdict", ...COLUMNS.slice(1).map((name) => `${data.figures[name].title} (${data.figures[name].unit})`)];
    const lines = measured.map((load) => {
      const cell = load.of.get(target.index);
      const value = (name) => (cell.invalid ? make("s", {}, text(cell, load, name)) : text(cell, load, name));
      const speed = make("td", {}, value("speed"), ` ${load.speed.unit || load.speed.title.toLowerCase()}`);
      return make("tr", {}, make("th", { scope: "row" }, `${runName(load)}: ${load.parts.join(" · ")}`), speed,
        make("td", {}, cell.margin ? `${cell.margin}%` : ""), make("td", {}, cell.rank ?? ""), make("td", {}, verdict(cell)),
        ...COLUMNS.slice(1).map((name) => make("td", {}, value(name))));
    });
    const why = measured.filter((load) => load.of.get(target.index).why).map((load) =>
      make("li", {}, make("strong", {}, `${load.parts.join(" · ")}: `), load.of.get(target.index).why.map((number) => data.texts[number]).join("; ")));
    const lacking = shownLoads().filter((load) => !load.of.has(target.index));
    const explained = lacking.filter((load) => load.absent[target.index] !== undefined);
    const missing = explained.map((load) => make("li", {}, make("strong", {}, `${runName(load)}: ${load.parts.join(" · ")}: `), absent(target.index, load)));
    const unplanned = lacking.length - explained.length;
    if (unplanned) missing.push(make("li", {}, `${unplanned} of the loads shown: ${NOT_PLANNED}`));
    const table = make("table", {}, make("caption", {}, "Results"), make("thead", {}, make("tr", {}, ...head.map((title) => make("th", { scope: "col" }, title)))),
      make("tbody", {}, ...lines));
    const list = (title, items) => (items.length ? [make("h3", {}, title), make("ul", {}, ...items)] : []);
    const curves = families(measured.filter((load) => !load.of.get(target.index).invalid))
      .map((family) => panel(family, data.targets, target, familyName(family)));
    byId("details-body").replaceChildren(
      make("p", { class: "method" }, facts.filter(Boolean).join(" · ")), ...(links.length ? [make("p", {}, ...links)] : []),
      ...(lines.length ? [make("div", { class: "scroll", role: "group", "aria-label": "Results", tabindex: "0" }, table)] : []),
      ...list("Why a load is missing", missing), ...list("Reasons for the verdicts", why),
      ...(curves.length ? [make("h3", {}, "By connections"), make("div", { class: "panels" }, ...curves)] : []));
    if (!dialog.open) dialog.showModal();
  };

  // --- events --------------------------------------------------------------------------------------------------------------------

  for (const [name, options] of Object.entries(CHOICES)) {
    byId(name).append(make("option", { value: "" }, "any"), ...options.map((option) => make("option", { value: option }, option)));
    byId(name).parentElement.hidden = options.length < 2;
  }
  const figures = Object.entries(FIGURES).map(([name, figure]) => [name, figure.title]);
  byId("figure").append(...figures.map(([value, title]) => make("option", { value }, title)));
  byId("beside").append(make("option", { value: "" }, "nothing"), ...figures.map(([value, title]) => make("option", { value }, title)));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("reset", (event) => {
    event.preventDefault();
    weights = new Map();
    change({ ...DEFAULTS });
  });
  byId("filters").addEventListener("input", ({ target }) => {
    change({ [target.id]: target.value });
    // Another run has other loads, so the filters of loads no longer fit.
    if (target.id === "run" && !shownLoads().length) change({ cores: "", workload: "", protocol: "", kind: "" });
  });
  byId("family").addEventListener("input", ({ target }) => change({ family: target.value }));
  byId("more").addEventListener("click", () => {
    rowsShown += ROWS_MORE;
    show();
  });
  byId("head").addEventListener("click", ({ target }) => {
    const head = target.closest("th[data-sort]");
    if (head) change({ sort: head.dataset.sort, order: head.hasAttribute("aria-sort") && state.order !== "reverse" ? "reverse" : "" });
  });
  byId("body").addEventListener("click", ({ target }) => {
    const button = target.closest("[data-target]");
    if (!button) return;
    state.target = button.dataset.target; // without rendering the rows again, so that closing the dialog returns the focus
    write();
    showDetails();
  });
  byId("details").addEventListener("close", () => {
    state.target = "";
    write();
  });
  addEventListener("hashchange", () => {
    read();
    show();
  });
  read();
  show();
}
