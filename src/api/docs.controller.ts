// The API explorer: a page, its assets from swagger-ui-dist, and the OpenAPI document it shows. Everything comes from
// this server, under a content security policy that lets it talk to nothing else.
import { Controller, Inject, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { contents } from '../../program/disk.ts';
import { SluiceError } from '../errors.ts';
import { send } from '../resources/http-exchange.ts';
import { Operation } from '../resources/operation.ts';
import { apiBase, documentPath, explorerPath } from './api-paths.ts';
import { OpenApiText } from './openapi-text.ts';

const base = `${apiBase}${explorerPath}`;
const right = 'none';
const reading = { right, summary: 'Read the API documentation' } as const;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Sluice API</title>
<link rel="icon" href="favicon-32x32.png">
<link rel="stylesheet" href="swagger-ui.css">
</head>
<body>
<div id="explorer"></div>
<script src="swagger-ui-bundle.js"></script>
<script src="explorer.js"></script>
</body>
</html>
`;

const script = `SwaggerUIBundle({ url: 'doc.json', dom_id: '#explorer', deepLinking: true });
`;

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const own: Readonly<Record<string, { readonly type: string; readonly text: string }>> = {
  '': { type: 'text/html; charset=utf-8', text: page },
  'explorer.js': { type: 'text/javascript; charset=utf-8', text: script },
};

const packaged: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Pattern of the paths below `base`, in the form of the router, for the list of known paths. */
export const docsPattern = `${base}*`;
export const docsFiles: ReadonlySet<string> = new Set([...Object.keys(own), ...Object.keys(packaged)]);
/** Paths of the page and of all that it loads. */
export const docsPaths: readonly string[] = [
  base.slice(0, -1),
  `${apiBase}${documentPath}`,
  ...[...docsFiles].map((file) => base + file),
];

@ApiExcludeController()
@Controller('api/v1')
export class DocsController {
  readonly #document: OpenApiText;

  constructor(@Inject(OpenApiText) document: OpenApiText) {
    this.#document = document;
  }

  @Operation({ id: 'redirectToDocs', method: 'GET', path: explorerPath.slice(0, -1), ...reading })
  redirect(@Res() reply: FastifyReply): void {
    reply.redirect(base, 301);
  }

  @Operation({ id: 'getDocument', method: 'GET', path: documentPath, ...reading })
  document(@Res() reply: FastifyReply): void {
    send(reply, { status: 200, headers: {}, body: this.#document.text });
  }

  @Operation({ id: 'getDocs', method: 'GET', path: `${explorerPath}*`, ...reading })
  async asset(@Param('*') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const asset = await find(name);
    if (asset === undefined) throw new SluiceError('NOT_FOUND', `no such path: ${request.url}`);
    reply
      .headers({
        'Content-Type': asset.type,
        'Content-Security-Policy': policy,
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
      })
      .send(asset.bytes);
  }
}

async function find(name: string): Promise<{ type: string; bytes: Buffer } | undefined> {
  const made = Object.hasOwn(own, name) ? own[name] : undefined;
  if (made !== undefined) return { type: made.type, bytes: Buffer.from(made.text) };
  const type = Object.hasOwn(packaged, name) ? packaged[name] : undefined;
  if (type === undefined) return undefined;
  return { type, bytes: await contents.explorerFile(name) };
}
