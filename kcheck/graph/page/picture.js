// Nodes and edges as SVG. Text from the input is only ever set with textContent, never as markup.

function element(parent, name, attributes = {}, text = null) {
  const made = parent.namespaceURI.endsWith("svg") ? document.createElementNS(parent.namespaceURI, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  parent.append(made);
  return made;
}

const wide = (char) => (char.codePointAt(0) >= 0x1100 ? 2 : 1);

// Truncates in the middle: names of one application often have a common prefix and differ at the end.
function cut(text, most) {
  const chars = [...text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u00b7")];
  const cells = chars.reduce((sum, char) => sum + wide(char), 0);
  if (cells <= most) return chars.join("");
  const half = Math.max(1, Math.floor(((most - 1) * chars.length) / cells / 2));
  return `${chars.slice(0, half).join("")}\u2026${chars.slice(-half).join("")}`;
}

const place = (at) => (at.file ? `${at.file}:${at.line}` : "");
const title = (node) => `${node.kind}/${node.name || "?"}`;
const worst = (node) => SEVERITIES.find((s) => node.findings.some((f) => f.severity === s));
const counted = (n, word) => `${n} ${word}${n === 1 || word === "info" ? "" : "s"}`;

function drawNode(node) {
  const { x, y } = node.at;
  const outside = node.words && node.state !== "patch" ? " outside" : "";
  const label = [title(node), node.namespace && `in ${node.namespace}`, place(node) || node.words, ...node.findings.map((f) => f.message)];
  const g = element($("nodes"), "g", {
    class: `node ${node.category} ${node.state}${outside}`, transform: `translate(${x} ${y})`, tabindex: "0", role: "button",
    "data-id": node.id, "aria-label": label.filter(Boolean).join(", "),
  });
  node.drawn = g;
  element(g, "title", {}, label.filter(Boolean).join("\n"));
  element(g, "rect", { class: "card", width: NODE.width, height: NODE.height, rx: 8 });
  element(g, "path", { class: "bar", d: `M8 0H5A5 5 0 0 0 0 5V${NODE.height - 5}A5 5 0 0 0 5 ${NODE.height}H8Z` });
  const where = several && node.namespace ? `${node.kind} \u00b7 ${node.namespace}` : node.kind;
  element(g, "text", { class: "kind", x: 18, y: 18 }, cut(where, 32));
  element(g, "text", { class: "name", x: 18, y: 35 }, cut(node.name || "?", 24));
  if (node.findings.length) {
    const count = String(node.findings.length);
    const room = 10 + 7 * count.length;
    const badge = element(g, "g", { class: `badge ${worst(node)}`, transform: `translate(${NODE.width - room - 8} -8)` });
    element(badge, "rect", { width: room + 4, height: 18, rx: 9 });
    element(badge, "text", { x: (room + 4) / 2, y: 13 }, count);
  }
}

function drawEdge(line, counts, way) {
  const points = way ?? between(nodes[line.source], nodes[line.target]);
  const relation = [...new Set(line.edges.map((e) => e.relation))].join(" ");
  const outside = [line.source, line.target].some((i) => nodes[i].words && !["patch", "made"].includes(nodes[i].state)) ? " outside" : "";
  const words = [...new Set(line.edges.map((e) => e.label))].join(", ");
  const ends = { "data-source": nodes[line.source].id, "data-target": nodes[line.target].id };
  const across = way || line.source === line.target ? "" : " across";
  const path = element($("edges"), "path", { class: `edge ${relation}${outside}${across}`, d: curve(points), "marker-end": "url(#tip)", ...ends });
  element(path, "title", {}, `${title(nodes[line.source])} ${words} ${title(nodes[line.target])}`);
  const label = element($("labels"), "text", { class: "label", ...spot(line, counts, points), ...ends }, cut(words, 15));
  line.drawn = [path, label];
  for (const end of line.drawn) Object.assign(end, { ends: [line.source, line.target] });
  return label;
}

// Hides labels that overlap earlier ones. They are shown when their line is highlighted.
function thin(labels) {
  const taken = [];
  for (const label of labels) {
    const box = label.getBBox();
    const meets = (b) => box.x < b.x + b.width && b.x < box.x + box.width && box.y + 2 < b.y + b.height && b.y + 2 < box.y + box.height;
    if (taken.some(meets)) label.classList.add("crowded");
    else taken.push(box);
  }
}

// The path of a line without a route in the layout: from a node to itself, or to another connected part.
function between(source, target) {
  const [a, b] = [source.at, target.at];
  if (source === target) return [{ x: a.x + NODE.width, y: a.y + 10 }, { x: a.x + NODE.width, y: a.y + NODE.height - 10 }];
  const [from, to] = [a.y + NODE.height / 2, b.y + NODE.height / 2];
  return a.x + NODE.width < b.x
    ? [{ x: a.x + NODE.width, y: from }, { x: b.x, y: to }]
    : [{ x: a.x, y: from }, { x: b.x + NODE.width, y: to }];
}

// Position of the label of a line: at an end that has no other line, otherwise in the middle.
function spot(line, counts, points) {
  const [a, b, y, z] = [points[0], points[1], points.at(-2), points.at(-1)];
  if (counts.get(line.source) === 1) return beside(a, b);
  if (counts.get(line.target) === 1) return beside(z, y);
  return { x: (y.x + z.x) / 2, y: (y.y + z.y) / 2 - 3, "text-anchor": "middle" };
}

function beside(end, other) {
  const left = other.x < end.x;
  return { x: end.x + (left ? -12 : 8), y: end.y - 4, "text-anchor": left ? "end" : "start" };
}

function curve(points) {
  const steps = points.map((p, i) => {
    if (!i) return `M${p.x} ${p.y}`;
    const q = points[i - 1];
    if (p.y === q.y) return `L${p.x} ${p.y}`;
    if (p.x === q.x) return `C${q.x + 40} ${q.y} ${p.x + 40} ${p.y} ${p.x} ${p.y}`;
    const middle = (p.x + q.x) / 2;
    return `C${middle} ${q.y} ${middle} ${p.y} ${p.x} ${p.y}`;
  });
  return steps.join("");
}
