-- Decides the limits of one or more requests in one atomic step: all limits of a request are charged, or none.
--
-- KEYS   the distinct keys of the batch
-- ARGV   as in common.lua; then 1 to decide or 0 to peek (charge and write nothing); number of requests; for each, in
--        the order of arrival: number of limits; for each: index of key, index of rule, cost
-- Reply  one flat array of integers, 7 per limit in the order of ARGV:
--        status (0 allowed, 1 exhausted, 2 blocked, 3 never), remaining, nextMs, resetMs, retryAfterMs (-1 for never),
--        delayMs, the time of the charge

local FIELDS = 7
local writes = nextInteger(0, 1) == 1
local requests = {}
for i = 1, nextInteger(0, MAX_SAFE_INTEGER) do
  local limits = {}
  for j = 1, nextInteger(0, MAX_SAFE_INTEGER) do
    limits[j] = { key = nextInteger(1, #KEYS), rule = rules[nextInteger(1, #rules)], cost = nextInteger(0, MAX_SAFE_INTEGER) }
  end
  requests[i] = limits
end

local reply = {}
for _, limits in ipairs(requests) do
  local first, allowed = #reply, true
  for i, limit in ipairs(limits) do
    local key, rule = limit.key, limit.rule
    local before = readHeld(key, rule)
    local status, remaining, nextMs, resetMs, retryAfterMs, delayMs, at, written = advance(before, rule, limit.cost, now)
    limit.before, limit.wasChanged, limit.written, limit.passed = before, changed[key], written, status == ALLOWED
    if written then writeHeld(key, rule, written) end
    if status ~= ALLOWED then allowed = false end
    local n = first + FIELDS * (i - 1)
    reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = status, remaining, nextMs, resetMs
    reply[n + 5], reply[n + 6], reply[n + 7] = retryAfterMs, delayMs, at
  end
  if not allowed or not writes then
    for i = #limits, 1, -1 do
      local limit = limits[i]
      helds[limit.key], changed[limit.key] = limit.before, limit.wasChanged
    end
    for i, limit in ipairs(limits) do
      if limit.passed or limit.written then
        -- A limit that would have passed reports its uncharged quota. What stays written of a request that charges
        -- nothing: a clock that was moved, a changed rate, a new block.
        local held = readHeld(limit.key, limit.rule)
        local _, remaining, nextMs, resetMs, _, _, _, read = advance(held, limit.rule, 0, now)
        if limit.passed then
          local n = first + FIELDS * (i - 1)
          reply[n + 2], reply[n + 3], reply[n + 4] = remaining, nextMs, resetMs
        elseif writes and limit.written.block then
          read = { state = (read or held).state, block = limit.written.block }
        end
        if read then writeHeld(limit.key, limit.rule, read) end
      end
    end
  end
end

if writes then writeChanged() end
return reply
