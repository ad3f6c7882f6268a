"use strict";
// Makes flame graphs zoom by click and keyboard, and shows the numbers of each frame. Everything comes from the frames' positions.
{
  const ROW = 18, TEXT_MIN = 24, KEYS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Enter", " ", "Escape", "Home"]);
  const AREAS = { user: "user", network: "kernel network stack", locks: "locks", kernel: "rest of the kernel" };

  function start(figure) {
    const graph = figure.querySelector(".flame"), detail = figure.querySelector(".flame-detail");
    const reset = figure.querySelector("button"), search = figure.querySelector("input");
    const total = Number(graph.dataset.us), isDifferential = figure.classList.contains("differential");
    const frames = read(graph);
    const places = new Map(frames.map((frame) => [frame.node, frame]));
    let current = frames[0], zoomed = frames[0];

    function numbers(frame) {
      const { node, width } = frame;
      const parts = [`${(width * 100).toPrecision(3)}% of CPU time`, `${(width * total).toPrecision(3)} µs per request`];
      if (!isDifferential && AREAS[node.classList[0]] && frame.depth) parts.push(AREAS[node.classList[0]]);
      if (isDifferential && frame.depth) parts.push(node.dataset.change ? `change ${node.dataset.change} µs per request` : "no significant change");
      return `${frame.name}: ${parts.join(", ")}`;
    }

    function show(frame) {
      detail.textContent = numbers(frame);
    }

    function focus(frame, options) {
      current.node.tabIndex = -1;
      current = frame;
      frame.node.tabIndex = 0;
      frame.node.focus(options);
    }

    function zoom(target) {
      zoomed = target;
      for (const frame of frames) {
        const isInside = frame.x >= target.x - 1e-6 && frame.x + frame.width <= target.x + target.width + 1e-6 && frame.depth >= target.depth;
        const isAbove = frame.depth < target.depth && frame.x <= target.x + 1e-6 && frame.x + frame.width >= target.x + target.width - 1e-6;
        const [x, width] = isAbove ? [0, 1] : [(frame.x - target.x) / target.width, frame.width / target.width];
        frame.node.classList.toggle("outside", !isInside && !isAbove);
        frame.node.classList.toggle("above", isAbove);
        frame.node.setAttribute("x", `${x * 100}%`);
        frame.node.setAttribute("width", `${width * 100}%`);
        frame.shown = width;
      }
      reset.disabled = target === frames[0]; // hiding it would move the graph
      fit();
    }

    function fit() {
      const width = graph.getBoundingClientRect().width;
      for (const frame of frames) frame.node.classList.toggle("small", frame.shown * width < TEXT_MIN);
    }

    function neighbor(frame, step) {
      const row = frames.filter((one) => one.depth === frame.depth && !one.node.classList.contains("outside"));
      return row[row.indexOf(frame) + step];
    }

    function moved(frame, key) {
      if (key === "ArrowUp") return frame.parent;
      if (key === "ArrowDown") return frames.find((one) => one.parent === frame && !one.node.classList.contains("outside"));
      return key === "Home" ? frames[0] : neighbor(frame, key === "ArrowLeft" ? -1 : 1);
    }

    graph.setAttribute("role", "tree");
    frames.forEach((frame) => {
      frame.node.setAttribute("role", "treeitem");
      frame.node.setAttribute("aria-level", frame.depth + 1);
      frame.node.setAttribute("aria-label", numbers(frame));
      frame.node.tabIndex = frame === current ? 0 : -1;
    });
    const frameOf = (event) => places.get(event.target.closest(".flame > svg"));
    graph.addEventListener("click", (event) => {
      const frame = frameOf(event);
      if (frame) { focus(frame, { preventScroll: true }); zoom(frame); }
    });
    graph.addEventListener("mouseover", (event) => { if (frameOf(event)) show(frameOf(event)); });
    graph.addEventListener("mouseleave", () => show(current));
    graph.addEventListener("focusin", (event) => { if (frameOf(event)) show(frameOf(event)); });
    graph.addEventListener("keydown", (event) => {
      const frame = frameOf(event);
      if (!frame || !KEYS.has(event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      if (event.key === "Escape") zoom(frames[0]);
      else if (event.key === "Enter" || event.key === " ") zoom(frame);
      else { const next = moved(frame, event.key); if (next) focus(next); }
    });
    reset.addEventListener("click", () => { zoom(frames[0]); focus(frames[0], { preventScroll: true }); });
    search.addEventListener("input", () => {
      const words = search.value.trim().toLowerCase();
      const found = frames.filter((frame) => words && frame.name.toLowerCase().includes(words));
      frames.forEach((frame) => frame.node.classList.toggle("found", found.includes(frame)));
      // A function that calls itself counts once.
      const outer = found.filter((frame) => !ancestors(frame).some((one) => found.includes(one)));
      const share = outer.reduce((sum, frame) => sum + frame.width, 0);
      detail.textContent = words ? `${found.length} of ${frames.length} frames, ${(share * 100).toPrecision(3)}% of CPU time` : numbers(current);
    });
    new ResizeObserver(fit).observe(graph);
    figure.querySelector(".flame-tools").hidden = false;
    zoom(zoomed);
    show(current);
  }

  function ancestors(frame) {
    const found = [];
    for (let one = frame.parent; one; one = one.parent) found.push(one);
    return found;
  }

  function read(graph) {
    const callers = [];
    return [...graph.children].map((node) => {
      const depth = Number(node.getAttribute("y") || 0) / ROW;
      const frame = { node, depth, x: share(node, "x"), width: share(node, "width"), name: node.textContent, parent: callers[depth - 1] };
      callers[depth] = frame;
      return frame;
    });
  }

  function share(node, name) {
    return parseFloat(node.getAttribute(name) || 0) / 100;
  }

  document.querySelectorAll(".flame-graph").forEach(start);
}
