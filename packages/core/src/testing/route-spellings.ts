/** Spellings of a path of one segment, by which one server or another reaches it, and some by which none does. */
export function spellingsOf(name: string): readonly string[] {
  const [first = ''] = name;
  const rest = name.slice(1);
  const encoded = encode(first);
  return [
    `/${name}`,
    `/${name}/`,
    `/${name}//`,
    `/${name.toUpperCase()}`,
    `/${first.toUpperCase()}${rest}/`,
    `//${name}`,
    `///${name}//`,
    `/./${name}`,
    `/${name}/.`,
    `/x/../${name}`,
    `/x/..//${name}`,
    `/../${name}`,
    `/${name}/../${name}`,
    `/${encoded}${rest}`,
    `/${encoded.toUpperCase()}${rest}/`,
    `/${encode(first.toUpperCase())}${rest}`,
    `/${Array.from(name, encode).join('')}`,
    `/%25${encoded.slice(1)}${rest}`,
    `/%2e/${name}`,
    `/%2E%2e/${name}`,
    `/x/%2e%2e/${name}`,
    `/x%2f..%2f${name}`,
    `/%2f${name}`,
    `/${name}%2f`,
    `/${name}%00`,
    `/${name}%20`,
    `/${name}%ff`,
    `/${name}%`,
    `/${name}%3Fx`,
    `/${name}%3Bx`,
    `/${name}%5c`,
    `/${name};a=b`,
    `/;x/${name}`,
    `/${name}?x=1`,
    `/${name}/?x`,
    `/${name}??/health`,
    `/${name}?/../health`,
    `/${name}#x`,
    `/${name}.`,
    `\\${name}`,
    `/\\${name}`,
    `/x\\..\\${name}`,
    `/${name}\\`,
    `http://host/${name}`,
    `HTTP://host/${name}/`,
    `http://host\\${name}`,
    `http://host//${name}`,
    `http://user@host:80/x/../${name}`,
    `http://host?x/${name}`,
    `https://host/${encoded}${rest}?x`,
    name,
    `*${name}`,
    `*/${name}`,
    `/\u00E9/../${name}`,
    `/${name}\u00E9`,
  ];
}

/** Of users, one of whom has the id `health`. */
export const USERS: readonly string[] = [
  '/users/health',
  '/users/7',
  '/Users/7/',
  '/users/%37',
  '//users/7',
  '/users//7',
  '/users/a%2Fb',
  '/users/.%2e',
  '/users/7;x',
];

/** Of the user that has a limit of its own. */
export const ME: readonly string[] = [
  '/users/me',
  '/USERS/Me/',
  '/users/%6De',
  '/users/m%65/',
  '/%75sers/me',
  '/users/me?x',
  '/users/x/../me',
  '/users/./me',
  '/users//me',
  '/users/me%2f',
  '/users\\me',
  'http://host/users/me',
  'http://host?x/users/me',
  'http://host#x/users/me',
  '*users/me',
  '/users/me;x',
  '/users/%6D%65//',
];

/** Of what is below `/static`, and is not to be free. */
export const ADMIN: readonly string[] = [
  '/static/admin',
  '/static/admin/',
  '/static/admin/x',
  '/static/ADMIN/x',
  '/static/%61dmin/x',
  '/static//admin/x',
  '/static/./admin/x',
  '/static/x/../admin/x',
  '/static/x%2f..%2fadmin/x',
  '/static/admin%2fx',
  '/static\\admin\\x',
  '/Static/admin/x',
  '/static/x/%2e%2e/admin',
  '/static/..%2fstatic%2fadmin%2fx',
  'http://host/static/admin/x',
  'http://host?x/static/admin/x',
  '*static/admin/x',
  '/static/admin;x/y',
];

function encode(char: string): string {
  return `%${char.charCodeAt(0).toString(16)}`;
}
