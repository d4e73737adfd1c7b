// Markup, scripts, directions, emoji and very long texts in every field of every kind, from the descriptors of the model, through
// every page of the dashboard: shown as text, and nothing runs. A real Chromium, a real Sluice.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { editableClasses } from '../../src/model/config-classes.ts';
import { type EditableKind, editableKinds } from '../../src/model/kinds.ts';
import { parseEntity } from '../../src/model/validation.ts';
import { pages } from '../../ui/lib/pages.ts';
import { apiClient } from '../support/api-client.ts';
import { samples } from '../support/bodies.ts';
import { browserPath, type OpenPage, TestBrowser } from '../support/browser.ts';
import { needs } from '../support/needs.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { bodyWith, type Path, stringPaths } from '../support/string-fields.ts';

/** Texts that set `owned` or open a dialog where they are taken for more, and texts that are hard to show. */
const corpus = [
  '<img src=x onerror="owned=1">',
  '"><script>owned=1</script>',
  "'-owned=1-'",
  '<svg onload=owned=1>',
  '<iframe srcdoc="<script>parent.owned=1</script>">',
  'javascript:owned=1',
  '{{constructor.constructor("owned=1")()}}',
  '</textarea><script>owned=1</script>',
  '</title><img src=x onerror=alert(1)>',
  '<a href="javascript:owned=1" autofocus onfocus=owned=1>x</a>',
  '<style>@import "//evil.test/x";*{display:none}</style>',
  '<base href="//evil.test/">',
  '<meta http-equiv="refresh" content="0;url=javascript:owned=1">',
  '\u202egnol\u202c مرحبا \u2066x',
  '🦊👩‍👩‍👧‍👦\u0301',
  'раураl',
  '${owned=1}`${owned=1}`',
  `${'x'.repeat(9_990)}<b>long</b>`,
  // For fields that take little else.
  '/<img-src=x-onerror=owned=1>',
  '"<img src=x onerror=owned=1>" == ""',
  'https://evil.test/<script>owned=1</script>',
  'owned-1',
];

type Body = Record<string, unknown>;

/** Paths of the texts within a value. */
function leavesOf(value: unknown, at: Path = []): Path[] {
  if (typeof value === 'string') return [at];
  if (Array.isArray(value)) return value.flatMap((each, place) => leavesOf(each, [...at, place]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => leavesOf(each, [...at, name]));
}

const holderOf = (body: Body, path: Path): Body =>
  path.slice(0, -1).reduce<Body>((holder, step) => holder[step] as Body, body);

let turn = 0;

/** Puts the first text of the corpus that the field takes there; returns it. Undefined: it takes none, and stays. */
function fill(kind: EditableKind, body: Body, path: Path): string | undefined {
  const holder = holderOf(body, path);
  const last = path.at(-1) ?? '';
  const before = holder[last];
  turn++;
  for (let at = 0; at < corpus.length; at++) {
    const text = corpus[(turn + at) % corpus.length] ?? '';
    holder[last] = text;
    if (parseEntity(kind, body).problems.length === 0) return text;
  }
  holder[last] = before;
  return undefined;
}

/** Shape of a path: the same for all places of a list and all keys of a map. */
const shapeOf = (kind: EditableKind, path: Path): string =>
  path
    .map((step) => (typeof step === 'number' ? '*' : step))
    .join('/')
    .replace(/^(labels|middlewareOverrides)\/[^/]+/, '$1/*')
    .concat(` of ${kind}`);

/** Files are no text to be shown: the API takes those alone that the settings permit. */
function withoutFiles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFiles);
  if (typeof value !== 'object' || value === null) return value;
  const body = value as Body;
  if ('file' in body) return { text: 'stored' };
  if (typeof body.accessLog === 'object') return { ...body, accessLog: { ...body.accessLog, path: 'stdout' } };
  return Object.fromEntries(Object.entries(body).map(([name, each]) => [name, withoutFiles(each)]));
}

interface Filled {
  readonly kind: EditableKind;
  readonly id: string;
  readonly body: Body;
  readonly texts: readonly string[];
}

/** Bodies of a kind in which every field that takes one of the texts has one. */
function filledOf(kind: EditableKind): Filled[] {
  const covered = new Set<string>();
  const made: Filled[] = [];
  const add = (sample: Body): void => {
    const { id: _, ...body } = withoutFiles(structuredClone(sample)) as Body;
    // Names are unique within their kind.
    body.name = `${corpus[made.length % corpus.length]} ${made.length}`;
    const texts = [body.name as string];
    for (const path of leavesOf(body)) {
      if (path[0] === 'name' || (path[0] === 'accessLog' && path.at(-1) === 'path')) continue;
      const text = fill(kind, body, path);
      covered.add(shapeOf(kind, path));
      if (text !== undefined) texts.push(text);
    }
    made.push({ kind, id: `${kind}-${made.length}`, body, texts });
  };
  for (const sample of samples[kind]) add(sample as Body);
  for (const path of stringPaths(editableClasses[kind])) {
    if (covered.has(shapeOf(kind, path))) continue;
    add(bodyWith(kind, path, '{{secret:value:walk}}'));
  }
  return made;
}

const slugOf = (kind: EditableKind): string => (kind === 'streamRoutes' ? 'routes' : kind);
const baseOf = (kind: EditableKind): string => (kind === 'streamRoutes' ? 'kind=streamRoutes&' : '');

describe('markup in every field of every kind', function () {
  this.timeout(600_000);
  let browser: TestBrowser;
  let sluice: SluiceProcess;
  let opened: OpenPage;
  let page: Page;
  const all = editableKinds.flatMap(filledOf);
  const dialogs: string[] = [];

  before(async function () {
    needs(this, browserPath);
    [browser, sluice] = await Promise.all([TestBrowser.start(), startSluice({ more: 'proxy: { workers: 1 }\n' })]);
    const api = apiClient(sluice.url);
    await api.create('routes', { id: 'routes-0', name: 'before', directResponse: { status: 200 } });
    await api.create('groups', { id: 'groups-0', name: 'before' });
    const snapshot = await api.create('snapshots', { name: `${corpus[0]} ${corpus[13]}` });
    await api.post(`/snapshots/${snapshot}/activate`, { comment: corpus[1] });
    opened = await browser.open(`${sluice.url}/ui/`);
    page = opened.page;
    // Examples and filters that are no URL and no expression, and destinations that are not there.
    opened.expected.add(400).add(404);
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  });
  after(async () => {
    await opened?.close();
    await browser?.stop();
    await sluice?.stop();
  });

  /** Goes on within the page, as a link does. */
  async function go(address: string, heading: string): Promise<void> {
    await page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(`/ui/${address}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    await page.getByText('Loading …').first().waitFor({ state: 'detached' });
    expect(await harm(), address).to.deep.equal([]);
  }

  /** Signs of scripts that ran, and parts of the document that are no text. */
  const harm = async (): Promise<string[]> => [...dialogs, ...(await page.evaluate<string[]>(watcher))];

  const heading = ({ name }: Body) =>
    page.getByRole('heading', { level: 2, name: String(name).replace(/\s+/g, ' ') }).first();

  const titleOf = (kind: EditableKind): string => pages.find(({ slug }) => slug === slugOf(kind))?.title ?? '';

  it('fills most fields of text, and the API takes them', async () => {
    const api = apiClient(sluice.url);
    expect(all.flatMap(({ texts }) => texts).length).to.be.above(300);
    for (const { kind, id, body } of all) {
      const isThere = id === 'routes-0' || id === 'groups-0';
      const path = `/${kind}${isThere ? `/${id}` : ''}`;
      const { status, body: answer } = isThere ? await api.put(path, body) : await api.post(path, { id, ...body });
      expect(status, `${kind}: ${JSON.stringify(answer).slice(0, 400)}`).to.be.oneOf([200, 201]);
    }
  });

  it('does nothing on any page, nor on the page of any resource', async () => {
    for (const { slug, title } of pages) await go(slug, title);
    await go('routes?kind=streamRoutes', 'Routes');
    await go('staged', 'Staged');
    // Names with spaces of any kind at an end.
    await page.getByText(`${corpus[2]} 2`).first().waitFor();
    for (const { kind, id, body } of all) {
      await go(`${slugOf(kind)}?${baseOf(kind)}id=${id}`, titleOf(kind));
      await heading(body).waitFor();
      expect(await harm(), id).to.deep.equal([]);
    }
  });

  it('is shown whole in the form of each resource and in its YAML', async () => {
    for (const { kind, id, body, texts } of all) {
      await go(`${slugOf(kind)}?${baseOf(kind)}edit=${id}`, titleOf(kind));
      await heading(body).waitFor();
      await page.getByRole('button', { name: 'Save' }).waitFor();
      if (kind !== 'secrets' && kind !== 'consumers') {
        const values = await page.evaluate<string>(
          "[...document.querySelectorAll('main input, main textarea, main select')].map((one) => one.value).join('\\n')",
        );
        const missing = texts.filter(
          (text) => !values.includes(text) && !values.includes(JSON.stringify(text).slice(1, -1)),
        );
        expect(missing, id).to.deep.equal([]);
      }
      await page.getByRole('tab', { name: 'YAML' }).click();
      await page.getByRole('textbox', { name: 'YAML' }).waitFor();
      expect(await harm(), id).to.deep.equal([]);
    }
  });

  it('does nothing in answers about requests', async () => {
    await go(
      `explain?${new URLSearchParams({ url: `http://x.test/${corpus[0]}`, headers: `x-a: ${corpus[1]}` })}`,
      'Explain',
    );
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.getByRole('region', { name: 'Staged' }).waitFor();
    await go(`requests?${new URLSearchParams({ filter: String(corpus[0]) })}`, 'Requests');
    await page.getByRole('alert').first().waitFor();
    await go(`routes?${new URLSearchParams({ search: String(corpus[0]) })}`, 'Routes');
    expect(await harm()).to.deep.equal([]);
  });
});

/** Evaluated in the page: what it lists is no text. */
const watcher = `(() => {
  const found = [];
  if (typeof owned !== 'undefined') found.push('a script has run');
  if (!document.title.endsWith(' · Sluice')) found.push('title ' + document.title);
  for (const element of document.body.querySelectorAll('*')) {
    if (/^(IMG|SCRIPT|IFRAME|OBJECT|EMBED|STYLE|BASE|META|LINK|VIDEO|AUDIO)$/.test(element.tagName)) found.push(element.outerHTML.slice(0, 200));
    for (const { name, value } of element.attributes)
      if (/^on/i.test(name) || (/^(href|src|action)$/.test(name) && /^\\s*javascript:/i.test(value))) found.push(name + '=' + value);
  }
  return found;
})()`;
