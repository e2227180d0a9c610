import { entryOf, invalid } from '../options.ts';
import { covers, foldCase, isClean, PARAM, REST, type Segment, toSegments } from './route-path.ts';

/** What one key of a route table says. */
export interface RouteKey {
  /** Empty: all methods. */
  readonly methods: readonly string[];
  /** In the one case that paths are compared in. */
  readonly pattern: readonly Segment[];
  /** Whether a path is spelt exactly as the key. */
  isExact(path: string): boolean;
}

const FORMS = "'*', '/path' or 'METHOD /path'";
const NO_ODD_SEGMENTS = 'a path without empty and dot segments';
const METHODS = /^[A-Z][A-Z\d-]*(?:\|[A-Z][A-Z\d-]*)*$/;
/** Besides control characters: what has a meaning in URLs, or in the patterns of some framework. */
// oxlint-disable-next-line no-control-regex -- these are what it looks for
const NOT_LITERAL = /[\x00-\x1F\x7F%?#\\*:;+(){}[\]^|<>"`]|^\s|\s$/;

/** The name of an entry in errors. */
export function optionOf(key: string): string {
  return entryOf('routes', key);
}

/** @throws ConfigError when the key is none of the forms, or has something in it that would never match as it looks */
export function parseRouteKey(key: string): RouteKey {
  const refuse = (rule: string): never => invalid(optionOf(key), rule, key);
  const hasMethods = !/^[/*]/.test(key);
  const space = hasMethods ? key.indexOf(' ') : -1;
  if (key.includes('://')) refuse('a path, without scheme and host');
  if (hasMethods && space === -1) refuse(FORMS);
  const methods = hasMethods ? parseMethods(key.slice(0, space), refuse) : [];
  const path = key.slice(space + 1);
  if (path === '*') return { methods, pattern: [REST], isExact: isClean };
  if (!path.startsWith('/'))
    refuse(hasMethods ? "methods and, after one space, '*' or a path from its first slash" : FORMS);

  if (path.includes('//')) refuse(NO_ODD_SEGMENTS);
  const texts = toSegments(path);
  const exact = texts.map((text, i) => parseSegment(text, i === texts.length - 1 && !path.endsWith('*/'), refuse));
  const pattern = exact.map((segment) => (typeof segment === 'string' ? foldCase(segment) : segment));
  const hasSlash = path.endsWith('/');
  const isOpen = exact.at(-1) === REST;
  return {
    methods,
    pattern,
    isExact: (sent) => isClean(sent) && (isOpen || sent.endsWith('/') === hasSlash) && covers(exact, toSegments(sent)),
  };
}

function parseMethods(text: string, refuse: (rule: string) => never): readonly string[] {
  if (!METHODS.test(text)) refuse(`${FORMS}, with methods in upper case, joined by |`);
  const methods = text.split('|');
  // Of routers, and no methods: such an entry would be a limit that is not there.
  if (methods.some((method) => ['ALL', 'ANY', 'USE'].includes(method))) refuse('without methods where it is for all');
  if (methods.includes('HEAD')) refuse('for other methods than HEAD, which counts as GET');
  return methods;
}

function parseSegment(text: string, isLast: boolean, refuse: (rule: string) => never): Segment {
  if (text === '*') return isLast ? REST : refuse('a path with * at its end only');
  if (text.startsWith(':'))
    return /^:\w+$/.test(text) ? PARAM : refuse('a path whose parameters are whole segments, as in /:name');
  if (text === '.' || text === '..') refuse(NO_ODD_SEGMENTS);
  if (text.includes('%')) refuse('a path as it reads when it is decoded');
  if (NOT_LITERAL.test(text)) refuse('a path of plain text, :parameters and a * at its end');
  return text;
}
