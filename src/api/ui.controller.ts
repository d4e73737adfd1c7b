// The dashboard: one document for every address of a page, and its assets, named by their content. Readable without a key,
// under a policy that lets it run, load and ask nothing but what is here (contract.md §3.9).
import { Controller, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { contents } from '../../program/disk.ts';
import { SluiceError } from '../errors.ts';
import { Operation } from '../resources/operation.ts';
import { acceptsBrotli } from './brotli.ts';

const reading = { right: 'none', summary: 'Read the dashboard' } as const;

/** Pages of the dashboard by the last segment of their address. */
export const uiPages: readonly string[] = [
  ...[
    '',
    'overview',
    'topology',
    'routes',
    'destinations',
    'middlewares',
    'consumers',
    'listeners',
    'groups',
    'staged',
    'snapshots',
  ],
  ...['rollout', 'explain', 'requests', 'fleet', 'cluster', 'secrets', 'keys', 'log-levels'],
];

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'; " +
  "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'";

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

const document = 'index.html';

@ApiExcludeController()
@Controller()
export class UiController {
  #names: ReadonlySet<string> | undefined;

  /** Relative, so that it leads there behind a path prefix too. */
  @Operation({ id: 'redirectToDashboard', method: 'GET', path: '', ...reading })
  root(@Res() reply: FastifyReply): void {
    reply.redirect('./ui/', 302);
  }

  @Operation({ id: 'redirectToUi', method: 'GET', path: '/ui', ...reading })
  redirect(@Res() reply: FastifyReply): void {
    reply.redirect('./ui/', 301);
  }

  @Operation({ id: 'getDashboard', method: 'GET', path: '/ui/*', ...reading })
  async file(@Param('*') rest: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const names = await this.#listed();
    const name = uiPages.includes(rest) ? document : rest;
    const isServed = names.has(name) && types[extensionOf(name)] !== undefined;
    if (!isServed || rest === document) throw new SluiceError('NOT_FOUND', missing(names, request.url));
    const isCompressed = names.has(`${name}.br`) && acceptsBrotli(request.headers['accept-encoding']);
    const bytes = await contents.uiFile(isCompressed ? `${name}.br` : name);
    reply
      .headers({
        'Content-Type': types[extensionOf(name)],
        'Content-Security-Policy': policy,
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
        'Cache-Control': name === document ? 'no-cache' : 'public, max-age=31536000, immutable',
        Vary: 'Accept-Encoding',
        ...(isCompressed && { 'Content-Encoding': 'br' }),
      })
      .send(bytes);
  }

  async #listed(): Promise<ReadonlySet<string>> {
    if (this.#names !== undefined) return this.#names;
    try {
      const list = JSON.parse((await contents.uiFile('ui.json')).toString('utf8')) as string[];
      this.#names = new Set(list);
      return this.#names;
    } catch {
      return new Set();
    }
  }
}

const missing = (names: ReadonlySet<string>, url: string): string =>
  names.size === 0 ? 'the dashboard is not built: run npm run build' : `no such path: ${url}`;

const extensionOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
