// The findings: filters, groups and source lines. Text from the input is only ever set with textContent, never as markup.

(() => {
  const REPORT = JSON.parse($("report-data").textContent);
  const PAGE_SIZE = 200;
  const choices = $("choices");
  const fields = choices.elements;
  const all = REPORT.findings.map((finding) => ({
    ...finding,
    text: [finding.rule, REPORT.titles[finding.rule], finding.message, finding.help, finding.file, finding.object, finding.field].join(" ").toLowerCase(),
  }));
  let limit = PAGE_SIZE, graphIsDrawn = false;

  function tally(key) {
    return [...all.reduce((table, f) => table.set(f[key], (table.get(f[key]) ?? 0) + 1), new Map())].sort((a, b) => (a[0] < b[0] ? -1 : 1));
  }

  function fillChoices() {
    const counts = new Map(tally("severity"));
    for (const severity of SEVERITIES) {
      const label = element($("severities"), "label", { class: `severity ${severity}` });
      element(label, "input", { type: "checkbox", name: "severity", value: severity, checked: "" });
      element(label, "span", {}, `${severity} ${counts.get(severity) ?? 0}`);
    }
    for (const key of ["rule", "file", "kind", "namespace"]) {
      element(fields[key], "option", { value: "" }, "all");
      for (const [value, count] of tally(key)) if (value) element(fields[key], "option", { value }, `${value} (${count})`);
    }
  }

  function matching() {
    const words = fields.text.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const severities = new Set([...choices.querySelectorAll("[name=severity]:checked")].map((box) => box.value));
    const chosen = ["rule", "file", "kind", "namespace"].map((key) => [key, fields[key].value]).filter(([, value]) => value);
    return all.filter((f) => severities.has(f.severity) && chosen.every(([key, value]) => f[key] === value)
      && words.every((word) => f.text.includes(word)));
  }

  const keys = {
    file: (f) => f.file,
    rule: (f) => f.rule,
    object: (f) => (f.object ? `${f.object} \u00b7 ${f.file}` : f.file),
  };

  function show() {
    const found = matching();
    const key = keys[fields.group.value];
    const groups = new Map();
    for (const finding of found) {
      const name = key(finding);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(finding);
    }
    const owner = $("groups");
    owner.replaceChildren();
    let free = limit;
    for (const [name, members] of groups) {
      if (free <= 0) break;
      drawGroup(owner, name, members, members.slice(0, free));
      free -= members.length;
    }
    if (!found.length) element(owner, "p", { class: "none" }, all.length ? "No finding matches the filters." : "No findings.");
    $("more").hidden = found.length <= limit;
    $("matching").textContent = found.length === all.length ? "" : `${found.length} of ${all.length}`;
    document.documentElement.dataset.shown = String(Math.min(found.length, limit));
  }

  function drawGroup(owner, name, members, shown) {
    const group = element(owner, "details", { class: "group", open: "" });
    const head = element(group, "summary");
    element(head, "span", {}, name);
    if (fields.group.value === "rule") element(head, "span", { class: "note" }, REPORT.titles[name] ?? "");
    const counts = SEVERITIES.map((s) => [members.filter((f) => f.severity === s).length, s]).filter(([count]) => count);
    element(head, "span", { class: "count" }, counts.map(([count, s]) => counted(count, s)).join(", "));
    const rank = (f) => SEVERITIES.indexOf(f.severity);
    for (const finding of fields.group.value === "rule" ? shown : [...shown].sort((a, b) => rank(a) - rank(b))) drawFinding(group, finding);
  }

  function drawFinding(owner, finding) {
    const card = element(owner, "article", { class: `finding ${finding.severity}` });
    const head = element(card, "p");
    element(head, "span", { class: `severity ${finding.severity}` }, finding.severity);
    const link = finding.url ? { href: finding.url, rel: "noreferrer" } : {};
    element(head, finding.url ? "a" : "span", { class: "rule", title: REPORT.titles[finding.rule] ?? "", ...link }, finding.rule);
    element(head, "span", { class: "message" }, finding.message);
    const meta = element(card, "p", { class: "meta" });
    element(meta, "span", { class: "file" }, finding.position);
    if (finding.object) element(meta, "span", {}, finding.object);
    if (finding.field) element(meta, "code", {}, finding.field);
    if (finding.node && byId.has(finding.node)) element(meta, "button", { type: "button" }, "show in graph").onclick = () => showInGraph(finding.node);
    if (finding.lines.length) drawLines(element(card, "pre"), finding.lines);
    if (finding.help !== finding.fix?.title) note(card, "help", finding.help);
    if (finding.fix) note(card, finding.fix.safe ? "fix" : "unsafe fix", finding.fix.title);
    for (const [position, message] of finding.related) note(card, "note", `${position}: ${message}`);
  }

  function drawLines(owner, lines) {
    for (const [number, before, marked, after] of lines) {
      const line = element(owner, "div", { class: marked || after ? "hit" : "" });
      element(line, "span", { class: "number" }, String(number));
      element(line, "span", {}, before);
      if (marked) element(line, "mark", {}, marked);
      element(line, "span", {}, after);
    }
  }

  function note(owner, name, text) {
    if (!text) return;
    const line = element(owner, "p");
    element(line, "span", { class: "label" }, `${name}: `);
    element(line, "span", {}, text);
  }

  function open(view) {
    for (const tab of $("tabs").children) tab.setAttribute("aria-selected", String(tab.dataset.view === view));
    $("findings-view").hidden = view !== "findings";
    $("graph-view").hidden = view !== "graph";
    if (view === "graph" && !graphIsDrawn) {
      graphIsDrawn = true;
      start();
    }
  }

  function showInGraph(id) {
    open("graph");
    select(byId.get(id), true);
  }

  function listenToChoices() {
    const again = () => {
      limit = PAGE_SIZE;
      show();
    };
    choices.addEventListener("input", again);
    choices.addEventListener("reset", () => setTimeout(again));
    choices.addEventListener("submit", (event) => event.preventDefault());
    $("more").onclick = () => {
      limit += PAGE_SIZE;
      show();
    };
    for (const tab of $("tabs").children) tab.onclick = () => open(tab.dataset.view);
    // The keys of the graph do not apply to the findings.
    $("findings-view").addEventListener("keydown", (event) => event.stopPropagation());
  }

  $("totals").textContent = `${REPORT.summary[0]} kcheck ${REPORT.version}`;
  $("omitted").textContent = REPORT.omitted ? `${REPORT.omitted} findings of lower severity are not in this page.` : "";
  if (REPORT.skipped.length) {
    $("skipped").hidden = false;
    $("skipped").querySelector("summary").textContent = REPORT.summary.slice(1).join(" ");
    for (const [file, why] of REPORT.skipped) element($("skipped").querySelector("ul"), "li", {}, `${file}: ${why}`);
  }
  fillChoices();
  show();
  listenToChoices();
  document.documentElement.dataset.ready = "yes";
})();
