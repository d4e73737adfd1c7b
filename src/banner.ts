// Banner of a started process: addresses, and a first command to try.
import type { ControlPlane } from './control-plane.ts';

export function banner({ version, controlPlane }: { version: string; controlPlane: ControlPlane }): string {
  const { url, storePath, activeSnapshot } = controlPlane;
  const curl = url.startsWith('https') ? 'curl -sk' : 'curl -s';
  const isProtected = controlPlane.hasApiKeys ? " -H 'Authorization: Bearer <key>'" : '';
  const live =
    activeSnapshot === undefined
      ? 'nothing is active yet, so nothing is proxied'
      : `snapshot ${activeSnapshot} is active`;
  return `
  Sluice ${version}

    Dashboard  ${url}/ui/
    API        ${url}/api/v1
    Explorer   ${url}/api/v1/docs/
    Store      ${storePath}
    Proxy      ${live}

  Try next (the README walks on from here to a proxied request and a rollback):

    ${curl}${isProtected} ${url}/api/v1/routes
    ${curl}${isProtected} ${url}/api/v1/routes -d '{"name":"hello","match":{"path":"/hello"},"directResponse":{"status":200,"body":"hello\\n"}}'

  Ctrl-C stops.

`;
}
