import { PARAM, REST, type Segment } from './route-path.ts';

/** What a table looks up: the more specific pattern wins, whatever the order. */
export interface RouteTree<E> {
  /** @returns what has this place already, in place of adding */
  add(methods: readonly string[], pattern: readonly Segment[], entry: E): E | undefined;
  /** The most specific entry for a path, or for a pattern, of those that are accepted. */
  find(method: string, segments: readonly Segment[], accepts?: (entry: E) => boolean): E | undefined;
}

interface Node<E> {
  readonly literals: Map<string, Node<E>>;
  param: Node<E> | undefined;
  /** What ends here, by method. */
  readonly ends: Map<string, E>;
  /** What goes on with anything, by method. */
  readonly rests: Map<string, E>;
}

const ANY_METHOD = '';
const always = (): boolean => true;

export function createRouteTree<E>(): RouteTree<E> {
  const root = createNode<E>();
  return {
    add(methods, pattern, entry) {
      let node = root;
      for (const segment of pattern) if (segment !== REST) node = childOf(node, segment);
      const places = pattern.at(-1) === REST ? node.rests : node.ends;
      for (const method of methods.length === 0 ? [ANY_METHOD] : methods) {
        const other = places.get(method);
        if (other !== undefined) return other;
        places.set(method, entry);
      }
      return undefined;
    },
    find: (method, segments, accepts = always) => search(root, { method, segments, accepts }, 0),
  };
}

function createNode<E>(): Node<E> {
  return { literals: new Map(), param: undefined, ends: new Map(), rests: new Map() };
}

function childOf<E>(node: Node<E>, segment: string | typeof PARAM): Node<E> {
  if (segment === PARAM) return (node.param ??= createNode());
  let child = node.literals.get(segment);
  if (child === undefined) node.literals.set(segment, (child = createNode()));
  return child;
}

interface Search<E> {
  readonly method: string;
  readonly segments: readonly Segment[];
  readonly accepts: (entry: E) => boolean;
}

/** From each node on, literal before parameter before rest. Each node is seen at most once: the table bounds the work. */
function search<E>(node: Node<E>, wanted: Search<E>, depth: number): E | undefined {
  const { segments } = wanted;
  const segment = segments[depth];
  let found: E | undefined;
  if (segment === undefined) {
    found = pick(node.ends, wanted);
  } else if (segment !== REST) {
    const child = segment === PARAM ? undefined : node.literals.get(segment);
    if (child !== undefined) found = search(child, wanted, depth + 1);
    if (found === undefined && node.param !== undefined && segment !== '')
      found = search(node.param, wanted, depth + 1);
  }
  return found ?? pick(node.rests, wanted);
}

/** An entry with the method before one without; one for other methods only is no match. */
function pick<E>(places: Map<string, E>, { method, accepts }: Search<E>): E | undefined {
  if (places.size === 0) return undefined;
  const own = places.get(method);
  if (own !== undefined && accepts(own)) return own;
  const any = places.get(ANY_METHOD);
  return any !== undefined && accepts(any) ? any : undefined;
}
