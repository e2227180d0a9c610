import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Use, usesOf } from './promql.ts';
import { PRIVATE, type Sample, scrape } from './scrape.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const page = read('docs/telemetry.md');

/** The cells of the page's table that begins with this one, row by row. */
function tableOf(first: string): readonly string[][] {
  const lines = page.slice(page.indexOf(`| ${first} |`)).split('\n');
  const rows = lines.slice(
    2,
    lines.findIndex((line) => !line.startsWith('|')),
  );
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function codesIn(cell: string | undefined): string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code]) => code as string);
}

/** Each documented metric by its name in Prometheus, with its labels. */
const documented = new Map(tableOf('metric').map((row) => [codesIn(row[1])[0] as string, codesIn(row[4])]));
const histograms = tableOf('metric').filter(([, , kind]) => kind === 'histogram');
const codes = [...read('docs/errors.md').matchAll(/^### (\S+)$/gm)].map(([, code]) => code as string);
const attributeValues = new Map(tableOf('attribute').map(([label, values]) => [codesIn(label)[0], codesIn(values)]));

/** Of a histogram, what is derived from it. */
function metricOf(name: string): string {
  const derived = histograms.map((row) => codesIn(row[1])[0] as string);
  return derived.find((each) => new RegExp(`^${each}_(bucket|sum|count)$`).test(name)) ?? name;
}

let text: string;
let samples: readonly Sample[];
beforeAll(async () => {
  ({ text, samples } = await scrape());
  samples = samples.filter(({ name }) => name !== 'target_info');
});

/** What Prometheus itself adds, and the SDK to each metric. */
const OF_THE_TARGET = ['job', 'instance'];
const OF_THE_SDK = new Set(['otel_scope_name', 'le']);

describe('the example for Prometheus', () => {
  it('tells each metric of the page with its labels, and no other', () => {
    const scraped = new Map<string, Set<string>>();
    for (const { name, labels } of samples) {
      const metric = metricOf(name);
      const known = scraped.get(metric) ?? new Set();
      for (const label of Object.keys(labels)) if (!OF_THE_SDK.has(label)) known.add(label);
      scraped.set(metric, known);
    }
    const sorted = (metrics: ReadonlyMap<string, Iterable<string>>) =>
      [...metrics].map(([name, labels]) => `${name} ${[...labels].toSorted().join(' ')}`).toSorted();
    expect(sorted(scraped)).toEqual(sorted(documented));
  });

  it('tells what was decided, by which limit and from where', () => {
    const valueOf = (name: string, labels: Record<string, string>) =>
      samples.find((sample) => sample.name === name && Object.entries(labels).every(([k, v]) => sample.labels[k] === v))
        ?.value;
    for (const source of ['local', 'open', 'closed'])
      expect(valueOf('ratelimit_degraded_total', { policy: source, source })).toBe(7);
    expect(valueOf('ratelimit_decisions_total', { policy: 'read', outcome: 'denied', source: 'store' })).toBe(3);
    for (const [policy, reason] of [
      ['read', 'blocked'],
      ['never', 'never'],
      ['ip', 'exhausted'],
    ] as const)
      expect(valueOf('ratelimit_denied_total', { policy, limit: policy, reason })).toBeGreaterThan(0);
    expect(valueOf('ratelimit_store_duration_count', { store: 'redis', outcome: 'unavailable' })).toBe(3);
    expect(valueOf('ratelimit_store_duration_count', { store: 'redis', outcome: 'deadline' })).toBeGreaterThanOrEqual(
      5,
    );
    expect(valueOf('ratelimit_breaker_state', { store: 'redis' })).toBe(2);
    expect(valueOf('ratelimit_breaker_state', { store: 'memory' })).toBe(0);
    expect(valueOf('ratelimit_warnings_total', { code: 'store-degraded' })).toBe(2);
  });

  it('tells nothing of a client', () => {
    expect(samples.length).toBeGreaterThan(50);
    for (const secret of PRIVATE) expect(text).not.toContain(secret);
    // Nor a hash of anything.
    expect(text).not.toMatch(/[0-9a-f]{32}/);
  });
});

/** What is wrong with a query. */
function faultsOf(query: string): readonly string[] {
  const faults: string[] = [];
  for (const use of usesOf(query)) {
    const found = samples.filter(({ name }) => use.metric.test(name));
    if (found.length === 0) faults.push(`no metric ${use.metric.source}`);
    const labels = new Set([...found.flatMap((sample) => Object.keys(sample.labels)), ...OF_THE_TARGET]);
    for (const label of use.labels) if (!labels.has(label)) faults.push(`no label ${label} on ${use.metric.source}`);
    faults.push(...valueFaultsOf(use));
  }
  return faults;
}

function valueFaultsOf({ values }: Use): readonly string[] {
  const known = (label: string) => (label === 'code' ? codes : attributeValues.get(label));
  return values.filter(([label, value]) => !known(label)?.includes(value)).map((pair) => `no ${pair.join(' ')}`);
}

/** The labels that texts show, `{{label}}` or `$labels.label`, but a query has lost. */
function lostLabels(query: string, ...texts: readonly string[]): readonly string[] {
  const kept = new Set(usesOf(query).flatMap(({ labels }) => labels));
  const shown = [...texts.join(' ').matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)];
  return shown.map(([, label]) => label as string).filter((label) => !kept.has(label));
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly datasource: { readonly uid: string };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { name: string; type: string; query: unknown }[] };
}

describe('the dashboard', () => {
  const { panels, templating } = JSON.parse(read('docs/observability/dashboard.json')) as Dashboard;
  // What Grafana puts in before Prometheus sees it.
  const queryOf = (expr: string): string => expr.replaceAll('$__rate_interval', '5m');
  const targets = panels.flatMap((panel) => panel.targets.map((target) => ({ title: panel.title, ...target })));

  it.for(targets)('$title: $legendFormat', ({ expr, legendFormat }) => {
    const query = queryOf(expr);
    expect(faultsOf(query)).toEqual([]);
    expect(lostLabels(query, legendFormat)).toEqual([]);
  });

  it('asks for the data source, and offers the jobs and policies that there are', () => {
    expect(templating.list.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'datasource datasource',
      'job query',
      'policy query',
    ]);
    for (const { query, type } of templating.list) {
      if (type !== 'query') continue;
      const [, selector, label] = /^label_values\((.*), (\w+)\)$/.exec((query as { query: string }).query) ?? [];
      expect(faultsOf(`sum by (${label}) (${selector})`)).toEqual([]);
    }
    expect(new Set(panels.map(({ datasource }) => datasource.uid))).toEqual(new Set(['${datasource}']));
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  it('shows each metric of the page', () => {
    const shown = targets.flatMap(({ expr }) => usesOf(queryOf(expr)).map(({ metric }) => metric));
    const names = [...new Set(samples.filter(({ name }) => shown.some((metric) => metric.test(name))).map(metricName))];
    expect(names.toSorted()).toEqual([...documented.keys()].toSorted());
  });

  function metricName({ name }: Sample): string {
    return metricOf(name);
  }
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

describe('the alert rules', () => {
  const { groups } = parse(read('docs/observability/alerts.yaml')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);

  it.for(rules)('$alert', ({ expr, labels, annotations: { summary, description }, ...rule }) => {
    expect(faultsOf(expr)).toEqual([]);
    expect(lostLabels(expr, summary, description)).toEqual([]);
    expect(['info', 'warning', 'critical']).toContain(labels.severity);
    expect(rule.for ?? '0m').toMatch(/^\d+m$/);
  });

  it('are those of the page', () => {
    expect(rules.map(({ alert }) => alert)).toEqual(tableOf('alert').map(([alert]) => codesIn(alert)[0]));
  });
});

describe('a query that is wrong', () => {
  it.each([
    ['rate(ratelimit_decision_total[5m])', 'no metric ^(ratelimit_decision_total)$'],
    ['ratelimit_denied_total{key="x"}', 'no label key on'],
    ['sum by (user) (ratelimit_denied_total)', 'no label user on'],
    ['a / on (path) ratelimit_denied_total', 'no label path on'],
    ['ratelimit_decisions_total{outcome="refused-by-me"}', 'no outcome refused-by-me'],
    ['ratelimit_warnings_total{code=~"store-evicts|store-evict"}', 'no code store-evict'],
  ])('is found: %s', (query, fault) => {
    expect(faultsOf(query).join()).toContain(fault);
  });

  it.each(['sum(rate(a[)', 'sum(', '1', ''])('is no query: %s', (query) => {
    expect(() => usesOf(query)).toThrow(/Not PromQL|asks for no metric/);
  });
});

describe('the page', () => {
  it('names each attribute of spans', () => {
    const names = (source: string): string[] => [...new Set(source.match(/ratelimit\.[a-z]+/g))].toSorted();
    const spans = page.slice(page.indexOf('## Spans'));
    expect(names(spans)).toEqual(names(read('packages/core/src/telemetry/span.ts')));
  });
});
