// Names of the cluster, as its DNS would answer them: Services by the addresses of their ready endpoints, for there are no
// ClusterIPs, and pods of StatefulSets below the Service that governs them.
import { createSocket } from 'node:dgram';

const TYPE_A = 1;
const NAME_ERROR = 3;

export class ClusterDns {
  #api;
  #addressOfPod;

  /** addressOfPod: returns the address of a pod by namespace, name and subdomain, from when it has one. */
  constructor({ api, addressOfPod }) {
    this.#api = api;
    this.#addressOfPod = addressOfPod;
  }

  listen(address) {
    const socket = createSocket('udp4');
    socket.on('message', async (query, from) => {
      const { name, type, end } = questionOf(query);
      const addresses = await this.#resolve(name).catch(() => undefined);
      socket.send(
        answerTo(query.subarray(0, end), type === TYPE_A ? addresses : addresses && []),
        from.port,
        from.address,
      );
    });
    socket.bind(53, address);
  }

  /** Returns the addresses of a name; undefined when there is no such name. */
  async #resolve(name) {
    const parts = name.replace(/\.cluster\.local$/, '').split('.');
    if (parts.at(-1) !== 'svc' || (parts.length !== 3 && parts.length !== 4)) return undefined;
    const [namespace, service, pod] = parts.slice(0, -1).reverse();
    if (pod !== undefined) {
      const address = this.#addressOfPod(namespace, pod, service);
      return address === undefined ? undefined : [address];
    }
    await this.#api.get(`/api/v1/namespaces/${namespace}/services/${service}`);
    const selector = encodeURIComponent(`kubernetes.io/service-name=${service}`);
    const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=${selector}`;
    const { items } = await this.#api.get(slices);
    const endpoints = items.flatMap((slice) => slice.endpoints ?? []);
    return endpoints.flatMap(({ addresses, conditions }) => (conditions?.ready === false ? [] : addresses));
  }
}

function questionOf(query) {
  const labels = [];
  let at = 12;
  for (let length = query[at]; length > 0; length = query[at]) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** Answer to a query of one question (RFC 1035 §4.1), cut off behind it. */
function answerTo(query, addresses) {
  const header = Buffer.from(query);
  header.writeUInt16BE(addresses === undefined ? 0x8580 | NAME_ERROR : 0x8580, 2);
  for (const [at, count] of [
    [4, 1],
    [6, addresses?.length ?? 0],
    [8, 0],
    [10, 0],
  ])
    header.writeUInt16BE(count, at);
  const records = (addresses ?? []).map((address) =>
    // Pointer to the name of the question, type A, class IN, for a second, four bytes.
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([header, ...records]);
}
