import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** What one selector of a query asks for. */
export interface Use {
  /** The name of the metric. */
  readonly metric: RegExp;
  /** The labels that it has to have: those that are matched, grouped by, or joined on. */
  readonly labels: readonly string[];
  /** Values of labels that are asked for, one by one. */
  readonly values: readonly (readonly [label: string, value: string])[];
}

/** What a query of Prometheus asks for. @throws Error when it is none */
export function usesOf(query: string): readonly Use[] {
  const text = (node: SyntaxNode): string => query.slice(node.from, node.to);
  const selectors: SyntaxNode[] = [];
  parser.parse(query).iterate({
    enter({ type, from, node }) {
      if (type.isError) throw new Error(`Not PromQL, at ${from}: ${query}`);
      if (type.name === 'VectorSelector') selectors.push(node);
    },
  });
  if (selectors.length === 0) throw new Error(`It asks for no metric: ${query}`);
  return selectors.map((selector) => {
    const matchers = inside(selector, 'UnquotedLabelMatcher').map((matcher) => {
      const [label, op, value] = [0, 1, 2].map((i) => text(childrenOf(matcher)[i] as SyntaxNode));
      return { label: label as string, op, value: JSON.parse(value as string) as string };
    });
    const named = matchers.find(({ label }) => label === '__name__')?.value;
    const name = selector.getChild('Identifier');
    const own = matchers.filter(({ label }) => label !== '__name__');
    return {
      metric: new RegExp(`^(${named ?? (name === null ? '' : text(name))})$`),
      labels: [...own.map(({ label }) => label), ...groupingsOf(selector).map(text)],
      values: own.flatMap(({ label, value }) =>
        value.startsWith('$') ? [] : value.split('|').map((each) => [label, each] as const),
      ),
    };
  });
}

/** The labels of `by (…)` and `on (…)` around a selector. */
function groupingsOf(selector: SyntaxNode): readonly SyntaxNode[] {
  const labels: SyntaxNode[] = [];
  for (let around = selector.parent; around !== null; around = around.parent) {
    for (const name of ['AggregateModifier', 'MatchingModifierClause'])
      for (const modifier of around.getChildren(name)) labels.push(...inside(modifier, 'LabelName'));
  }
  return labels;
}

function inside(node: SyntaxNode, name: string): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  node.cursor().iterate(({ node: each }) => {
    if (each.name === name) found.push(each);
  });
  return found;
}

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}
