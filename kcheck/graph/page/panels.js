// Filters on the left, details on the right, the summary on top.

function describe(node) {
  details.hidden = !node;
  details.replaceChildren();
  if (!node) return;
  element(details, "button", { type: "button", class: "close", title: "Close (Esc)" }, "\u00d7").onclick = () => select(null);
  element(details, "p", { class: `kind ${node.category}` }, node.apiVersion ? `${node.kind} (${node.apiVersion})` : node.kind);
  element(details, "h2", {}, node.name || "?");
  const facts = element(details, "dl");
  for (const [term, text] of [["File", place(node)], ["Namespace", node.namespace], ["State", node.words]]) {
    if (!text) continue;
    element(facts, "dt", {}, term);
    element(facts, "dd", term === "File" ? { class: "file" } : {}, text);
  }
  section("Findings", node.findings, (item, f) => {
    element(item, "span", { class: `severity ${f.severity}` }, f.severity);
    element(item, "span", { class: "message" }, f.message);
    if (f.help) element(item, "span", { class: "help" }, f.help);
    element(item, "small", {}, `${f.rule}, line ${f.line}`);
  });
  for (const away of [true, false]) {
    section(away ? "Outgoing" : "Incoming", node.edges.filter((e) => e.away === away), (item, edge) => {
      element(item, "span", { class: "use" }, edge.label);
      element(item, "button", { type: "button", class: edge.other.words ? "outside" : "" }, title(edge.other)).onclick = () => select(edge.other, true);
      if (edge.other.words) element(item, "small", {}, edge.other.words);
      for (const at of edge.at.slice(0, 3)) element(item, "small", {}, [at.field, place(at)].filter(Boolean).join(", "));
    });
  }
  section("Labels", Object.entries(node.labels), (item, [key, value]) => {
    element(item, "code", {}, `${key}: ${value}`);
  });
}

function section(name, entries, fill, owner = details) {
  if (!entries.length) return null;
  element(owner, "h3", {}, name);
  const list = element(owner, "ul", { class: name.toLowerCase().replace(" ", "-") });
  for (const entry of entries) fill(element(list, "li"), entry);
  return list;
}

function filters() {
  const owner = $("filters");
  const counts = (key) => nodes.reduce((table, node) => table.set(node[key], (table.get(node[key]) ?? 0) + 1), new Map());
  const boxes = (name, group, entries) => {
    section(name, entries, (item, [value, text, count, category]) => {
      const label = element(item, "label", { class: category ?? "" });
      const box = element(label, "input", { type: "checkbox", "data-filter": group, "data-value": value });
      box.checked = !hidden[group].has(value);
      box.onchange = () => {
        hidden[group][box.checked ? "delete" : "add"](value);
        draw();
        fit();
      };
      element(label, "span", { class: "text" }, text);
      if (count !== undefined) element(label, "span", { class: "count" }, String(count));
    }, owner);
  };
  const some = (words) => words.filter(([, , count]) => count);
  const outside = nodes.filter((n) => n.words && n.state !== "patch").length;
  boxes("Show", "show", some([["clean", "without findings", nodes.filter((n) => !n.findings.length).length],
    ["alone", "unconnected", nodes.filter((n) => !n.near.size).length], ["outside", "not in the input", outside]]));
  if (spaces.size > 1) boxes("Namespaces", "namespace", [...counts("namespace")].sort().map(([n, count]) => [n, n || "(none)", count]));
  const kinds = counts("kind");
  for (const [category, name] of Object.entries(GRAPH.categories)) {
    const own = [...new Set(nodes.filter((n) => n.category === category).map((n) => n.kind))].sort();
    boxes(name, "kind", own.map((kind) => [kind, kind, kinds.get(kind), category]));
  }
  const relations = GRAPH.edges.reduce((table, e) => table.set(e.relation, (table.get(e.relation) ?? 0) + 1), new Map());
  const names = { reference: "references", selector: "selects", address: "calls", made: "creates", patch: "patches" };
  boxes("Relations", "relation", Object.entries(names).map(([key, text]) => [key, text, relations.get(key), key]).filter((r) => r[2]));
  section("Findings without an object", GRAPH.unplaced, (item, f) => {
    element(item, "span", { class: `severity ${f.severity}` }, f.severity);
    element(item, "span", { class: "message" }, `${place(f)} ${f.message}`);
    if (f.help) element(item, "span", { class: "help" }, f.help);
  }, owner);
}

function summary() {
  const here = nodes.filter((node) => !node.words || node.state === "patch").length;
  const found = [...nodes.flatMap((node) => node.findings), ...GRAPH.unplaced];
  const words = [counted(here, "object"), counted(GRAPH.edges.length, "relation")];
  for (const s of SEVERITIES) {
    const count = found.filter((f) => f.severity === s).length;
    if (count) words.push(counted(count, s));
  }
  $("summary").textContent = words.join(", ");
}
