import { aRequest } from './request-facts.ts';

/** The request that they are asked about. */
export const mixedRequest = aRequest({
  method: 'POST',
  path: '/api/v1/orders/42',
  query: 'page=2&q=shoes',
  headers: { 'x-tenant': 'a', 'x-roles': 'admin,ops', 'content-type': 'application/json' },
});

/** What people write: ten conditions in five variants each. */
export const mixedExpressions: readonly string[] = Array.from({ length: 5 }, (_, i) => [
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
