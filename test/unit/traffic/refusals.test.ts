// Refusals: errors of the proxy itself of which the request is at fault, such as no route.
import { expect } from 'chai';
import { reportOf } from '../../../src/fleet/peer-messages.ts';
import { TrafficCell } from '../../../src/model/traffic-cells.ts';
import { noTraffic } from '../../../src/model/traffic-windows.ts';
import { Figures, sumOfFigures } from '../../../src/proxy/shared/figures.ts';
import { cellOfWindow, totalSince } from '../../../src/traffic/traffic-totals.ts';

describe('a refusal of the proxy', () => {
  const figuresOf = (status: number, isProxyError: boolean) => {
    const cell = new TrafficCell();
    cell.count(status, isProxyError, 0, 1);
    const { errorRate, clientErrorRate } = cell.figures(1);
    return [errorRate, clientErrorRate];
  };

  it('is an error of the client in the traffic of routes, and any other error of the proxy is one of the server', () => {
    expect(figuresOf(404, true)).to.deep.equal([0, 1]);
    expect(figuresOf(404, false)).to.deep.equal([0, 1]);
    expect(figuresOf(502, true)).to.deep.equal([1, 0]);
    expect(figuresOf(200, true), 'a response that broke off').to.deep.equal([1, 0]);
    expect(figuresOf(200, false)).to.deep.equal([0, 0]);
  });

  it('is an error of the client in the total, and stays an error of the proxy for guards', () => {
    const figures = new Figures();
    figures.count('stable', 404, true, 1);
    figures.count('stable', 404, false, 1);
    figures.count('stable', 503, true, 1);
    figures.count('stable', 500, false, 1);
    const now = sumOfFigures([figures.read('stable'), new Figures().read('stable')]);
    expect(now).to.include({ requests: 4, serverErrors: 1, clientErrors: 1, proxyErrors: 2, refusals: 1 });
    const [requests, clientErrors, errors] = totalSince(
      { stable: now, candidate: noTraffic },
      { stable: noTraffic, candidate: noTraffic },
    );
    expect([requests, clientErrors, errors]).to.deep.equal([4, 2, 2]);
  });

  it('is one in a report of a proxy, where a proxy of an earlier version tells none', () => {
    const window = { of: 'stable', rollout: null, requests: 9, serverErrors: 1, clientErrors: 2, proxyErrors: 4 };
    const read = (more: object) => {
      const [found = noTraffic] = reportOf({ token: 't', boot: 'b', window: [{ ...window, ...more }] }).window;
      return cellOfWindow(found).slice(0, 3);
    };
    expect(read({ refusals: 3 })).to.deep.equal([9, 5, 2]);
    expect(read({})).to.deep.equal([9, 2, 5]);
    expect(read({ proxyErrors: 0, refusals: 1 }), 'read between its two counts').to.deep.equal([9, 3, 1]);
    expect(read({ refusals: null })).to.deep.equal([9, 2, 5]);
    expect(() => read({ refusals: -1 })).to.throw('/window/0/refusals must be a non-negative integer');
  });
});
