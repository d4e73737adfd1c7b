import { expect } from 'chai';
import { compileCel } from '../../../../src/expression/cel/program.ts';
import { aRequest } from './request-facts.ts';

const view = aRequest({
  method: 'POST',
  path: '/api/v1/orders/42',
  query: 'page=2&q=shoes',
  headers: { 'x-tenant': 'a', 'x-roles': 'admin,ops', 'content-type': 'application/json' },
});

/** What people write: ten conditions in five variants each. */
const sources = Array.from({ length: 5 }, (_, i) => [
  `request.method == "POST" && request.path.startsWith("/api/v${i}")`,
  `request.headers["x-tenant"] == "${i}"`,
  `request.headers["x-none-${i}"] == "a"`,
  `has(request.headers.authorization) || request.method == "M${i}"`,
  `request.queryParams["page"] == "${i}"`,
  `request.path.matches("^/api/v[0-9]+/orders/${i}")`,
  `request.host in ["a${i}.test", "shop.test"]`,
  `!(request.scheme == "https") && request.clientIp != "10.0.0.${i}"`,
  `int(request.queryParams["page"]) > ${i}`,
  `request.headers["x-roles"].split(",").exists(r, r == "role-${i}")`,
]).flat();

describe('fifty mixed expressions', () => {
  const programs = sources.map((source) => compileCel(source, 'request', 'bool'));

  it('take less than 5 µs of CPU each', () => {
    const passes = 400;
    const pass = (): number => programs.filter((program) => program.test(view)).length;
    const agreed = pass();
    for (let i = 0; i < passes; i++) pass();
    const before = process.threadCpuUsage();
    for (let i = 0; i < passes; i++) expect(pass()).to.equal(agreed);
    const { user, system } = process.threadCpuUsage(before);
    expect(agreed).to.be.within(5, 45);
    expect((user + system) / passes / programs.length).to.be.below(5);
  });
});
