// Requests as browsers send them, none like another: a script of wrk's that makes them before the clock runs. Paths go
// over 1,000 routes; query, cookies, referrer and request id differ; the rest of the head is of one of five browsers.

/** Number of different requests, after which the first comes again. */
const requests = 20_000;

export const variedRequests = `
local agents = {
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
  "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1",
}
local made = {}
local at = 0
local seed = 12345
local function random(below)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return math.floor(seed / 65536) % below
end
local function hex(digits)
  local text = {}
  for i = 1, digits do text[i] = string.format("%x", random(16)) end
  return table.concat(text)
end
init = function(args)
  for i = 1, ${requests} do
    local path = "/service-" .. random(1000) .. "/api/items/" .. i .. "?page=" .. random(50) .. "&q=term-" .. hex(6) .. "&sort=price"
    made[i] = "GET " .. path .. " HTTP/1.1\\r\\n"
      .. "Host: " .. wrk.host .. ":" .. wrk.port .. "\\r\\n"
      .. "Connection: keep-alive\\r\\n"
      .. "Cache-Control: max-age=0\\r\\n"
      .. 'sec-ch-ua: "Not/A)Brand";v="8", "Chromium";v="126"\\r\\n'
      .. "sec-ch-ua-mobile: ?0\\r\\n"
      .. 'sec-ch-ua-platform: "Linux"\\r\\n'
      .. "Upgrade-Insecure-Requests: 1\\r\\n"
      .. "User-Agent: " .. agents[1 + random(5)] .. "\\r\\n"
      .. "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\\r\\n"
      .. "X-Request-Id: " .. hex(8) .. "-" .. hex(4) .. "-4" .. hex(3) .. "-a" .. hex(3) .. "-" .. hex(12) .. "\\r\\n"
      .. "Sec-Fetch-Site: same-origin\\r\\n"
      .. "Sec-Fetch-Mode: navigate\\r\\n"
      .. "Sec-Fetch-Dest: document\\r\\n"
      .. "Referer: https://shop.test/list/" .. hex(5) .. "\\r\\n"
      .. "Accept-Encoding: gzip, deflate, br, zstd\\r\\n"
      .. "Accept-Language: en-GB,en;q=0.9,de;q=0.8\\r\\n"
      .. "Cookie: session=" .. hex(32) .. "; theme=dark; _ga=GA1.1." .. random(1000000000) .. "; cart=" .. hex(12) .. "\\r\\n"
      .. "\\r\\n"
  end
end
request = function()
  at = at % ${requests} + 1
  return made[at]
end
`;
