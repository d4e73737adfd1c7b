import { type RequestFacts, type RequestTls, RequestView } from '../../../../src/expression/cel/value-view.ts';

interface Given {
  id?: string;
  method?: string;
  path?: string;
  host?: string;
  scheme?: 'http' | 'https';
  clientIp?: string;
  query?: string;
  headers?: Readonly<Record<string, string>>;
  tls?: RequestTls;
  body?: string;
}

/** A view of `GET http://shop.test/` with what is given instead. */
export function aRequest({ headers = {}, body, ...given }: Given = {}): RequestView {
  const facts: RequestFacts = {
    id: '01890a5d-ac96-774b-bcce-b302099a8057',
    method: 'GET',
    path: '/',
    host: 'shop.test',
    scheme: 'http',
    clientIp: '192.0.2.1',
    query: '',
    header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
    headers: () => Object.entries(headers),
    ...given,
  };
  const view = new RequestView(facts);
  if (body !== undefined) view.attachBody({ raw: body, whole: true });
  return view;
}
