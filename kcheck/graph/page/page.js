// State of the page (visible, selected and matching nodes), mouse, keyboard, search and URL fragment.

const GRAPH = JSON.parse(document.getElementById("graph").textContent);
const RANKS = Object.keys(GRAPH.categories);
const nodes = GRAPH.nodes.map((node, index) => ({
  ...node, index, rank: RANKS.indexOf(node.category), stage: GRAPH.stages[node.category], edges: [], near: new Set(),
}));
const byId = new Map(nodes.map((node) => [node.id, node]));
const $ = (id) => document.getElementById(id);
const [svg, world, search, details] = [$("canvas"), $("world"), $("search"), $("details")];
const MIN_ZOOM = 0.04, MAX_ZOOM = 4, MARGIN = 32, READABLE_ZOOM = 0.55, MAX_LABELED_LINES = 80;
const SEVERITIES = ["error", "warning", "info"];
const view = { x: 0, y: 0, zoom: 1 };
const hidden = { kind: new Set(), namespace: new Set(), show: new Set(), relation: new Set() };
let selected = null, matches = [], bounds = { width: 1, height: 1 }, shown = new Set(), held = false, touched = false;

// Several edges between the same two nodes are drawn as one line with all labels.
const lines = new Map();
for (const edge of GRAPH.edges) {
  const [source, target] = [byId.get(edge.source), byId.get(edge.target)];
  source.edges.push({ ...edge, other: target, away: true });
  if (target !== source) target.edges.push({ ...edge, other: source, away: false });
  source.near.add(target);
  target.near.add(source);
  const key = `${source.index} ${target.index}`;
  if (!lines.has(key)) lines.set(key, { source: source.index, target: target.index, edges: [] });
  lines.get(key).edges.push(edge);
}
// Nodes that are not in the input are placed in the folder of the first node connected to them.
for (const node of nodes) node.folder = (node.file || node.edges[0]?.other.file || "").replace(/[^/]*$/, "");
const spaces = new Set(nodes.map((node) => node.namespace));
const several = spaces.size - spaces.has("") > 1;

function isShown(node) {
  if (hidden.kind.has(node.kind) || hidden.namespace.has(node.namespace)) return false;
  if (hidden.show.has("outside") && node.words && node.state !== "patch") return false;
  if (hidden.show.has("clean") && !node.findings.length) return false;
  return !(hidden.show.has("alone") && !node.near.size);
}

function draw() {
  const visible = nodes.filter(isShown);
  shown = new Set(visible.map((node) => node.index));
  const drawn = [...lines.values()].filter((line) => shown.has(line.source) && shown.has(line.target))
    .map((line) => ({ ...line, edges: line.edges.filter((e) => !hidden.relation.has(e.relation)) })).filter((line) => line.edges.length);
  const { places, ways } = layout(visible, drawn, Math.max(0.6, svg.clientWidth / Math.max(1, svg.clientHeight)));
  for (const id of ["edges", "labels", "nodes"]) $(id).replaceChildren();
  bounds = { width: 1, height: 1 };
  for (const node of visible) {
    node.at = places.get(node.index);
    bounds.width = Math.max(bounds.width, node.at.x + NODE.width);
    bounds.height = Math.max(bounds.height, node.at.y + NODE.height);
    drawNode(node);
  }
  const counts = new Map();
  for (const line of drawn) for (const end of [line.source, line.target]) counts.set(end, (counts.get(end) ?? 0) + 1);
  const labels = drawn.map((line) => drawEdge(line, counts, ways.get(line)));
  document.body.classList.toggle("few", drawn.length <= MAX_LABELED_LINES);
  if (drawn.length <= MAX_LABELED_LINES) thin(labels);
  mark();
}

// Highlights selected and matching nodes and dims the rest.
function mark() {
  const words = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const text = (node) => [title(node), node.namespace, node.file, ...Object.entries(node.labels).map((l) => l.join("="))].join(" ").toLowerCase();
  matches = words.length ? nodes.filter((node) => shown.has(node.index) && words.every((word) => text(node).includes(word))) : [];
  const found = new Set(matches);
  const near = selected && shown.has(selected.index) ? new Set([selected, ...selected.near]) : null;
  const bright = words.length ? found : near;
  for (const node of nodes) {
    if (!shown.has(node.index)) continue;
    node.drawn.classList.toggle("match", found.has(node));
    node.drawn.classList.toggle("selected", node === selected);
    node.drawn.classList.toggle("dim", Boolean(bright) && !bright.has(node) && !(near && near.has(node)));
  }
  for (const id of ["edges", "labels"]) for (const drawn of $(id).children) {
    const ends = drawn.ends.map((i) => nodes[i]);
    const touched = near && ends.includes(selected);
    drawn.classList.toggle("bright", Boolean(touched));
    drawn.classList.toggle("dim", bright ? !touched && !ends.every((n) => bright.has(n)) : false);
  }
  $("found").textContent = words.length ? `${matches.length} of ${shown.size}` : "";
  document.documentElement.dataset.matches = String(matches.length);
}

function look() {
  world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.zoom})`);
  svg.classList.toggle("far", view.zoom < READABLE_ZOOM);
  svg.classList.toggle("farther", view.zoom < READABLE_ZOOM / 2.4);
  document.documentElement.dataset.zoom = view.zoom.toFixed(3);
}

// After the user has zoomed or moved the view, resizing the window no longer changes it.
function zoomTo(zoom, x = svg.clientWidth / 2, y = svg.clientHeight / 2) {
  const to = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom));
  touched = true;
  view.x = x - ((x - view.x) * to) / view.zoom;
  view.y = y - ((y - view.y) * to) / view.zoom;
  view.zoom = to;
  look();
}

function fit() {
  const zoom = Math.min((svg.clientWidth - 2 * MARGIN) / bounds.width, (svg.clientHeight - 2 * MARGIN) / bounds.height, 1.15);
  view.zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom));
  view.x = (svg.clientWidth - bounds.width * view.zoom) / 2;
  view.y = Math.max(MARGIN, (svg.clientHeight - bounds.height * view.zoom) / 2);
  touched = false;
  look();
}

function bring(node) {
  touched = true;
  view.zoom = Math.max(view.zoom, 0.9);
  view.x = svg.clientWidth / 2 - (node.at.x + NODE.width / 2) * view.zoom;
  view.y = svg.clientHeight / 2 - (node.at.y + NODE.height / 2) * view.zoom;
  look();
}

function select(node, come = false) {
  selected = node;
  touched = true;
  describe(node);
  mark();
  if (node && come && shown.has(node.index)) bring(node);
  remember();
}

// The URL fragment stores the view: #q=SEARCH&focus=ID&zoom=NUMBER.
function remember() {
  const kept = new URLSearchParams();
  if (search.value) kept.set("q", search.value);
  if (selected) kept.set("focus", selected.id);
  history.replaceState(null, "", kept.size ? `#${kept}` : location.pathname + location.search);
}

function recall() {
  const kept = new URLSearchParams(location.hash.slice(1));
  search.value = kept.get("q") ?? "";
  selected = byId.get(kept.get("focus")) ?? null;
  describe(selected);
  mark();
  if (selected && shown.has(selected.index)) bring(selected);
  else if (matches.length) bring(matches[0]);
  const zoom = Number(kept.get("zoom"));
  if (zoom > 0) zoomTo(zoom);
}

function listen() {
  const nodeOf = (event) => byId.get(event.target.closest?.(".node")?.dataset.id) ?? null;
  let from = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    from = { x: event.clientX - view.x, y: event.clientY - view.y, startX: event.clientX, startY: event.clientY, node: nodeOf(event) };
    held = false;
  });
  addEventListener("pointermove", (event) => {
    if (!from) return;
    held ||= Math.hypot(event.clientX - from.startX, event.clientY - from.startY) > 4;
    if (!held) return;
    touched = true;
    svg.classList.add("held");
    view.x = event.clientX - from.x;
    view.y = event.clientY - from.y;
    look();
  });
  addEventListener("pointerup", () => {
    if (from && !held) select(from.node);
    from = null;
    svg.classList.remove("held");
  });
  addEventListener("pointercancel", () => (from = null));
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    const step = event.deltaMode ? event.deltaY * 30 : event.deltaY;
    zoomTo(view.zoom * Math.exp(-Math.max(-240, Math.min(240, step)) / 400), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  let turn = -1;
  search.addEventListener("input", () => {
    turn = -1;
    mark();
    remember();
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !matches.length) return;
    turn = (turn + (event.shiftKey ? matches.length - 1 : 1)) % matches.length;
    select(matches[turn], true);
  });
  $("in").onclick = () => zoomTo(view.zoom * 1.3);
  $("out").onclick = () => zoomTo(view.zoom / 1.3);
  $("fit").onclick = fit;
  addEventListener("keydown", (event) => {
    const typing = document.activeElement === search;
    if (event.key === "Escape") {
      search.value = "";
      search.blur();
      select(null);
    } else if (!typing && event.key === "Enter" && nodeOf(event)) select(nodeOf(event));
    else if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key === "/") {
      event.preventDefault();
      search.focus();
    } else if (event.key === "+" || event.key === "=") zoomTo(view.zoom * 1.3);
    else if (event.key === "-") zoomTo(view.zoom / 1.3);
    else if (event.key === "0") fit();
  });
  addEventListener("hashchange", recall);
  new ResizeObserver(() => touched || fit()).observe(svg);
}

function start() {
  summary();
  filters();
  draw();
  fit();
  recall();
  listen();
  document.documentElement.dataset.ready = "yes";
}
