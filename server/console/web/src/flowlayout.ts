// Where the nodes of a flow are drawn: in layers from left to right, each node one layer after the last that it needs. A link that
// passes layers has a place in each of them. The order in a layer follows the neighbours' mean (Sugiyama, Tagawa and Toda 1981), and so
// do the heights, as far as the distance of neighbours in the layer allows. Pure.
export interface Node { name: string; after: { node: string }[] }
export interface Box { width: number; height: number; across: number; between: number }  // of a node; to the next layer; to the next node
export interface Place { x: number; y: number }
export interface Drawn { nodes: Place[]; links: { from: number; to: number; points: Place[] }[]; width: number; height: number }

interface Spot { layer: number; tall: number; before: Spot[]; behind: Spot[]; at: number; y: number }
const passedMax = 20000;  // places of links between layers; of more than these every link is straight
const sweeps = 6;
const passing = 12;  // how tall the place of a passing link is

const mean = (spots: Spot[], of: (spot: Spot) => number, otherwise: number): number =>
  spots.length ? spots.reduce((sum, each) => sum + of(each), 0) / spots.length : otherwise;

function order(layers: Spot[][]): void {
  const number = () => layers.forEach(layer => layer.forEach((spot, i) => (spot.at = i)));
  number();
  for (let turn = 0; turn < sweeps; ++turn) {
    const forth = turn % 2 === 0;
    for (const layer of forth ? layers : [...layers].reverse()) {
      const wanted = new Map(layer.map(spot => [spot, mean(forth ? spot.before : spot.behind, each => each.at, spot.at)]));
      layer.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
      layer.forEach((spot, i) => (spot.at = i));
    }
  }
}

// Two passes keep the least distance between neighbours, one from above and one from below; the mean of both keeps it, too.
function settle(layer: Spot[], between: number, wanted: number[]): void {
  const apart = (i: number) => (layer[i].tall + layer[i + 1].tall) / 2 + between;
  const down = [...wanted], up = [...wanted];
  for (let i = 1; i < layer.length; ++i) down[i] = Math.max(down[i], down[i - 1] + apart(i - 1));
  for (let i = layer.length - 2; i >= 0; --i) up[i] = Math.min(up[i], up[i + 1] - apart(i));
  layer.forEach((spot, i) => (spot.y = (down[i] + up[i]) / 2));
}

// `nodes`: each after those that it needs; what is needed and not there is passed over.
export function draw(nodes: Node[], box: Box): Drawn {
  const spots: Spot[] = [], layers: Spot[][] = [], known = new Map<string, Spot>();
  const add = (layer: number, tall: number): Spot => {
    const spot = { layer, tall, before: [], behind: [], at: 0, y: 0 };
    (layers[layer] ??= []).push(spot);
    return spot;
  };
  for (const node of nodes) {
    const needed = node.after.map(each => known.get(each.node)).filter(each => each !== undefined);
    const spot = add(1 + Math.max(-1, ...needed.map(each => each.layer)), box.height);
    spots.push(spot);
    known.set(node.name, spot);
  }
  const ways = nodes.flatMap((node, to) => node.after.filter(each => known.has(each.node)).map(each => ({ from: spots.indexOf(known.get(each.node)!), to })));
  const straight = ways.reduce((sum, way) => sum + spots[way.to].layer - spots[way.from].layer - 1, 0) > passedMax;
  const paths = ways.map(({ from, to }) => {
    const path = [spots[from]];
    for (let layer = spots[from].layer + 1; !straight && layer < spots[to].layer; ++layer) path.push(add(layer, passing));
    path.push(spots[to]);
    for (let i = 1; i < path.length; ++i) { path[i].before.push(path[i - 1]); path[i - 1].behind.push(path[i]); }
    return path;
  });
  order(layers);
  for (const layer of layers) settle(layer, box.between, layer.map(() => 0));
  for (let turn = 0; turn < sweeps; ++turn)
    for (const layer of turn % 2 === 0 ? layers : [...layers].reverse())
      settle(layer, box.between, layer.map(spot => mean([...spot.before, ...spot.behind], each => each.y, spot.y)));
  const all = layers.flat();
  const top = Math.min(0, ...all.map(spot => spot.y - spot.tall / 2));
  const centre = (spot: Spot): Place => ({ x: spot.layer * (box.width + box.across) + box.width / 2, y: spot.y - top });
  return {
    nodes: spots.map(centre),
    links: paths.map((path, i) => ({
      ...ways[i],
      points: path.flatMap((spot, k) => {
        const { x, y } = centre(spot);
        const left = { x: x - box.width / 2, y }, right = { x: x + box.width / 2, y };
        return k === 0 ? [right] : k === path.length - 1 ? [left] : [left, right];
      }),
    })),
    width: layers.length * (box.width + box.across) - box.across,
    height: Math.max(0, ...all.map(spot => spot.y - top + spot.tall / 2)),
  };
}
