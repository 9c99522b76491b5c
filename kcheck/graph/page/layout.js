"use strict";
// Layout: each connected part separately, its nodes in columns so that edges run to the right; then the parts are packed side by side.
// Deterministic: the same graph gives the same layout.

const NODE = { width: 208, height: 46 };
const GAP = { x: 96, y: 14, part: 48, single: 14 };
const SWEEPS = 14;
const DUMMY = 10; // Height reserved for an edge that passes through a column.
const MAX_UNGROUPED_NODES = 90; // Number of nodes in a connected part from which each folder is drawn separately.

// nodes: [{index, rank, stage, folder}], in order; rank: of its category; stage: its minimum column.
// edges: [{source, target}] by index. Returns {places: Map index -> {x, y}, ways: Map edge -> points}. Edges between parts
// have no entry in ways.
function layout(nodes, edges, aspect) {
  const parts = components(nodes, edges).flatMap((part) => {
    if (part.nodes.length < MAX_UNGROUPED_NODES) return [part];
    const folder = new Map(part.nodes.map((n) => [n.index, n.folder]));
    return components(part.nodes, part.edges.filter((e) => folder.get(e.source) === folder.get(e.target)));
  });
  const boxes = [];
  const singles = [];
  for (const part of parts) {
    if (part.nodes.length === 1) singles.push(part.nodes[0]);
    else boxes.push(layered(part.nodes, part.edges));
  }
  boxes.sort((a, b) => b.height - a.height || b.width - a.width || a.first - b.first);
  const drawn = packed(boxes, singles.length, aspect);
  const places = new Map();
  const ways = new Map();
  for (const { box, x, y } of drawn.boxes) {
    for (const [index, p] of box.places) places.set(index, { x: p.x + x, y: p.y + y });
    for (const [edge, points] of box.ways) ways.set(edge, points.map((p) => ({ x: p.x + x, y: p.y + y })));
  }
  singles.sort((a, b) => a.rank - b.rank || a.index - b.index);
  singles.forEach((node, i) => places.set(node.index, {
    x: (i % drawn.columns) * (NODE.width + GAP.single),
    y: drawn.below + Math.floor(i / drawn.columns) * (NODE.height + GAP.single),
  }));
  return { places, ways };
}

function components(nodes, edges) {
  const parent = new Map(nodes.map((n) => [n.index, n.index]));
  const find = (i) => {
    while (parent.get(i) !== i) {
      parent.set(i, parent.get(parent.get(i)));
      i = parent.get(i);
    }
    return i;
  };
  for (const e of edges) parent.set(find(e.source), find(e.target));
  const parts = new Map();
  for (const n of nodes) {
    const root = find(n.index);
    if (!parts.has(root)) parts.set(root, { nodes: [], edges: [] });
    parts.get(root).nodes.push(n);
  }
  for (const e of edges) if (e.source !== e.target) parts.get(find(e.source)).edges.push(e);
  return [...parts.values()];
}

// Lays out one connected part in columns.
function layered(nodes, edges) {
  const local = new Map(nodes.map((n, i) => [n.index, i]));
  const arcs = acyclic(nodes, edges.map((e) => ({ from: local.get(e.source), to: local.get(e.target), edge: e })));
  const column = columnsOf(nodes, arcs);
  // Real nodes first; then a dummy node for each column that an edge passes through.
  const cells = nodes.map((n, i) => ({ height: NODE.height, column: column[i], left: [], right: [] }));
  const chains = [];
  for (const arc of arcs) {
    const chain = [arc.from];
    for (let c = column[arc.from] + 1; c < column[arc.to]; c++) {
      chain.push(cells.length);
      cells.push({ height: DUMMY, column: c, left: [], right: [] });
    }
    chain.push(arc.to);
    for (let i = 1; i < chain.length; i++) {
      cells[chain[i - 1]].right.push(chain[i]);
      cells[chain[i]].left.push(chain[i - 1]);
    }
    chains.push({ arc, chain });
  }
  const columns = ordered(cells);
  vertical(cells, columns);
  const top = Math.min(...cells.map((c) => c.y - c.height / 2));
  const places = new Map();
  nodes.forEach((n, i) => places.set(n.index, { x: cells[i].column * (NODE.width + GAP.x), y: cells[i].y - NODE.height / 2 - top }));
  const ways = new Map();
  for (const { arc, chain } of chains) {
    const points = chain.map((id, i) => {
      const x = cells[id].column * (NODE.width + GAP.x);
      const y = cells[id].y - top;
      if (i === 0) return [{ x: x + NODE.width, y }];
      if (i === chain.length - 1) return [{ x, y }];
      return [{ x, y }, { x: x + NODE.width, y }];
    }).flat();
    ways.set(arc.edge, arc.turned ? points.reverse() : points);
  }
  const bottom = Math.max(...cells.map((c) => c.y + c.height / 2));
  return { places, ways, first: nodes[0].index, width: columns.length * (NODE.width + GAP.x) - GAP.x, height: bottom - top };
}

// Returns the arcs without cycles: back edges are reversed, and so are arcs from a later to an earlier stage, such as from a workload
// to a Service that it calls.
function acyclic(nodes, given) {
  const late = (a) => nodes[a.to].stage && nodes[a.from].stage > nodes[a.to].stage;
  const arcs = given.map((a) => (late(a) ? { from: a.to, to: a.from, edge: a.edge, turned: true } : a));
  const out = nodes.map(() => []);
  arcs.forEach((a) => out[a.from].push(a));
  const state = new Uint8Array(nodes.length);
  const order = nodes.map((_, i) => i).sort((a, b) => nodes[a].rank - nodes[b].rank || a - b);
  for (const start of order) {
    if (state[start]) continue;
    const stack = [[start, 0]];
    state[start] = 1;
    while (stack.length) {
      const top = stack[stack.length - 1];
      const arc = out[top[0]][top[1]++];
      if (!arc) {
        state[top[0]] = 2;
        stack.pop();
      } else if (state[arc.to] === 1) arc.back = true;
      else if (state[arc.to] === 0) {
        state[arc.to] = 1;
        stack.push([arc.to, 0]);
      }
    }
  }
  return arcs.map((a) => (a.back ? { from: a.to, to: a.from, edge: a.edge, turned: !a.turned } : a));
}

// Longest path from the left, no node before its stage. Then nodes with more outgoing than incoming arcs move as close to their targets as
// possible. The stage of a node without incoming arcs does not push other nodes to the right.
function columnsOf(nodes, arcs) {
  const count = nodes.length;
  const out = Array.from({ length: count }, () => []);
  const ins = Array.from({ length: count }, () => []);
  const waiting = new Int32Array(count);
  for (const a of arcs) {
    out[a.from].push(a.to);
    ins[a.to].push(a.from);
    waiting[a.to]++;
  }
  const column = nodes.map((n, i) => (ins[i].length ? n.stage : 0));
  const order = [];
  for (let i = 0; i < count; i++) if (!waiting[i]) order.push(i);
  for (let at = 0; at < order.length; at++) {
    for (const to of out[order[at]]) {
      column[to] = Math.max(column[to], column[order[at]] + 1);
      if (!--waiting[to]) order.push(to);
    }
  }
  for (let at = order.length - 1; at >= 0; at--) {
    const i = order[at];
    if (out[i].length && out[i].length > ins[i].length) column[i] = Math.min(...out[i].map((to) => column[to])) - 1;
  }
  // Empty columns are removed.
  const used = [...new Set(column)].sort((a, b) => a - b);
  return column.map((c) => used.indexOf(c));
}

// Order within columns: by the average of the neighbours, in alternating sweeps. Keeps the order with the fewest crossings.
function ordered(cells) {
  const columns = [];
  cells.forEach((cell, id) => (columns[cell.column] ??= []).push(id));
  for (let c = 0; c < columns.length; c++) columns[c] ??= [];
  const place = () => columns.forEach((ids) => ids.forEach((id, i) => (cells[id].order = i)));
  // The initial order is that of a traversal from the left, which keeps related nodes together.
  const seen = new Set();
  const walk = [];
  for (const ids of columns) for (const id of ids) {
    const stack = [id];
    while (stack.length) {
      const next = stack.pop();
      if (seen.has(next)) continue;
      seen.add(next);
      walk.push(next);
      for (const to of [...cells[next].right].reverse()) stack.push(to);
    }
  }
  walk.forEach((id, i) => (cells[id].order = i));
  columns.forEach((ids) => ids.sort((a, b) => cells[a].order - cells[b].order));
  place();
  let best = columns.map((ids) => [...ids]);
  let least = crossings(cells, columns);
  for (let sweep = 0; sweep < SWEEPS && least; sweep++) {
    const side = sweep % 2 ? "right" : "left";
    const way = columns.map((_, i) => (sweep % 2 ? columns.length - 1 - i : i));
    for (const c of way) {
      const wanted = new Map(columns[c].map((id) => {
        const near = cells[id][side];
        return [id, near.length ? near.reduce((sum, n) => sum + cells[n].order, 0) / near.length : cells[id].order];
      }));
      columns[c].sort((a, b) => wanted.get(a) - wanted.get(b) || cells[a].order - cells[b].order);
      columns[c].forEach((id, i) => (cells[id].order = i));
    }
    const now = crossings(cells, columns);
    if (now < least) {
      least = now;
      best = columns.map((ids) => [...ids]);
    }
  }
  best.forEach((ids) => ids.forEach((id, i) => (cells[id].order = i)));
  return best;
}

function crossings(cells, columns) {
  let sum = 0;
  for (const ids of columns) {
    const ends = [];
    for (const id of ids) ends.push(...cells[id].right.map((n) => cells[n].order).sort((a, b) => a - b));
    // Counts inversions with a Fenwick tree.
    const size = Math.max(0, ...ends) + 2;
    const tree = new Int32Array(size);
    ends.forEach((end, count) => {
      let notAbove = 0;
      for (let i = end + 1; i > 0; i -= i & -i) notAbove += tree[i];
      sum += count - notAbove;
      for (let i = end + 1; i < size; i += i & -i) tree[i]++;
    });
  }
  return sum;
}

// Vertical positions: each cell as close to its neighbours as the other cells of its column allow.
function vertical(cells, columns) {
  for (const ids of columns) {
    let y = 0;
    for (const id of ids) {
      cells[id].y = y + cells[id].height / 2;
      y += cells[id].height + GAP.y;
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const sides = sweep > SWEEPS - 4 ? ["left", "right"] : [sweep % 2 ? "right" : "left"];
    const way = sweep % 2 ? [...columns].reverse() : columns;
    for (const ids of way) {
      settle(ids.map((id) => {
        const near = sides.flatMap((side) => cells[id][side]);
        return { id, wish: near.length ? near.reduce((sum, n) => sum + cells[n].y, 0) / near.length : cells[id].y, weight: near.length || 0.1 };
      }), cells);
    }
  }
}

// Least squares for a fixed order: cells that would overlap are merged into a block that moves together.
function settle(items, cells) {
  const blocks = [];
  let before = 0;
  for (const item of items) {
    const height = cells[item.id].height;
    const offset = before + height / 2;
    before += height + GAP.y;
    let block = { sum: (item.wish - offset) * item.weight, weight: item.weight, items: [{ id: item.id, offset }] };
    while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].weight >= block.sum / block.weight) {
      const last = blocks.pop();
      block = { sum: last.sum + block.sum, weight: last.weight + block.weight, items: last.items.concat(block.items) };
    }
    blocks.push(block);
  }
  for (const block of blocks) for (const { id, offset } of block.items) cells[id].y = block.sum / block.weight + offset;
}

// Packs the parts with several widths and returns the packing that is displayed largest.
function packed(boxes, singles, aspect) {
  const area = boxes.reduce((sum, b) => sum + (b.width + GAP.part) * (b.height + GAP.part), 0)
    + singles * (NODE.width + GAP.single) * (NODE.height + GAP.single);
  const least = Math.max(NODE.width, ...boxes.map((b) => b.width));
  let best = null;
  for (const share of [0.7, 0.85, 1, 1.15, 1.3, 1.5, 1.75, 2]) {
    const found = pack(boxes, singles, Math.max(least, share * Math.sqrt(area * aspect)));
    found.size = Math.max(found.width / aspect, found.height);
    if (!best || found.size < best.size) best = found;
  }
  return best;
}

// Packs parts on shelves, and unconnected nodes in a grid below them.
function pack(boxes, singles, limit) {
  const drawn = [];
  const shelves = [];
  for (const box of boxes) {
    // Low boxes are stacked if the shelf is high enough.
    const room = (c, s) => c.height + GAP.part + box.height <= s.height && box.width <= c.width;
    const over = shelves.find((s) => s.columns.some((c) => room(c, s)));
    if (over) {
      const column = over.columns.find((c) => room(c, over));
      drawn.push({ box, x: column.x, y: over.y + column.height + GAP.part });
      column.height += GAP.part + box.height;
      continue;
    }
    // The first shelf with enough free width. The first box of a shelf is its highest.
    let shelf = shelves.find((s) => s.x + box.width <= limit);
    if (!shelf) {
      const last = shelves[shelves.length - 1];
      shelf = { x: 0, y: last ? last.y + last.height + GAP.part : 0, height: box.height, columns: [] };
      shelves.push(shelf);
    }
    drawn.push({ box, x: shelf.x, y: shelf.y });
    shelf.columns.push({ x: shelf.x, width: box.width, height: box.height });
    shelf.x += box.width + GAP.part;
  }
  const last = shelves[shelves.length - 1];
  const columns = Math.max(1, Math.floor((limit + GAP.single) / (NODE.width + GAP.single)));
  const below = last ? last.y + last.height + GAP.part : 0;
  const rows = Math.ceil(singles / columns);
  const width = Math.max(...drawn.map((d) => d.x + d.box.width), Math.min(singles, columns) * (NODE.width + GAP.single));
  return { boxes: drawn, below, columns, width, height: below + rows * (NODE.height + GAP.single) };
}
