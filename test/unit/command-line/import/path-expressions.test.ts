// Expressions of paths with alternatives: the caret at the beginning is that of the first one alone.
import { expect } from 'chai';
import { importFiles } from '../../../../src/command-line/import/importers.ts';
import type { Program } from '../../../../src/command-line/import/programs.ts';
import { compileRegex } from '../../../../src/expression/regex.ts';

/** Files with a route for an expression. */
const files: Readonly<Record<string, (pattern: string) => string>> = {
  nginx: (pattern) =>
    `server { listen 8081; location / { proxy_pass http://10.0.0.1; } location ~ "${pattern}" { return 403; } }`,
  caddy: (pattern) => {
    const routes = [
      { match: [{ path_regexp: { pattern } }], handle: [{ handler: 'static_response', status_code: 403 }] },
    ];
    return JSON.stringify({ apps: { http: { servers: { s: { listen: [':8081'], routes } } } } });
  },
  traefik: (pattern) =>
    JSON.stringify({
      http: {
        routers: { r: { rule: `PathRegexp(\`${pattern}\`)`, service: 's' } },
        services: { s: { loadBalancer: { servers: [{ url: 'http://10.0.0.1' }] } } },
      },
    }),
  'ingress-nginx': (pattern) => `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: i, annotations: { nginx.ingress.kubernetes.io/use-regex: "true" } }
spec: { rules: [{ host: a.test, http: { paths: [{ path: '${pattern}', pathType: ImplementationSpecific, backend: { service: { name: s, port: { number: 80 } } } }] } }] }
`,
};

describe('an expression of paths with alternatives', () => {
  for (const [program, text] of Object.entries(files))
    it(`of ${program} matches what the program matches`, async () => {
      const matches = async (pattern: string): Promise<readonly boolean[]> => {
        const { resources } = await importFiles(program as Program, [{ name: 'file', text: text(pattern) }]);
        const regexes = resources.flatMap(({ fields }) => (fields.match as { pathRegex?: string })?.pathRegex ?? []);
        expect(regexes, pattern).to.have.lengthOf(1);
        const regex = compileRegex(`^(?:${regexes[0]})`);
        return ['/admin/x', '/x/admin', '/x/login.php'].map((path) => regex.test(path));
      };
      expect(await matches('^/admin|/login[|]?[.]php')).to.deep.equal([true, false, true]);
      expect(await matches('^/(?:admin|login[.]php)')).to.deep.equal([true, false, false]);
    });
});
