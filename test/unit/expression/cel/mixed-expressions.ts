import { aRequest } from './request-facts.ts';

/** Requests of one connection: each answers some of the conditions and not others. */
export const mixedRequests = Array.from({ length: 8 }, (_, i) =>
  aRequest({
    method: i % 2 === 0 ? 'POST' : 'GET',
    path: `/api/v${i % 5}/orders/4${i}`,
    query: `page=${i}&q=shoes`,
    headers: {
      'x-tenant': `${i % 5}`,
      'x-roles': `admin,ops,role-${i}`,
      'content-type': 'application/json',
      ...(i % 3 === 0 ? { authorization: 'Bearer x' } : {}),
    },
  }),
);

/** Typical expressions of users: ten conditions in five variants each. */
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
